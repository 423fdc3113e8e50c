// Growth by level from its definition, over rows that depend on the path, and a drafter of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "build/draft_rows.hpp"
#include "tev/build/level_drafter.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/mass_rows.hpp"

namespace tev_test {

using row_of_path = std::function<masses(path const&)>;

// An autoregressive drafter: it keeps the frontier's contexts, and answers in rows of its own
// order.
struct path_drafter {
  row_of_path row_of;
  std::int32_t vocab;
  std::vector<path> contexts{};
  masses all{};
  tev::mass_storage<std::uint64_t> storage{};
  std::vector<std::int32_t> sizes{};  // Of the frontiers seen.

  tev::mass_rows<std::uint64_t> operator()(tev::frontier const& level) {
    EXPECT_EQ(level.depth, static_cast<std::int32_t>(sizes.size()));
    EXPECT_GE(level.size(), 1);
    std::vector<path> next;
    masses rows;
    for (std::int32_t i = 0; i < level.size(); ++i) {
      EXPECT_EQ(level.row[i], i);
      if (level.depth == 0) {
        EXPECT_EQ(level.parents[i], -1);
        EXPECT_EQ(level.tokens[i], tev::no_token);
        next.emplace_back();
      } else {
        next.push_back(contexts.at(static_cast<std::size_t>(level.parents[i])));
        next.back().push_back(level.tokens[i]);
      }
      level.row[i] = level.size() - 1 - i;
      auto const row = row_of(next.back());
      rows.insert(rows.begin(), row.begin(), row.end());
    }
    contexts = std::move(next);
    all = std::move(rows);
    sizes.push_back(level.size());
    return storage.rows(all.data(), level.size(), vocab, vocab);
  }
};

struct candidate {
  path tokens;
  path ranks;
  boost::multiprecision::cpp_rational score;
};

inline bool in_order(candidate const& a, candidate const& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.tokens.size() != b.tokens.size() ? a.tokens.size() < b.tokens.size() : a.ranks < b.ranks;
}

// The children of a prefix, by rank.
inline std::vector<candidate> children_of(candidate const& above, row_of_path const& row_of) {
  auto const row = row_of(above.tokens);
  auto const total = std::accumulate(row.begin(), row.end(), std::uint64_t{0});
  path order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order,
                    [&](auto x, auto y) { return row[x] != row[y] ? row[x] > row[y] : x < y; });
  std::vector<candidate> children;
  for (std::int32_t rank = 0; rank < std::ssize(order) && row[order[rank]] > 0; ++rank) {
    children.push_back(above);
    children.back().tokens.push_back(order[rank]);
    children.back().ranks.push_back(rank);
    children.back().score *= boost::multiprecision::cpp_rational(row[order[rank]], total);
  }
  return children;
}

// The candidates of each level by the definition: `width` children of each of the `width` best.
inline std::vector<std::vector<candidate>> levels_of(row_of_path const& row_of,
                                                     std::int32_t horizon, std::size_t width) {
  std::vector<std::vector<candidate>> levels;
  std::vector<candidate> frontier{{{}, {}, 1}};
  for (std::int32_t d = 0; d < horizon; ++d) {
    levels.emplace_back();
    for (auto const& node : frontier) {
      auto children = children_of(node, row_of);
      if (children.size() > width) children.resize(width);
      levels.back().insert(levels.back().end(), children.begin(), children.end());
    }
    std::ranges::sort(levels.back(), in_order);
    frontier = levels.back();
    if (frontier.size() > width) frontier.resize(width);
  }
  return levels;
}

// The best `budget` candidates of the first `count` levels.
inline std::vector<candidate> best_of(std::vector<std::vector<candidate>> const& levels,
                                      std::size_t count, std::size_t budget) {
  std::vector<candidate> all;
  for (std::size_t l = 0; l < count; ++l) all.insert(all.end(), levels[l].begin(), levels[l].end());
  std::ranges::sort(all, in_order);
  if (all.size() > budget) all.resize(budget);
  return all;
}

inline boost::multiprecision::cpp_rational sum_of(std::vector<candidate> const& nodes) {
  boost::multiprecision::cpp_rational sum = 0;
  for (auto const& node : nodes) sum += node.score;
  return sum;
}

inline std::vector<path> tokens_of(std::vector<candidate> const& nodes) {
  std::vector<path> tokens;
  for (auto const& node : nodes) tokens.push_back(node.tokens);
  return tokens;
}

// Rows of small masses that depend on the whole path.
inline row_of_path scattered_rows(std::int32_t vocab, std::uint64_t largest, std::uint64_t seed) {
  return [=](path const& p) {
    std::uint64_t state = seed;
    for (auto const token : p)
      state = (state + static_cast<std::uint64_t>(token) + 1) * 0x9E3779B97F4A7C15u;
    masses row;
    for (std::int32_t x = 0; x < vocab; ++x) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      row.push_back((state >> 33) % (largest + 1));
    }
    return row;
  };
}

}  // namespace tev_test
