// Inverse of a running sum over a range, by a whole team: draws, argmax and cuts are made of it.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/team/concept.hpp"

namespace tev {

/// Where `locate` ended: the index (-1 for none) and what of `r` is left inside its weight.
struct location {
  std::int32_t index;
  std::uint64_t rest;
};

/// The least x in [begin, end) whose running weight passes `r`; index -1 when all of them sum to
/// `r` or less. `weight(x)` is evaluated at most twice for each x. Collective.
template <team Team, class Weight>
TEV_HOST_DEVICE location locate(Team const& team, std::int32_t begin, std::int32_t end,
                                Weight&& weight, std::uint64_t r) {
  auto const scan = [&](std::int32_t first, std::int32_t last, std::uint64_t rest) {
    for (std::int32_t x = first; x < last; ++x) {
      std::uint64_t const w = weight(x);
      if (rest < w) return location{x, rest};
      rest -= w;
    }
    return location{-1, rest};
  };
  if (team.size() == 1) return scan(begin, end, r);

  std::int32_t const share = (end - begin + team.size() - 1) / team.size();
  std::int32_t const first = begin + share * team.rank() < end ? begin + share * team.rank() : end;
  std::int32_t const last = first + share < end ? first + share : end;
  std::uint64_t mine = 0;
  for (std::int32_t x = first; x < last; ++x) mine += weight(x);

  picked const hit = team.pick(mine, r);
  if (hit.rank >= team.size()) return {-1, hit.rest};
  location found{-1, 0};
  if (hit.rank == team.rank()) found = scan(first, last, hit.rest);
  auto const index = static_cast<std::uint32_t>(found.index);
  return {static_cast<std::int32_t>(static_cast<std::uint32_t>(team.broadcast(index, hit.rank))),
          team.broadcast(found.rest, hit.rank)};
}

}  // namespace tev
