// Every character of a token can be seen, and what is written is XML.
#include "cli/visible_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <utf8proc.h>

#include <string>

#include "llm/utf8.hpp"
#include "xml_elements.hpp"

namespace {

std::string visible(std::string_view text, std::size_t most = 40) {
  return cli::make_visible(text, most).text;
}

TEST(VisibleText, ShowsSpacesLineFeedsAndTabs) { EXPECT_EQ(visible(" the\n\tx"), "␣the↵⇥x"); }

TEST(VisibleText, ShowsControlsAsTheirPictures) {
  EXPECT_EQ(visible(std::string_view("\0\r\x1b\x7f", 4)), "␀␍␛␡");
}

TEST(VisibleText, SpellsOutWhatHasNoLook) {
  EXPECT_EQ(visible("\u202eabc"), "\\u{202e}abc");
  EXPECT_EQ(visible("a\u00a0b\u200b"), "a\\u{a0}b\\u{200b}");
  EXPECT_EQ(visible("\uffff\ue000"), "\\u{ffff}\\u{e000}");
  EXPECT_EQ(visible("\u0085"), "\\u{85}");
}

TEST(VisibleText, ReplacesIllFormedBytes) { EXPECT_EQ(visible("a\xff\xe4\xbd"), "a��"); }

TEST(VisibleText, GivesALoneMarkABaseAndBoundsTheirNumber) {
  EXPECT_EQ(visible("\u0301"), "\u25cc\u0301");
  EXPECT_EQ(visible("\n\u0301"), "↵\u25cc\u0301");
  EXPECT_EQ(visible("e\u0301\u0302\u0303\u0304\u0305f"), "e\u0301\u0302\u0303f");
}

TEST(VisibleText, CountsWideCharactersTwiceAndMarksNotAtAll) {
  EXPECT_EQ(cli::make_visible("a你e\u0301😀", 40).cells, 6u);
}

TEST(VisibleText, EndsInAnEllipsisWhenTooWide) {
  EXPECT_EQ(visible("abcdefghijkl", 12), "abcdefghijkl");
  EXPECT_EQ(visible("abcdefghijklm", 12), "abcdefghijk…");
  EXPECT_EQ(visible("你好世界", 6), "你好…");
  EXPECT_EQ(visible("abe\u0301def", 4), "abe\u0301…");
  EXPECT_EQ(visible("a\u202exyz", 4), "a…");
}

RC_GTEST_PROP(VisibleText, IsWellFormedAndNoWiderThanAsked, (std::string const& bytes)) {
  auto const most = *rc::gen::inRange<std::size_t>(2, 30);
  auto const shown = cli::make_visible(bytes, most);
  RC_ASSERT(shown.cells <= most);
  RC_ASSERT(!llm::first_ill_formed(shown.text));
  RC_ASSERT(shown.text.empty() == bytes.empty());
  for (char const c : shown.text) RC_ASSERT(static_cast<unsigned char>(c) > 0x20 && c != 0x7f);
}

TEST(XmlEscaped, SpellsMarkupAsEntities) {
  EXPECT_EQ(cli::xml_escaped("<a b=\"c\">&amp;]]>"), "&lt;a b=&quot;c&quot;&gt;&amp;amp;]]&gt;");
}

TEST(XmlEscaped, ReplacesWhatXmlForbids) {
  EXPECT_EQ(cli::xml_escaped("\x01\uffff\xff\n"), "���\n");
}

RC_GTEST_PROP(XmlEscaped, IsTextAndAttributeOfAWellFormedDocument, (std::string const& bytes)) {
  std::string const text = cli::xml_escaped(bytes);
  auto const elements = cli_test::elements_of("<a b=\"" + text + "\">" + text + "</a>");
  RC_ASSERT(elements.size() == 1u);
  RC_ASSERT(elements[0].text == elements[0].attribute("b"));
}

}  // namespace
