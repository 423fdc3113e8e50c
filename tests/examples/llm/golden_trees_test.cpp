// The trees of the DDTree reference from its own drafter logits, for every case and budget.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "llm/safetensors.hpp"
#include "tev/build/best_first.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/path.hpp"

namespace {

std::filesystem::path const golden =
    std::filesystem::path(TEV_SOURCE_DIR) / "tests/data/tiny/golden";

using path = std::vector<tev::token_id>;

// A tree as the reference lists it; node 0 is the root.
struct listed_tree {
  std::vector<tev::node_id> parents;
  std::vector<tev::token_id> tokens;
  std::vector<std::int32_t> depths;
  std::vector<double> path_logp;

  [[nodiscard]] path path_to(std::size_t v) const {
    path p;
    for (; v > 0; v = static_cast<std::size_t>(parents[v])) p.insert(p.begin(), tokens[v]);
    return p;
  }
};

listed_tree read_tree(nlohmann::json const& entry) {
  listed_tree t{entry.at("parents"), entry.at("tokens"), entry.at("depths"), entry.at("path_logp")};
  t.tokens.insert(t.tokens.begin(), tev::no_token);
  t.depths.insert(t.depths.begin(), 0);
  t.path_logp.insert(t.path_logp.begin(), 0.0);
  return t;
}

void expect_equal(tev::built_tree const& built, listed_tree const& expected, bool ordered) {
  ASSERT_EQ(built.tree.size(), static_cast<std::int32_t>(expected.parents.size()));
  auto const depth = tev::depths(built.tree);
  std::map<path, double> logp;
  for (std::size_t v = 0; v < expected.parents.size(); ++v)
    logp[expected.path_to(v)] = expected.path_logp[v];
  for (tev::node_id v = 0; v < built.tree.size(); ++v) {
    auto const found = logp.find(tev::tokens_to(built.tree, v));
    ASSERT_NE(found, logp.end()) << "node " << v;
    EXPECT_NEAR(std::log(built.score[v]), found->second, 1e-4) << "node " << v;
    if (!ordered) continue;
    EXPECT_EQ(built.tree.parent(v), expected.parents[v]);
    EXPECT_EQ(built.tree.token(v), expected.tokens[v]);
    EXPECT_EQ(depth[v], expected.depths[v]);
  }
}

TEST(GoldenTrees, AreBuiltFromTheReferencesLogitsForEveryBudget) {
  auto logits = llm::checkpoint::open(golden / "drafter.safetensors");
  auto const file = nlohmann::json::parse(std::ifstream(golden / "trees.json"));
  double largest_surrogate = 0.0;
  std::int32_t trees = 0;
  for (auto const& entry : file.at("trees")) {
    auto const name = "logits." + entry.at("drafter").get<std::string>() + "." +
                      std::to_string(entry.at("case").get<int>());
    auto const budget = entry.at("budget").get<std::int32_t>();
    SCOPED_TRACE(name + " budget " + std::to_string(budget));
    auto const tensor = logits.get(name, {7, 1056});
    tev::softmax_storage storage;
    auto const rows = storage.rows(llm::f32_values(tensor).data(), 7, 1056, 1056, 1.0f);
    auto const built = tev::best_first{}(rows, 7, budget);
    expect_equal(built, read_tree(entry), entry.at("min_gap").get<double>() >= 1e-5);
    double surrogate = 0.0;
    for (tev::node_id v = 1; v < built.tree.size(); ++v) surrogate += built.score[v];
    EXPECT_NEAR(surrogate, entry.at("surrogate").get<double>(), 1e-4);
    largest_surrogate =
        std::max(largest_surrogate, std::abs(surrogate - entry.at("surrogate").get<double>()));
    ++trees;
  }
  EXPECT_EQ(trees, 160);
  RecordProperty("largest_surrogate_difference", std::to_string(largest_surrogate * 1e9) + "e-9");
}

}  // namespace
