// What one case was found to get wrong.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/exact.hpp"

namespace conformance {

/// One difference: where, what the case expects, and what the library gave.
struct fault {
  std::string place;
  std::string expected;
  std::string got;
};

/// A value as a report shows it.
[[nodiscard]] inline std::string text(bool x) { return x ? "true" : "false"; }
template <std::integral T>
  requires(!std::same_as<T, bool>)
[[nodiscard]] std::string text(T x) {
  return std::to_string(x);
}
[[nodiscard]] inline std::string text(std::string_view x) { return '"' + std::string(x) + '"'; }
[[nodiscard]] inline std::string text(std::string const& x) { return text(std::string_view(x)); }
template <class T>
[[nodiscard]] std::string text(std::vector<T> const& list) {
  std::string all = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) all += ", ";
    if (all.size() > 120) return all + "...]";
    all += text(list[i]);
  }
  return all + "]";
}

/// Collects the differences of one case.
class checker {
 public:
  void fail(std::string place, std::string expected, std::string got) {
    faults_.push_back({std::move(place), std::move(expected), std::move(got)});
  }

  /// Both have to be equal. Of lists of equal length the first difference is shown.
  template <class T>
  void equal(std::string const& place, T const& expected, T const& got) {
    if (!(expected == got)) fail(place, text(expected), text(got));
  }
  template <class T>
  void equal(std::string const& place, std::vector<T> const& expected, std::vector<T> const& got) {
    if (expected.size() != got.size()) return fail(place, text(expected), text(got));
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!(expected[i] == got[i])) return equal(place + "[" + text(i) + "]", expected[i], got[i]);
  }

  /// The number has to be met, exactly or within its tolerance.
  void agrees(std::string const& place, quantity const& expected, rational const& got) {
    if (!expected.agrees(got)) fail(place, text(expected), text_like(expected, got));
  }
  void agree(std::string const& place, std::vector<quantity> const& expected,
             std::vector<rational> const& got) {
    if (expected.size() != got.size())
      return fail(place, text(expected.size()) + " entries", text(got.size()) + " entries");
    for (std::size_t i = 0; i < got.size(); ++i)
      agrees(place + "[" + text(i) + "]", expected[i], got[i]);
  }

  [[nodiscard]] std::vector<fault> const& faults() const { return faults_; }

 private:
  std::vector<fault> faults_;
};

}  // namespace conformance
