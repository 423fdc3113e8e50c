// The one list of the library's saturated verifiers: a new one is added here and tested everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/verify/predraw.hpp"
#include "tev/verify/sequential_residual.hpp"
#include "tev/verify/tree_exit.hpp"

namespace tev_test {

/// Scratch of the verifiers that need some.
struct verifier_workspace {
  explicit verifier_workspace(std::int32_t size)
      : drawn(static_cast<std::size_t>(size)), depth(static_cast<std::size_t>(size)) {}

  std::vector<tev::token_id> drawn;
  std::vector<std::int32_t> depth;
};

/// Calls `visit(name, make)` for each verifier; `make(unit, workspace)` gives the function object,
/// for a flow unit and a workspace of at least the tree's size. `greedy` is not among them: it
/// follows another law.
template <class Visit>
void for_each_verifier(Visit&& visit) {
  visit("tree_exit", [](std::uint64_t unit, verifier_workspace&) { return tev::tree_exit{unit}; });
  visit("predraw", [](std::uint64_t, verifier_workspace&) { return tev::predraw{}; });
  visit("predraw_eager", [](std::uint64_t, verifier_workspace& space) {
    return tev::predraw_eager{space.drawn.data(), space.depth.data()};
  });
  visit("sequential_residual",
        [](std::uint64_t, verifier_workspace&) { return tev::sequential_residual{}; });
}

}  // namespace tev_test
