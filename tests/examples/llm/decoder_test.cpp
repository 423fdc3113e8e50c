// The decoder against decodings of other people's implementations, and its own promises.
#include "llm/decoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "llm/error.hpp"
#include "support/bundled.hpp"

namespace {

using nlohmann::json;
using tev::token_id;

json read_golden(char const* name) {
  auto const folder = std::filesystem::path(TEV_SOURCE_DIR) / "tests" / "data" / "tiny" / "golden";
  return json::parse(std::ifstream(folder / name));
}

class Decoder : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { models_ = new tev::test::bundled_models; }
  static void TearDownTestSuite() { delete models_; }

  llm::decoded decode(std::vector<token_id> const& prompt, llm::decode_options const& options,
                      llm::drafter const* draft = nullptr,
                      std::function<void(llm::cycle const&)> const& observe = {}) {
    return llm::decode(models().target, draft != nullptr ? draft : &models().base, prompt, options,
                       pool_, observe);
  }
  static tev::test::bundled_models const& models() { return *models_; }
  static std::vector<token_id> a_prompt() { return models().prompts().front(); }

  llm::thread_pool pool_{1};

 private:
  static tev::test::bundled_models* models_;
};

tev::test::bundled_models* Decoder::models_ = nullptr;

// The reference caps the text after the loop and counts the last cycle whole, as we do.
TEST_F(Decoder, DecodesWhatTheReferenceDecodesCycleForCycle) {
  auto const golden = read_golden("decode.json");
  auto const prompts = read_golden("target.json").at("prompts");
  auto options = models().options();
  options.max_tokens = golden.at("max_new_tokens");
  int compared = 0;
  for (auto const& expected : golden.at("prompts")) {
    auto const prompt =
        prompts.at(expected.at("prompt").get<std::size_t>()).at("ids").get<std::vector<token_id>>();
    // Margins of the greedy choice are recorded: all exceed what fp32 arithmetic may move.
    ASSERT_GT(
        prompts.at(expected.at("prompt").get<std::size_t>()).at("min_margin_to_eos").get<double>(),
        4e-4);
    options.how = llm::method::autoregressive;
    EXPECT_EQ(decode(prompt, options).ids, expected.at("plain").get<std::vector<token_id>>());
    for (char const* const which : {"base", "exit"}) {
      auto const* const draft = std::string(which) == "base" ? &models().base : &models().exit;
      for (auto const& [name, how, budget] :
           {std::tuple{"chain", llm::method::chain, llm::budget_limit},
            std::tuple{"tree8", llm::method::tree, 8},
            std::tuple{"tree32", llm::method::tree, 32}}) {
        options.how = how;
        options.budget = budget;
        auto const text = decode(prompt, options, draft);
        auto const& reference = expected.at(which).at(name);
        EXPECT_EQ(text.ids, reference.at("ids").get<std::vector<token_id>>()) << which << name;
        EXPECT_EQ(text.acceptance, reference.at("acceptance").get<std::vector<std::int64_t>>())
            << which << " " << name << " prompt " << expected.at("prompt");
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 48);
}

TEST_F(Decoder, GivesTheSameTextForAnyNumberOfThreads) {
  auto options = models().options();
  options.sampling.temperature = 1.0f;
  options.seed = 7;
  for (auto const verify : llm::all_verifiers) {
    options.verify = verify;
    llm::thread_pool three(3);
    auto const one = decode(a_prompt(), options);
    auto const many = llm::decode(models().target, &models().base, a_prompt(), options, three);
    EXPECT_EQ(one.ids, many.ids);
    EXPECT_EQ(one.acceptance, many.acceptance);
  }
}

TEST_F(Decoder, GivesAPrefixOfTheLongerTextWhenTheLimitIsSmaller) {
  auto options = models().options();
  options.sampling.temperature = 1.0f;
  options.stop_ids.clear();
  for (auto const verify : llm::all_verifiers) {
    options.verify = verify;
    options.max_tokens = 60;
    auto const longer = decode(a_prompt(), options);
    ASSERT_EQ(longer.ids.size(), 60u);
    for (std::int64_t const limit : {1, 2, 9, 31}) {
      options.max_tokens = limit;
      auto const text = decode(a_prompt(), options);
      EXPECT_EQ(text.reason, llm::finish::length);
      EXPECT_EQ(text.ids, std::vector<token_id>(longer.ids.begin(), longer.ids.begin() + limit));
    }
  }
}

TEST_F(Decoder, UsesTheWholeContextAndNotAPositionMore) {
  auto const size = models().target.config().max_position;
  auto options = models().options();
  options.stop_ids.clear();
  options.max_tokens = 1 << 20;
  auto prompt = a_prompt();
  while (std::cmp_less(prompt.size(), size - 20)) prompt.push_back(prompt[prompt.size() % 50]);
  options.how = llm::method::autoregressive;
  auto const plain = decode(prompt, options);
  EXPECT_EQ(plain.reason, llm::finish::context);
  EXPECT_EQ(plain.ids.size(), static_cast<std::size_t>(size) - prompt.size());
  for (auto const how : {llm::method::chain, llm::method::tree}) {
    options.how = how;
    auto const text = decode(prompt, options);
    EXPECT_EQ(text.reason, llm::finish::context);
    EXPECT_EQ(text.ids, plain.ids);
  }
}

TEST_F(Decoder, EndsAtAStopIdAlsoExactlyAtTheLimit) {
  auto options = models().options();
  auto const whole = decode(a_prompt(), options);
  ASSERT_EQ(whole.reason, llm::finish::stop);
  EXPECT_THAT(options.stop_ids, ::testing::Contains(whole.ids.back()));
  options.max_tokens = static_cast<std::int64_t>(whole.ids.size());
  EXPECT_EQ(decode(a_prompt(), options).reason, llm::finish::stop);
  --options.max_tokens;
  EXPECT_EQ(decode(a_prompt(), options).reason, llm::finish::length);
}

TEST_F(Decoder, TellsTheObserverEveryTokenOfTheText) {
  auto options = models().options();
  options.sampling.temperature = 0.6f;
  std::vector<token_id> seen;
  std::vector<std::int64_t> acceptance;
  auto const text = decode(a_prompt(), options, nullptr, [&](llm::cycle const& c) {
    EXPECT_EQ(static_cast<std::size_t>(c.root_position), a_prompt().size() + seen.size() - 1);
    seen.insert(seen.end(), c.emitted.begin(), c.emitted.end());
    if (c.index > 0) acceptance.push_back(c.outcome.accepted_length + 1);
  });
  EXPECT_EQ(seen, text.ids);
  EXPECT_EQ(acceptance, text.acceptance);
}

TEST_F(Decoder, StopsAfterTheCycleThatSeesAnInterrupt) {
  auto options = models().options();
  std::atomic<bool> interrupt = false;
  options.interrupt = &interrupt;
  auto const text = decode(a_prompt(), options, nullptr, [&](llm::cycle const& c) {
    if (c.index == 1) interrupt = true;
  });
  EXPECT_EQ(text.reason, llm::finish::interrupted);
  EXPECT_EQ(text.cycles(), 2);
}

TEST_F(Decoder, NamesTheArgumentThatCannotBeMeant) {
  auto const expect_error = [&](llm::decode_options const& options, std::vector<token_id> prompt,
                                std::string const& says) {
    try {
      (void)llm::decode(models().target, &models().base, prompt, options, pool_);
      ADD_FAILURE() << "no error: " << says;
    } catch (llm::error const& failure) {
      EXPECT_THAT(failure.what(), ::testing::HasSubstr(says));
    }
  };
  auto const good = models().options();
  auto bad = good;
  for (int const budget : {0, -1, llm::budget_limit + 1}) {
    bad.budget = budget;
    expect_error(bad, {1}, "budget is " + std::to_string(budget));
  }
  for (float const temperature :
       {-1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    bad = good;
    bad.sampling.temperature = temperature;
    expect_error(bad, {1}, "temperature is ");
  }
  bad = good;
  bad.max_tokens = 0;
  expect_error(bad, {1}, "max tokens is 0");
  expect_error(good, {}, "the prompt has no tokens");
  expect_error(good, {1, -1}, "prompt token 1 is -1");
  expect_error(good, {1056}, "prompt token 0 is 1056");
  expect_error(good, std::vector<token_id>(512, 1), "the prompt has 512 tokens");
  EXPECT_THROW((void)llm::decode(models().target, nullptr, std::vector<token_id>{1}, good, pool_),
               llm::error);
}

}  // namespace
