// The published Qwen3 tokenizer: known texts, and the chat prompt of a whole conversation.
//
// The tokenizer is not part of this repository. The tests look for the folder in the environment
// variable TEV_QWEN3_TOKENIZER, then beside the repository, and are skipped without it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "llm/chat.hpp"
#include "llm/tokenizer.hpp"
#include "llm/utf8.hpp"

namespace {

using ids = std::vector<tev::token_id>;

std::filesystem::path tokenizer_folder() {
  if (char const* const named = std::getenv("TEV_QWEN3_TOKENIZER")) return named;
  return std::filesystem::path(TEV_SOURCE_DIR) / "../shared/data/qwen3-tokenizer";
}

class Qwen3Tokenizer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (std::filesystem::exists(tokenizer_folder() / "tokenizer.json")) {
      tokenizer = llm::tokenizer::open(tokenizer_folder());
    }
  }
  static void TearDownTestSuite() { tokenizer.reset(); }

  void SetUp() override {
    if (!tokenizer) {
      GTEST_SKIP() << "no Qwen3 tokenizer.json; set TEV_QWEN3_TOKENIZER to the folder it is in";
    }
  }

  static inline std::optional<llm::tokenizer> tokenizer;
};

struct known_text {
  std::string text;
  ids tokens;
};

TEST_F(Qwen3Tokenizer, GivesTheKnownIds) {
  std::vector<known_text> const known{
      {"Hello world", {9707, 1879}},
      {"Hello, world! It's 2024.", {9707, 11, 1879, 0, 1084, 594, 220, 17, 15, 17, 19, 13}},
      {"  two spaces\n\nnew  line \n", {220, 1378, 12621, 271, 931, 220, 1555, 715}},
      {"naïve café", {3376, 37572, 586, 51950}},
      {"cafe\u0301", {924, 58858}},
      {"你好，世界", {108386, 3837, 99489}},
      {"😀👍🏽", {141334, 144349, 145375}},
      {"don't DON'T we'Ll", {15007, 944, 44273, 17323, 582, 91426, 75}},
      {"\t\tif (x) {\r\n\t}\r\n", {197, 743, 320, 87, 8, 972, 197, 1771}},
      {"x\u00a0y\u3000z", {87, 4102, 88, 22441, 89}},
      {"١٢٣ ½ Ⅷ", {149, 94, 149, 95, 149, 96, 220, 26062, 220, 70467, 100}},
      {"a\u200db", {64, 378, 235, 65}},
      {"   ", {262}},
      {"def f(n):\n    return n*(n+1)//2\n",
       {750, 282, 1445, 982, 262, 470, 308, 6599, 77, 10, 16, 27151, 17, 198}},
      {"क्षत्रिय", {64704, 30484, 115, 79238, 85033, 42311, 107}},
      {"e\u0301\u0327", {148544, 53839}},
      {"<think>", {151667}},
      {"</think>x", {151668, 87}},
      {"<|endoftext|>", {151643}},
  };
  for (auto const& [text, tokens] : known) {
    EXPECT_EQ(tokenizer->encode(text), tokens) << text;
    EXPECT_EQ(tokenizer->decode(tokens), llm::to_nfc(text));
  }
}

TEST_F(Qwen3Tokenizer, HasThePublishedTokens) {
  EXPECT_EQ(tokenizer->size(), 151669);
  EXPECT_EQ(tokenizer->id_end(), 151669);
  EXPECT_EQ(tokenizer->added_id("<|im_end|>"), 151645);
  EXPECT_TRUE(tokenizer->is_special(151645));
  EXPECT_FALSE(tokenizer->is_special(151667));
}

TEST_F(Qwen3Tokenizer, EncodesAChatPromptWithThinkingOff) {
  std::vector<llm::message> const messages{{"user", "What is 2+2?"}};
  ids const expected{151644, 872, 198,    3838,  374, 220,    17,  10,     17, 30,
                     151645, 198, 151644, 77091, 198, 151667, 271, 151668, 271};
  EXPECT_EQ(tokenizer->encode(llm::render_chat(messages, true)), expected);
}

TEST_F(Qwen3Tokenizer, StreamsWhatItDecodes) {
  ids const tokens = tokenizer->encode("a😀b क्षत्रिय\u3000<think>é");
  llm::stream_decoder decoder(*tokenizer);
  std::string joined;
  for (auto const id : tokens) joined += decoder.push(id);
  EXPECT_EQ(joined + decoder.finish(), tokenizer->decode(tokens));
}

}  // namespace
