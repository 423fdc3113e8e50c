// The bundled drafters against numbers computed by the DFlash reference.

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "llm/drafter.hpp"
#include "llm/safetensors.hpp"
#include "llm/thread_pool.hpp"
#include "model_support.hpp"

namespace {

constexpr double logit_limit = 2e-4;
constexpr std::size_t width = 576, drafted = 7, vocab = 1056;

void expect_golden(std::string const& folder, std::string const& name) {
  auto const& model = llm_test::tiny_target();
  auto const drafter = llm::drafter::load(llm_test::tiny_models() / folder, model);
  EXPECT_TRUE(drafter.unused_tensors().empty());
  llm::thread_pool pool;
  auto const cases = llm_test::read_json(llm_test::golden() / "drafter.json").at("cases");
  auto file = llm::checkpoint::open(llm_test::golden() / "drafter.safetensors");
  ASSERT_EQ(cases.size(), 16U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto const& known = cases.at(i);
    auto const ids = known.at("tokens").get<llm_test::tokens>();
    auto const start = known.at("start").get<std::size_t>(),
               cut = known.at("cut").get<std::size_t>();
    auto const features =
        llm::to_f32(file.get("features." + std::to_string(known.at("prompt").get<int>())));
    auto const given = std::span(features).first(start * width);
    llm_test::floats logits(drafted * vocab);

    auto cache = drafter.make_cache(static_cast<std::int64_t>(start));
    drafter.draft(model, given, ids[start], cache, logits, pool);
    auto const key = name + "." + std::to_string(i);
    EXPECT_LT(llm_test::largest_difference(logits, llm::to_f32(file.get("logits." + key))),
              logit_limit);

    cache.crop(0);
    drafter.draft(model, given.first(cut * width), ids[cut], cache, logits, pool);
    EXPECT_EQ(cache.length(), static_cast<std::int64_t>(cut));
    drafter.draft(model, given.subspan(cut * width), ids[start], cache, logits, pool);
    EXPECT_LT(
        llm_test::largest_difference(logits, llm::to_f32(file.get("logits_incremental." + key))),
        logit_limit);
    EXPECT_EQ(cache.length(), static_cast<std::int64_t>(start));
  }
}

TEST(DrafterGolden, BaseLogitsAgreeInOneAndTwoIncrements) { expect_golden("tiny-dflash", "base"); }

TEST(DrafterGolden, ExitLogitsAgreeInOneAndTwoIncrements) {
  expect_golden("tiny-dflash-exit", "exit");
}

}  // namespace
