// The best tokens of a draft row, in rank order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"

namespace tev {

/// A token with its mass and its row's total, both scaled by the same power of two so that the
/// total lies in [1, 2): products along a path neither overflow nor, within a hundred levels of
/// probability above 2^-10, underflow.
struct ranked_token {
  token_id token;
  double mass;
  double total;
};

/// The at most `count` tokens of largest positive mass of a prepared row: larger mass first, lower
/// token on ties. One vocabulary pass and O(count log count).
template <draft_rows Draft>
[[nodiscard]] std::vector<ranked_token> ranked_tokens(Draft const& draft, std::int32_t row,
                                                      std::int32_t count) {
  using mass_type = typename Draft::mass_type;
  struct entry {
    mass_type mass;
    token_id token;
  };
  std::vector<ranked_token> ranked;
  if (draft.row_status(row) != status::ok || count <= 0) return ranked;

  auto const better = [](entry const& a, entry const& b) {
    return a.mass != b.mass ? a.mass > b.mass : a.token < b.token;
  };
  // A heap of the best so far, its worst on top: most tokens cost one comparison.
  std::vector<entry> kept;
  for (token_id x = 0; x < draft.vocab_size(); ++x) {
    entry const next{draft.mass(row, x), x};
    if (next.mass == mass_type(0)) continue;
    if (static_cast<std::int32_t>(kept.size()) == count) {
      if (!better(next, kept.front())) continue;
      std::ranges::pop_heap(kept, better);
      kept.pop_back();
    }
    kept.push_back(next);
    std::ranges::push_heap(kept, better);
  }
  std::ranges::sort(kept, better);

  auto const total = static_cast<double>(draft.total(row));
  int const exponent = std::ilogb(total);
  for (auto const& e : kept)
    ranked.push_back({e.token, std::ldexp(static_cast<double>(e.mass), -exponent),
                      std::ldexp(total, -exponent)});
  return ranked;
}

}  // namespace tev
