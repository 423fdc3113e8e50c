// Equal bits of the drafter however its context arrives, what it depends on, and what it refuses.

#include "llm/drafter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "llm/thread_pool.hpp"
#include "model_support.hpp"

namespace {

using llm_test::expect_error;
using llm_test::floats;
using llm_test::tokens;

constexpr std::size_t width = 576, vocab = 1056, drafted = 7;

llm::drafter const& tiny_drafter() {
  static llm::drafter const model =
      llm::drafter::load(llm_test::tiny_models() / "tiny-dflash", llm_test::tiny_target());
  return model;
}

/// Features of `count` random tokens under the bundled target.
floats some_features(std::uint32_t seed, std::size_t count) {
  std::mt19937 source(seed);
  llm::thread_pool pool;
  return llm_test::run(llm_test::tiny_target(), llm_test::random_tokens(source, count), pool)
      .features;
}

/// Drafts `rows` rows behind `cache`.
floats draft(std::span<float const> features, llm::token_id anchor, llm::kv_cache& cache,
             llm::thread_pool& pool, std::size_t rows = drafted) {
  floats logits(rows * vocab);
  tiny_drafter().draft(llm_test::tiny_target(), features, anchor, cache, logits, pool);
  return logits;
}

floats draft(std::span<float const> features, llm::token_id anchor, std::size_t rows = drafted) {
  llm::thread_pool pool;
  auto cache = tiny_drafter().make_cache(100);
  return draft(features, anchor, cache, pool, rows);
}

TEST(Drafter, GivesTheSameBitsHoweverTheContextIsSplit) {
  llm::thread_pool pool;
  std::mt19937 source(1);
  floats const features = some_features(1, 47);
  floats const whole = draft(features, 618);
  for (int trial = 0; trial < 12; ++trial) {
    auto cache = tiny_drafter().make_cache(47);
    for (std::size_t done = 0; done < 47;) {
      std::size_t const step = trial == 0 ? 1 : std::min<std::size_t>(1 + source() % 17, 47 - done);
      auto const part = std::span(features).subspan(done * width, step * width);
      done += step;
      bool const last = done == 47;
      auto const anchor = last ? 618 : static_cast<llm::token_id>(source() % 1000);
      floats const logits = draft(part, anchor, cache, pool, last ? drafted : source() % 8);
      ASSERT_EQ(cache.length(), static_cast<std::int64_t>(done));
      ASSERT_TRUE(!last || llm_test::same_bits(logits, whole));
    }
    ASSERT_TRUE(llm_test::same_bits(draft({}, 618, cache, pool), whole));
  }
}

TEST(Drafter, GivesTheSameBitsOnAnyNumberOfThreads) {
  floats const features = some_features(2, 80);
  floats const one = draft(features, 3);
  for (int threads : {2, 3}) {
    llm::thread_pool pool(threads);
    auto cache = tiny_drafter().make_cache(80);
    EXPECT_TRUE(llm_test::same_bits(draft(features, 3, cache, pool), one));
  }
}

TEST(Drafter, GivesFewerRowsTheBitsOfAll) {
  floats const features = some_features(3, 10);
  floats const all = draft(features, 99);
  for (std::size_t rows = 0; rows < drafted; ++rows) {
    EXPECT_TRUE(llm_test::same_bits(draft(features, 99, rows), std::span(all).first(rows * vocab)));
  }
}

TEST(Drafter, DraftsWithoutAnyContext) {
  floats const logits = draft({}, 1020);
  EXPECT_TRUE(std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); }));
}

TEST(Drafter, ReadsTheAnchorAndEveryFeature) {
  floats const features = some_features(4, 20);
  floats const plain = draft(features, 5);
  EXPECT_GT(llm_test::largest_difference(plain, draft(features, 6)), 1e-3);
  for (std::size_t position : {0, 10, 19}) {
    for (std::size_t tap : {0, 1, 2}) {
      floats changed = features;
      changed[position * width + tap * 192 + 7] += 5;
      EXPECT_FALSE(llm_test::same_bits(plain, draft(changed, 5))) << position << " " << tap;
    }
  }
  auto const shorter = std::span(features).subspan(width);
  EXPECT_GT(llm_test::largest_difference(plain, draft(shorter, 5)), 1e-3);
}

