// Messages stay on one line whatever they quote.
#include "llm/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(OneLine, SpellsControlCharactersAsEscapes) {
  EXPECT_EQ(llm::one_line(std::string("a\nb\tc\0d\x7f", 8)), "a\\nb\\x09c\\x00d\\x7f");
}

TEST(OneLine, LeavesOtherBytesAlone) { EXPECT_EQ(llm::one_line("naïve \xff"), "naïve \xff"); }

TEST(InQuotes, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(llm::in_quotes("short", 5), "\"short\"");
  EXPECT_EQ(llm::in_quotes("longer", 5), "\"longe...\"");
  EXPECT_EQ(llm::in_quotes("ab\u00e9cd", 3), "\"ab...\"");
}

TEST(MakeError, JoinsFormatAndArgumentsOnOneLine) {
  EXPECT_STREQ(llm::make_error("{}: field {}", "a\nb", 3).what(), "a\\nb: field 3");
}

}  // namespace
