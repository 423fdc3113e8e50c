// Sources that answer as a test tells them to.
#pragma once

#include <cstdint>
#include <vector>

#include "tev/random/concept.hpp"

namespace tev_test {

/// Which end of [0, n) a source answers with.
enum class end { low, high };

/// Always 0, or always n - 1.
struct end_source {
  end which = end::low;

  [[nodiscard]] std::uint64_t below(tev::decision, std::uint64_t n) const {
    return which == end::low || n == 0 ? 0 : n - 1;
  }
};

/// A chosen number for the exit decision, an end of the range for every other.
struct probing_source {
  std::uint64_t exit_number = 0;
  end others = end::low;

  [[nodiscard]] std::uint64_t below(tev::decision d, std::uint64_t n) const {
    return d.what == tev::purpose::exit ? exit_number : end_source{others}.below(d, n);
  }
};

/// What another source answers, with a record of what was asked.
template <tev::uniform_source Inner>
struct recording_source {
  struct question {
    tev::decision what;
    std::uint64_t n;
  };

  Inner inner{};
  mutable std::vector<question> asked{};

  [[nodiscard]] std::uint64_t below(tev::decision d, std::uint64_t n) const {
    asked.push_back({d, n});
    return inner.below(d, n);
  }
};

static_assert(tev::uniform_source<end_source>);
static_assert(tev::uniform_source<probing_source>);
static_assert(tev::uniform_source<recording_source<end_source>>);

}  // namespace tev_test
