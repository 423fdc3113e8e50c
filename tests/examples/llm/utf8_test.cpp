// UTF-8: what is well-formed, what one U+FFFD replaces, and composition.
#include "llm/utf8.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <utf8proc.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "random_text.hpp"

namespace {

/// Whether utf8proc reads one character of exactly this length.
bool is_well_formed(std::string const& bytes) {
  utf8proc_int32_t point = 0;
  auto const read = utf8proc_iterate(reinterpret_cast<utf8proc_uint8_t const*>(bytes.data()),
                                     static_cast<utf8proc_ssize_t>(bytes.size()), &point);
  return read == static_cast<utf8proc_ssize_t>(bytes.size());
}

TEST(Utf8, AcceptsExactlyTheWellFormedSequences) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      std::string const two{static_cast<char>(a), static_cast<char>(b)};
      auto const step = llm::next_utf8(two);
      bool const whole = step.kind == llm::utf8_kind::complete && step.length == 2;
      ASSERT_EQ(whole, is_well_formed(two)) << a << " " << b;
      std::string const four = two + "\x80\x80";
      auto const longer = llm::next_utf8(four);
      bool const four_whole = longer.kind == llm::utf8_kind::complete && longer.length == 4;
      ASSERT_EQ(four_whole, is_well_formed(four)) << a << " " << b;
      std::string const three = two + "\x80";
      auto const middle = llm::next_utf8(three);
      bool const three_whole = middle.kind == llm::utf8_kind::complete && middle.length == 3;
      ASSERT_EQ(three_whole, is_well_formed(three)) << a << " " << b;
    }
  }
}

TEST(Utf8, NamesTheFirstIllFormedByte) {
  EXPECT_FALSE(llm::first_ill_formed("naïve 😀"));
  EXPECT_EQ(llm::first_ill_formed("ab\xff"), 2U);
  EXPECT_EQ(llm::first_ill_formed("é\xe2\x82"), 2U);
  EXPECT_EQ(llm::first_ill_formed("a\xed\xa0\x80"), 1U);
}

TEST(Utf8, ReplacesMaximalSubparts) {
  // The example of table 3-8 of the Unicode Standard, and truncations.
  EXPECT_EQ(llm::replace_ill_formed("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64"),
            "a\ufffd\ufffd\ufffdb\ufffdc\ufffd\ufffdd");
  EXPECT_EQ(llm::replace_ill_formed("\xc0\xaf\xe0\x80\xbf"), "\ufffd\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(llm::replace_ill_formed("x\xf0\x9f\x98"), "x\ufffd");
  EXPECT_EQ(llm::replace_ill_formed(""), "");
}

RC_GTEST_PROP(Utf8, DecidesTheSameTextHoweverTheBytesArrive, ()) {
  auto const bytes = *llm_test::any_bytes();
  std::string text;
  std::string pending;
  for (char const c : bytes) {
    pending += c;
    pending = std::string(llm::append_decided(pending, text));
    RC_ASSERT(pending.size() <= 3U);
    RC_ASSERT(!llm::first_ill_formed(text));
  }
  RC_ASSERT(text + llm::replace_ill_formed(pending) == llm::replace_ill_formed(bytes));
}

RC_GTEST_PROP(Nfc, AgreesWithUtf8proc, ()) {
  auto const text = *llm_test::any_text();
  utf8proc_uint8_t* composed = nullptr;
  auto const length =
      utf8proc_map(reinterpret_cast<utf8proc_uint8_t const*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &composed,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  RC_ASSERT(length >= 0);
  std::string const expected(reinterpret_cast<char*>(composed), static_cast<std::size_t>(length));
  std::free(composed);
  RC_ASSERT(llm::to_nfc(text) == expected);
}

TEST(Nfc, ComposesAndOrdersMarks) {
  EXPECT_EQ(llm::to_nfc("cafe\u0301"), "caf\u00e9");
  EXPECT_EQ(llm::to_nfc("e\u0301\u0327"), "\u0229\u0301");
  EXPECT_EQ(llm::to_nfc("\u1100\u1161\u11a8"), "\uac01");
  EXPECT_EQ(llm::to_nfc("\ufb01"), "\ufb01");
  EXPECT_EQ(llm::to_nfc(std::string("\0e\u0301", 4)), std::string("\0\u00e9", 3));
}

TEST(Nfc, SortsALongRunOfMarks) {
  std::string text = "a";
  std::string expected = "a";
  for (int i = 0; i < 100'000; ++i) text += i % 2 == 0 ? "\u0315" : "\u0316";
  for (int i = 0; i < 50'000; ++i) expected += "\u0316";
  for (int i = 0; i < 50'000; ++i) expected += "\u0315";
  EXPECT_EQ(llm::to_nfc(text), expected);
}

}  // namespace
