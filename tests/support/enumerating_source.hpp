// A source of every random number at once: it turns a randomised function into its law.
#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tev/random/concept.hpp"

namespace tev_test {

using rational = boost::multiprecision::cpp_rational;
using big_integer = boost::multiprecision::cpp_int;

/// An odometer over every value of every `below` that a function asks for.
///
/// Call the function, take `weight()` as the probability of what it did, and go on while `next()`
/// is true. A decision names one u in [0, 1): asking it again, also with another n, yields only the
/// values that u can still give, and narrows u further. So equal decisions are one random number
/// and different ones are independent, as the concept says. The function has to ask the same
/// questions when it gets the same answers; `std::logic_error` tells when it does not.
class enumerating_source {
 public:
  [[nodiscard]] std::uint64_t below(tev::decision d, std::uint64_t n) const {
    if (n == 0) throw std::logic_error("enumerating_source: below(d, 0) means nothing");
    if (asked_ == choices_.size()) ask(d, n);
    choice const& now = choices_[asked_++];
    if (now.what != d || now.n != n)
      throw std::logic_error("enumerating_source: other questions after the same answers");
    return now.value;
  }

  /// Probability of the answers given since the last `next()`.
  [[nodiscard]] rational weight() const {
    rational product = 1;
    for (choice const& c : choices_)
      if (c.latest) product *= c.high - c.low;
    return product;
  }

  /// Numbers asked for since the last `next()`.
  [[nodiscard]] std::size_t asked() const { return asked_; }

  /// Moves to the next outcome; false, and back at the first, when all have been seen.
  [[nodiscard]] bool next() {
    asked_ = 0;
    while (!choices_.empty()) {
      choice& last = choices_.back();
      if (last.value < last.last) {
        ++last.value;
        narrow(last);
        return true;
      }
      if (last.before != none) choices_[last.before].latest = true;
      choices_.pop_back();
    }
    return false;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  struct choice {
    tev::decision what;
    std::uint64_t n;
    std::uint64_t value;
    std::uint64_t last;  // Largest value that u can still give.
    std::size_t before;  // The choice that asked the same decision before, or none.
    bool latest;         // Whether no later choice asks the same decision.
    rational low, high;  // u lies in [low, high).
  };

  void ask(tev::decision d, std::uint64_t n) const {
    std::size_t before = choices_.size();
    while (before > 0 && choices_[before - 1].what != d) --before;
    choice c{d, n, 0, n - 1, before == 0 ? none : before - 1, true, 0, 1};
    if (c.before != none) {
      choice& earlier = choices_[c.before];
      earlier.latest = false;
      rational const low = earlier.low * n, high = earlier.high * n;
      c.value = static_cast<std::uint64_t>(big_integer(numerator(low) / denominator(low)));
      // The least value at or above the open end, less one.
      c.last = static_cast<std::uint64_t>(
                   big_integer((numerator(high) + denominator(high) - 1) / denominator(high))) -
               1;
    }
    choices_.push_back(c);
    narrow(choices_.back());
  }

  void narrow(choice& c) const {
    c.low = rational(big_integer(c.value), big_integer(c.n));
    c.high = rational(big_integer(c.value) + 1, big_integer(c.n));
    if (c.before == none) return;
    c.low = std::max(c.low, choices_[c.before].low);
    c.high = std::min(c.high, choices_[c.before].high);
  }

  mutable std::vector<choice> choices_;
  mutable std::size_t asked_ = 0;
};

static_assert(tev::uniform_source<enumerating_source>);

}  // namespace tev_test
