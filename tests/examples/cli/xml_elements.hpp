// A small XML reader for tests: throws unless a document is well-formed, and lists its elements.
#pragma once

#include <cctype>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "llm/utf8.hpp"

namespace cli_test {

/// An element with its attributes and the text directly inside it, entities resolved.
struct xml_element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
  std::optional<std::size_t> parent;

  [[nodiscard]] std::string attribute(std::string const& key) const {
    auto const found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
  [[nodiscard]] double number(std::string const& key) const {
    return std::stod(attributes.at(key));
  }
  [[nodiscard]] bool has_class(std::string_view one) const {
    return (" " + attribute("class") + " ").find(" " + std::string(one) + " ") != std::string::npos;
  }
};

/// Reads elements, attributes and the five named entities; no declarations, comments or CDATA.
class xml_reader {
 public:
  explicit xml_reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] std::vector<xml_element> read() {
    if (llm::first_ill_formed(rest_)) fail("ill-formed UTF-8");
    do step();
    while (!open_.empty());
    skip_space();
    if (!rest_.empty()) fail("something after the root element");
    return std::move(elements_);
  }

 private:
  [[noreturn]] void fail(std::string const& what) const {
    throw std::runtime_error(what + " before: " + std::string(rest_.substr(0, 60)));
  }
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("no " + std::string(token));
  }
  void skip_space() {
    while (!rest_.empty() && std::string_view(" \n\t\r").find(rest_[0]) != std::string_view::npos)
      rest_.remove_prefix(1);
  }
  std::string name() {
    std::size_t end = 0;
    while (end < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[end])) != 0 ||
            std::string_view("-:_").find(rest_[end]) != std::string_view::npos))
      ++end;
    if (end == 0) fail("no name");
    std::string const found(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return found;
  }
  std::string characters(std::string_view ends) {
    std::string text;
    while (!rest_.empty() && ends.find(rest_[0]) == std::string_view::npos) {
      if (take("&amp;"))
        text += '&';
      else if (take("&lt;"))
        text += '<';
      else if (take("&gt;"))
        text += '>';
      else if (take("&quot;"))
        text += '"';
      else if (rest_[0] == '&' || rest_[0] == '<' || rest_.starts_with("]]>"))
        fail("bare markup");
      else if (static_cast<unsigned char>(rest_[0]) < 0x20 && rest_[0] != '\n' && rest_[0] != '\t')
        fail("forbidden control");
      else if (rest_.starts_with("\xef\xbf\xbe") || rest_.starts_with("\xef\xbf\xbf"))
        fail("forbidden code point");
      else {
        text += rest_[0];
        rest_.remove_prefix(1);
      }
    }
    return text;
  }
  void step() {
    if (!open_.empty()) elements_[open_.back()].text += characters("<");
    if (take("</")) {
      if (name() != elements_.at(open_.back()).name) fail("another end tag");
      open_.pop_back();
      expect(">");
      return;
    }
    expect("<");
    xml_element element{name(), {}, "", std::nullopt};
    if (!open_.empty()) element.parent = open_.back();
    for (skip_space(); !rest_.starts_with(">") && !rest_.starts_with("/>"); skip_space()) {
      std::string const key = name();
      expect("=\"");
      if (!element.attributes.emplace(key, characters("\"")).second) fail("attribute twice");
      expect("\"");
    }
    elements_.push_back(std::move(element));
    if (take("/>")) return;
    expect(">");
    open_.push_back(elements_.size() - 1);
  }

  std::string_view rest_;
  std::vector<xml_element> elements_;
  std::vector<std::size_t> open_;
};

/// Returns the elements of `document` in document order. Throws `std::runtime_error`.
inline std::vector<xml_element> elements_of(std::string_view document) {
  return xml_reader(document).read();
}

}  // namespace cli_test
