// Splitting by a tokenizer's pattern: pieces cover the text, white space is Unicode's.
#include "llm/text_splitter.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "random_text.hpp"
#include "scratch_folder.hpp"

namespace {

using pieces = std::vector<std::string_view>;

constexpr std::string_view qwen3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

TEST(TextSplitter, CutsAsThePatternSays) {
  llm::text_splitter const splitter(qwen3_pattern, "x");
  EXPECT_EQ(splitter.split("It's 42  ok!\n"),
            (pieces{"It", "'s", " ", "4", "2", " ", " ok", "!\n"}));
  EXPECT_EQ(splitter.split(""), pieces{});
}

TEST(TextSplitter, KeepsWhatLiesBetweenMatches) {
  llm::text_splitter const splitter("b+", "x");
  EXPECT_EQ(splitter.split("aabbcb"), (pieces{"aa", "bb", "c", "b"}));
  EXPECT_EQ(splitter.split("ac"), pieces{"ac"});
}

TEST(TextSplitter, TakesNoEmptyMatch) {
  llm::text_splitter const splitter("x*", "x");
  EXPECT_EQ(splitter.split("axxb"), (pieces{"a", "xx", "b"}));
}

TEST(TextSplitter, TakesUnicodesWhiteSpace) {
  llm::text_splitter const space(R"(\s)", "x");
  llm::text_splitter const in_class(R"([\sx])", "x");
  llm::text_splitter const other(R"(\S)", "x");
  for (std::uint32_t point = 1; point < 0x10000; ++point) {
    if (point >= 0xd800 && point < 0xe000) continue;
    bool const expected = (point >= 9 && point <= 13) || point == 0x20 || point == 0x85 ||
                          point == 0xa0 || point == 0x1680 ||
                          (point >= 0x2000 && point <= 0x200a) || point == 0x2028 ||
                          point == 0x2029 || point == 0x202f || point == 0x205f || point == 0x3000;
    if (!expected && point > 0x300 && point % 64 != 14) continue;
    std::string const text = "a" + llm_test::utf8_of(point) + "a";
    ASSERT_EQ(space.split(text).size() == 3, expected) << point;
    ASSERT_EQ(in_class.split(text).size() == 3, expected || point == 'x') << point;
    ASSERT_EQ(other.split(text).size() == 3, true) << point;
  }
}

TEST(TextSplitter, RefusesAPatternItCannotRun) {
  llm_test::expect_error([] { llm::text_splitter("(a", "t.json: field pattern"); },
                         {"t.json: field pattern", "\"(a\"", "regular expression"});
  llm_test::expect_error([] { llm::text_splitter(R"([\S])", "t.json: field pattern"); },
                         {"t.json: field pattern", "\\S"});
  llm_test::expect_error([] { llm::text_splitter(R"(a\C)", "t.json: field pattern"); },
                         {"t.json: field pattern"});
}

TEST(TextSplitter, GivesUpOnEndlessBacktracking) {
  llm::text_splitter const splitter("(a+)+$|b", "x");
  llm_test::expect_error([&] { (void)splitter.split(std::string(64, 'a') + "c"); },
                         {"text", "byte 0", "gave up"});
}

TEST(TextSplitter, TakesLongRunsOfEveryKind) {
  llm::text_splitter const splitter(qwen3_pattern, "x");
  std::size_t const length = 1'000'000;
  EXPECT_EQ(splitter.split(std::string(length, 'a')).size(), 1U);
  EXPECT_EQ(splitter.split(std::string(length, '1')).size(), length);
  EXPECT_EQ(splitter.split(std::string(length, '!')).size(), 1U);
  EXPECT_EQ(splitter.split(std::string(length, '\n')).size(), 1U);
  EXPECT_EQ(splitter.split(std::string(length, ' ') + "x").size(), 2U);
}

RC_GTEST_PROP(TextSplitter, CoversTheTextWithPiecesThatAreNotEmpty, ()) {
  static llm::text_splitter const splitter(qwen3_pattern, "x");
  auto const text = *llm_test::any_text();
  std::string joined;
  for (std::string_view const piece : splitter.split(text)) {
    RC_ASSERT(!piece.empty());
    joined += piece;
  }
  RC_ASSERT(joined == text);
}

}  // namespace