TEST(Drafter, RefusesWhatDoesNotFitAndLeavesTheCacheAlone) {
  llm::thread_pool pool;
  auto cache = tiny_drafter().make_cache(3);
  floats const features(3 * width + 1);
  auto const given = std::span(features);
  expect_error([&] { draft(given, 5, cache, pool); }, {"features", "1729", "576"});
  expect_error([&] { draft(given.first(width), -1, cache, pool); }, {"anchor -1"});
  expect_error([&] { draft(given.first(width), 1056, cache, pool); }, {"anchor 1056"});
  expect_error([&] { draft(given.first(width), 5, cache, pool, 8); }, {"8", "7"});
  expect_error(
      [&] {
        floats logits(vocab + 1);
        tiny_drafter().draft(llm_test::tiny_target(), {}, 5, cache, logits, pool);
      },
      {"logits", "1057"});
  floats const four(4 * width);
  expect_error([&] { draft(four, 5, cache, pool); }, {"capacity", "3"});
  auto foreign = llm_test::tiny_target().make_cache(20);
  expect_error([&] { draft({}, 5, foreign, pool); }, {"cache", "another model"});
  EXPECT_EQ(cache.length(), 0);
  EXPECT_EQ(foreign.length(), 0);
  EXPECT_EQ(draft(given.first(3 * width), 5, cache, pool).size(), drafted * vocab);
}

/// The bundled drafter with an alteration.
struct altered {
  llm_test::scratch_folder folder;
  llm_test::stored_checkpoint tensors =
      llm_test::read_checkpoint(llm_test::tiny_models() / "tiny-dflash");
  nlohmann::json config = llm_test::read_json(llm_test::tiny_models() / "tiny-dflash/config.json");

  [[nodiscard]] llm::drafter load() const {
    llm_test::write_model(folder, tensors, config);
    return llm::drafter::load(folder.path(), llm_test::tiny_target());
  }
};

TEST(DrafterLoad, NamesATensorThatIsMissingOrHasAnotherShape) {
  altered files;
  auto const tensors = files.tensors;
  for (auto const& [name, tensor] : tensors) {
    files.tensors = tensors;
    files.tensors.erase(name);
    expect_error([&] { static_cast<void>(files.load()); }, {name});
  }
  files.tensors = tensors;
  files.tensors["fc.weight"].shape = {576, 192};
  expect_error([&] { static_cast<void>(files.load()); }, {"fc.weight", "576"});
}

TEST(DrafterLoad, ListsTensorsItHasNoUseFor) {
  altered files;
  files.tensors["d2t"] = {"I64", {1}, std::string(8, '\0')};
  EXPECT_EQ(files.load().unused_tensors(), std::vector<std::string>{"d2t"});
}

TEST(DrafterLoad, RefusesADrafterThatDoesNotFitTheTarget) {
  altered files;
  files.config["dflash_config"]["target_layer_ids"] = {0, 1, 3};
  EXPECT_THROW(static_cast<void>(files.load()), llm::error);
  files.config["dflash_config"]["target_layer_ids"] = {0, 1, 2};
  files.config["hidden_size"] = 96;
  EXPECT_THROW(static_cast<void>(files.load()), llm::error);
  files.config["hidden_size"] = 192;
  files.config["dflash_config"]["mask_token_id"] = 1056;
  EXPECT_THROW(static_cast<void>(files.load()), llm::error);
  files.config["dflash_config"]["mask_token_id"] = 1024;
  EXPECT_EQ(files.load().config().mask_token_id, 1024);
}

TEST(DrafterLoad, ReadsTheFeaturesInTheOrderOfItsLayerIds) {
  altered files;
  files.config["dflash_config"]["target_layer_ids"] = {2, 1, 0};
  EXPECT_EQ(files.load().config().target_layer_ids, (std::vector<std::int64_t>{2, 1, 0}));
}

}  // namespace
