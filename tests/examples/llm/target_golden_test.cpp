// The bundled target against numbers computed by Hugging Face transformers and the DDTree
// reference.

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "llm/safetensors.hpp"
#include "llm/target.hpp"
#include "llm/thread_pool.hpp"
#include "model_support.hpp"

namespace {

using llm_test::floats;
using llm_test::indices;
using llm_test::tokens;

constexpr double logit_limit = 2e-4, feature_limit = 1e-3;
constexpr std::size_t hidden = 192, vocab = 1056;

TEST(TargetGolden, LogitsOfAllPromptsAgree) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  auto const prompts = llm_test::read_json(llm_test::golden() / "target.json").at("prompts");
  auto file = llm::checkpoint::open(llm_test::golden() / "target.safetensors");
  ASSERT_EQ(prompts.size(), 8U);
  double largest = 0;
  for (auto const& prompt : prompts) {
    auto const ids = prompt.at("ids").get<tokens>();
    auto const expected =
        llm::to_f32(file.get("logits." + std::to_string(prompt.at("index").get<int>())));
    double const difference =
        llm_test::largest_difference(llm_test::run(model, ids, pool).logits, expected);
    EXPECT_LT(difference, logit_limit);
    largest = std::max(largest, difference);
  }
  RecordProperty("largest_logit_difference", std::to_string(largest));
}

TEST(TargetGolden, HiddenStatesAgreeAfterEveryLayer) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  auto const prompt = llm_test::read_json(llm_test::golden() / "target.json").at("prompts").at(0);
  auto file = llm::checkpoint::open(llm_test::golden() / "target.safetensors");
  auto const ids = prompt.at("ids").get<tokens>();

  floats embedded(ids.size() * hidden);
  model.embed(ids, embedded);
  EXPECT_TRUE(llm_test::same_bits(embedded, llm::to_f32(file.get("hidden.0.0"))));

  auto const out = llm_test::run(model, ids, pool);
  for (std::size_t layer = 0; layer < 3; ++layer) {
    floats states;
    for (std::size_t row = 0; row < ids.size(); ++row) {
      auto const state = llm_test::row_of(out.features, row * 3 + layer, hidden);
      states.insert(states.end(), state.begin(), state.end());
    }
    auto const expected = llm::to_f32(file.get("hidden.0." + std::to_string(layer + 1)));
    EXPECT_LT(llm_test::largest_difference(states, expected), feature_limit) << layer;
  }
  EXPECT_LT(llm_test::largest_difference(out.hidden, llm::to_f32(file.get("hidden.0.4"))),
            feature_limit);
}

TEST(TargetGolden, FeaturesOfAllPromptsAgree) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  auto const cases = llm_test::read_json(llm_test::golden() / "drafter.json").at("cases");
  auto file = llm::checkpoint::open(llm_test::golden() / "drafter.safetensors");
  for (auto const& known : cases) {
    auto ids = known.at("tokens").get<tokens>();
    ids.pop_back();
    auto const all =
        llm::to_f32(file.get("features." + std::to_string(known.at("prompt").get<int>())));
    auto const expected = std::span(all).first(ids.size() * 3 * hidden);
    EXPECT_LT(llm_test::largest_difference(llm_test::run(model, ids, pool).features, expected),
              feature_limit);
  }
}

/// Greedy continuation must agree wherever the stored margin exceeds twice the largest error.
TEST(TargetGolden, GreedyTokensAgreeThroughTheCache) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  auto const golden = llm_test::read_json(llm_test::golden() / "target.json");
  for (auto const& prompt : golden.at("prompts")) {
    auto const ids = prompt.at("ids").get<tokens>();
    auto const greedy = prompt.at("greedy_ids").get<tokens>();
    auto const margins = prompt.at("greedy_margin").get<std::vector<double>>();
    auto cache = model.make_cache(static_cast<std::int64_t>(ids.size() + greedy.size()));
    auto const first = llm_test::run(model, ids, cache, pool);
    llm::token_id next = llm_test::argmax(llm_test::row_of(first.logits, ids.size() - 1, vocab));
    for (std::size_t i = 0; i < greedy.size(); ++i) {
      ASSERT_GT(margins[i], 2 * logit_limit);
      ASSERT_EQ(next, greedy[i]) << "step " << i;
      next = llm_test::argmax(llm_test::run(model, {&next, 1}, cache, pool).logits);
    }
  }
}

/// The mask [n, ceil(n / 32)] of a tree given by its parents.
std::vector<std::uint32_t> mask_of(indices const& parents) {
  std::size_t const words = (parents.size() + 31) / 32;
  std::vector<std::uint32_t> mask(parents.size() * words);
  for (std::size_t v = 0; v < parents.size(); ++v) {
    for (auto u = static_cast<std::int32_t>(v); u >= 0; u = parents[static_cast<std::size_t>(u)]) {
      mask[v * words + static_cast<std::size_t>(u) / 32] |= 1U << (u % 32);
    }
  }
  return mask;
}

TEST(TargetGolden, TreeForwardsAgreeThroughCacheAndMask) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  auto const trees = llm_test::read_json(llm_test::golden() / "tree_forward.json").at("cases");
  auto const cases = llm_test::read_json(llm_test::golden() / "drafter.json").at("cases");
  auto file = llm::checkpoint::open(llm_test::golden() / "tree_forward.safetensors");
  ASSERT_EQ(trees.size(), 16U);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    auto context = cases.at(i).at("tokens").get<tokens>();
    context.pop_back();
    auto const parents = trees.at(i).at("parents").get<indices>();
    auto cache = model.make_cache(static_cast<std::int64_t>(context.size() + parents.size()));
    llm_test::run(model, context, cache, pool);
    auto const out =
        llm_test::run(model, trees.at(i).at("ids").get<tokens>(),
                      trees.at(i).at("positions").get<indices>(), mask_of(parents), cache, pool);
    auto const expected = llm::to_f32(file.get("logits." + std::to_string(i)));
    EXPECT_LT(llm_test::largest_difference(out.logits, expected), logit_limit) << i;
  }
}

}  // namespace
