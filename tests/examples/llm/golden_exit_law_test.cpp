// Reach, local exit, exit law and coverage of the reference's trees from its target logits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "llm/safetensors.hpp"
#include "tev/core/status.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/path.hpp"
#include "tev/verify/greedy.hpp"

namespace {

std::filesystem::path const golden =
    std::filesystem::path(TEV_SOURCE_DIR) / "tests/data/tiny/golden";

// Calls check(case, tree, logits) for each case of the file.
template <class Check>
void for_each_case(Check const& check) {
  auto logits = llm::checkpoint::open(golden / "tree_forward.safetensors");
  auto const file = nlohmann::json::parse(std::ifstream(golden / "tree_forward.json"));
  std::int32_t cases = 0;
  for (auto const& entry : file.at("cases")) {
    auto const name = "logits." + std::to_string(entry.at("case").get<int>());
    SCOPED_TRACE(name);
    auto const tree = tev::draft_tree::from_parents(entry.at("parents"), entry.at("ids"));
    check(entry, tree, llm::f32_values(logits.get(name, {33, 1056})));
    ++cases;
  }
  EXPECT_EQ(cases, 16);
}

double largest_difference(std::vector<double> const& found, nlohmann::json const& expected) {
  double largest = found.size() == expected.size() ? 0.0 : 1e9;
  for (std::size_t v = 0; v < std::min(found.size(), expected.size()); ++v)
    largest = std::max(largest, std::abs(found[v] - expected[v].get<double>()));
  return largest;
}

void expect_law(nlohmann::json const& expected, tev::exit_law<double> const& law) {
  EXPECT_LE(largest_difference(law.reach, expected.at("reach")), 1e-5);
  EXPECT_LE(largest_difference(law.local_exit, expected.at("rho")), 1e-5);
  EXPECT_LE(largest_difference(law.exit, expected.at("w")), 1e-5);
  EXPECT_NEAR(law.coverage, expected.at("expected_accept").get<double>(), 1e-4);
  EXPECT_NEAR(std::accumulate(law.exit.begin(), law.exit.end(), 0.0), 1.0, 1e-12);
}

TEST(GoldenExitLaw, FollowsFromTheReferencesTargetLogits) {
  for_each_case([](auto const& entry, tev::draft_tree const& tree, auto const& logits) {
    for (auto const& [field, temperature] : {std::pair{"T1.0", 1.0f}, {"T0.6", 0.6f}}) {
      tev::softmax_storage storage;
      auto const rows = storage.rows(logits.data(), 33, 1056, 1056, temperature);
      for (tev::node_id v = 0; v < tree.size(); ++v) {
        rows.prepare(tev::serial_team{}, v);
        ASSERT_EQ(rows.row_status(v), tev::status::ok);
      }
      expect_law(entry.at(field), tev::exit_law_of(tree, rows));
    }
  });
}

TEST(GoldenExitLaw, AtTemperatureZeroIsTheGreedyPath) {
  for_each_case([](auto const& entry, tev::draft_tree const& tree, auto const& logits) {
    tev::softmax_storage storage;
    auto const rows = storage.rows(logits.data(), 33, 1056, 1056, 0.0f);
    tev::problem const problem{tree.view(), rows};
    auto const found = tev::greedy{}(tev::serial_team{}, problem, tev::philox{});
    EXPECT_EQ(tev::path_to(tree, found.exit_node),
              entry.at("greedy_path").template get<std::vector<tev::node_id>>());
    EXPECT_EQ(found.bonus_token, entry.at("greedy_next").template get<tev::token_id>());
  });
}

}  // namespace
