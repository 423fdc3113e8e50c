// The cache moves that make an accepted path contiguous.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"

namespace tev {

/// One move of a cache row between slots; an array of them is [moves, 2] in memory.
struct slot_move {
  std::int64_t from;
  std::int64_t to;

  friend bool operator==(slot_move const&, slot_move const&) = default;
};

/// Where logical cache slots lie. A slot map has `slot(logical)`, the physical slot; `page_size()`;
/// and `limit()`, the number of logical slots it knows.
template <class T>
concept slot_map = requires(T const& t, std::int64_t s) {
  { t.slot(s) } -> std::same_as<std::int64_t>;
  { t.page_size() } -> std::same_as<std::int64_t>;
  { t.limit() } -> std::same_as<std::int64_t>;
};

/// A cache whose slots lie at their own numbers; pages, if there are any, lie in order.
struct flat_slots {
  std::int64_t size = 1;  ///< Slots of a page, at least 1.

  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int64_t slot(std::int64_t s) const { return s; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int64_t page_size() const { return size; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int64_t limit() const { return INT64_MAX; }
};

/// A paged cache: logical slot s lies at pages[s / size] * size + s % size.
template <std::integral Page = std::int32_t>
struct paged_slots {
  Page const* pages = nullptr;  ///< [count] page of each run of `size` logical slots.
  std::int64_t count = 0;
  std::int64_t size = 1;  ///< Slots of a page, at least 1.

  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int64_t slot(std::int64_t s) const {
    return static_cast<std::int64_t>(pages[s / size]) * size + s % size;
  }
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int64_t page_size() const { return size; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int64_t limit() const {
    return count > INT64_MAX / size ? INT64_MAX : count * size;
  }
};

/// What a commit leaves behind, in numbers.
struct commit_counts {
  std::int32_t moves = 0;   ///< Rows to move.
  std::int64_t length = 0;  ///< Logical rows afterwards: those before the root, and the kept path.
  std::int64_t pages_used = 0;  ///< ceil(length / page size).
  bool overlap =
      false;  ///< Some slot is source and destination: a parallel copy needs a temporary.

  friend bool operator==(commit_counts const&, commit_counts const&) = default;
};

/// Commits the first `keep` nodes of an accepted path when node i was written to logical slot
/// base + i: writes the moves, in physical slots, and returns the counts.
///
/// `path`: the root first, ascending nodes; `keep` in [0, path.size()]; `moves`: room for keep - 1,
/// or null, and then they are only counted.
/// Moves come in ascending path position, and only where source and destination differ. In logical
/// order a destination never lies behind its source, so that they may be executed one after the
/// other in place. Afterwards the cache holds base + keep rows: the root's and the accepted
/// tokens'; the bonus token has no row yet. Nothing is checked here. Allocates nothing, O(keep).
template <slot_map Slots>
TEV_HOST_DEVICE constexpr commit_counts write_moves(node_id const* path, std::int32_t keep,
                                                    std::int64_t base, Slots const& slots,
                                                    slot_move* moves) {
  commit_counts counts{.length = base + keep};
  for (std::int32_t i = 0; i < keep; ++i) {
    std::int64_t const from = base + path[i], to = base + static_cast<std::int64_t>(i);
    if (from == to) continue;
    // The first row that moves has the lowest source.
    if (counts.moves == 0) counts.overlap = path[i] < keep;
    if (moves != nullptr) moves[counts.moves] = {slots.slot(from), slots.slot(to)};
    ++counts.moves;
  }
  std::int64_t const rest = counts.length % slots.page_size() != 0 ? 1 : 0;
  counts.pages_used = counts.length / slots.page_size() + rest;
  return counts;
}

/// The same with its arguments checked: throws `argument_error` for a `keep` or a base out of
/// range, a path that doesn't ascend from the root, a page size below 1, too few pages for the
/// slots of the kept nodes, or a span that is too short for the moves. Allocates nothing unless it
/// throws.
template <slot_map Slots = flat_slots>
commit_counts commit_moves(std::span<node_id const> path, std::int64_t base, std::int64_t keep,
                           Slots const& slots, std::span<slot_move> moves) {
  auto const check = [](bool good, char const* argument, std::int64_t value, auto const&... needs) {
    require_argument(good, "commit_moves", argument, value, needs...);
  };
  auto const size = static_cast<std::int64_t>(path.size());
  check(keep >= 0 && keep <= size, "keep", keep, "[0, ", size, "]");
  check(slots.page_size() >= 1, "the page size", slots.page_size(), "at least 1");
  for (std::int64_t i = 0; i < keep; ++i)
    check(i == 0 ? path[0] == 0 : path[i] > path[i - 1], "a node of the path", path[i],
          "ascending nodes from the root on");
  std::int64_t const last = keep == 0 ? 0 : path[keep - 1];
  check(base >= 0 && base <= INT64_MAX - last - 1, "base", base, "a slot number");
  // An empty commit touches no slot, but its length has to lie on the pages all the same.
  std::int64_t const needed = keep == 0 ? base : base + last + 1;
  check(slots.limit() >= needed, "the number of slots on the pages", slots.limit(), needed);
  std::int64_t in_place = 0;
  while (in_place < keep && path[in_place] == in_place) ++in_place;
  auto const room = static_cast<std::int64_t>(moves.size());
  check(room >= keep - in_place, "room for moves", room, keep - in_place);
  return write_moves(path.data(), static_cast<std::int32_t>(keep), base, slots, moves.data());
}

/// A commit with its moves.
struct commit_plan {
  std::vector<slot_move>
      moves{};                  ///< In physical slots, in the order in which they may be executed.
  std::int64_t length = 0;      ///< As in `commit_counts`.
  std::int64_t pages_used = 0;  ///< As in `commit_counts`.
  bool overlap = false;         ///< As in `commit_counts`.
};

/// The commit of the first `keep` nodes of `path`; see `commit_moves`.
template <slot_map Slots = flat_slots>
[[nodiscard]] commit_plan plan_commit(std::span<node_id const> path, std::int64_t base,
                                      std::int64_t keep, Slots const& slots = {}) {
  commit_plan plan{.moves = std::vector<slot_move>(path.size())};
  auto const counts = commit_moves(path, base, keep, slots, plan.moves);
  plan.moves.resize(static_cast<std::size_t>(counts.moves));
  plan.length = counts.length;
  plan.pages_used = counts.pages_used;
  plan.overlap = counts.overlap;
  return plan;
}

/// Moves that commit the whole `path` in a cache without pages.
[[nodiscard]] inline std::vector<slot_move> commit_moves(std::span<node_id const> path,
                                                         std::int64_t base) {
  return plan_commit(path, base, static_cast<std::int64_t>(path.size())).moves;
}

/// Copies what a drafter needs of the committed path: the rows [keep, width] of the nodes
/// path[0..keep) out of `features` [nodes, width].
///
/// Throws `argument_error` when a row or the room for it is missing. Allocates nothing unless it
/// throws.
template <class T>
void gather_rows(std::span<T const> features, std::size_t width, std::span<node_id const> path,
                 std::span<T> rows) {
  require(rows.size() >= path.size() * width, "gather_rows: rows needs [path, width]");
  for (std::size_t i = 0; i < path.size(); ++i) {
    auto const begin = static_cast<std::size_t>(path[i]) * width;
    require_argument(path[i] >= 0 && begin + width <= features.size(), "gather_rows",
                     array_entry{"path", static_cast<std::int64_t>(i)}, path[i],
                     "a node with a row in features");
    std::ranges::copy(features.subspan(begin, width), rows.subspan(i * width).begin());
  }
}

}  // namespace tev
