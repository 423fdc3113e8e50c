// Growth level by level, shared by the builders that ask a drafter for one level at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/build/level_drafter.hpp"
#include "tev/build/prefix_growth.hpp"
#include "tev/build/ranked_tokens.hpp"
#include "tev/core/types.hpp"
#include "tev/team/serial_team.hpp"

namespace tev::detail {

// Holds the best `budget` prefixes seen. A level that has this many leaves out its worst and what
// would follow those: each is behind all of the level's best, and no prefix is before its parent.
class level_expansion {
 public:
  level_expansion(std::int32_t width, std::int32_t budget) : width_(width), budget_(budget) {}

  // Whether no node can be expanded.
  [[nodiscard]] bool ended() const { return frontier_begin_ == frontier_end_; }

  // Adds the `width` best children of each frontier node; the `width` best of the level are the
  // next frontier.
  template <level_drafter Drafter>
  void grow(Drafter& drafter) {
    auto const ranked = rank_rows(drafter);
    auto const row_below = [&](node_id v) -> auto const& {
      return ranked.at(row_[v - frontier_begin_]);
    };
    for (node_id v = frontier_begin_; v < frontier_end_; ++v) growth_.offer(v, row_below(v), 0);
    node_id const first = growth_.size();
    while (!growth_.exhausted() && growth_.size() - first < budget_) {
      auto const& taken = growth_[growth_.take()];
      growth_.offer(taken.parent, row_below(taken.parent), taken.rank + 1);
    }
    growth_.close();
    choose(first);
    before_begin_ = frontier_begin_;
    frontier_begin_ = first;
    frontier_end_ = first + std::min(width_, growth_.size() - first);
  }

  // By how much the last level raised the sum of the best scores; 0 when none of it is among them.
  [[nodiscard]] double gain() const { return gain_; }

  [[nodiscard]] built_tree tree() const { return growth_.tree(chosen_); }

 private:
  using ranked_rows = std::map<std::int32_t, std::vector<ranked_token>>;

  // The best tokens of each row that the frontier names; rows that nodes share are read once.
  template <level_drafter Drafter>
  ranked_rows rank_rows(Drafter& drafter) {
    std::vector<std::int32_t> parents;
    std::vector<token_id> tokens;
    for (node_id v = frontier_begin_; v < frontier_end_; ++v) {
      parents.push_back(v == 0 ? -1 : growth_[v].parent - before_begin_);
      tokens.push_back(growth_[v].token);
    }
    row_.resize(tokens.size());
    std::iota(row_.begin(), row_.end(), 0);
    auto&& draft = drafter(frontier{growth_[frontier_begin_].depth, parents, tokens, row_});
    ranked_rows ranked;
    for (std::int32_t const row : row_) {
      if (ranked.contains(row)) continue;
      draft.prepare(serial_team{}, row);
      ranked.emplace(row, ranked_tokens(draft, row, std::min(width_, budget_)));
    }
    return ranked;
  }

  // Merges the level that begins at `first` into the best so far.
  void choose(node_id first) {
    std::vector<node_id> level(static_cast<std::size_t>(growth_.size() - first)), best, entered;
    std::iota(level.begin(), level.end(), first);
    std::ranges::merge(chosen_, level, std::back_inserter(best), [this](node_id a, node_id b) {
      return growth_.before(growth_[a], growth_[b]);
    });
    if (static_cast<std::int32_t>(best.size()) > budget_)
      best.resize(static_cast<std::size_t>(budget_));
    std::ranges::copy_if(best, std::back_inserter(entered), [&](node_id v) { return v >= first; });
    // Each node that enters is worth more than any that leaves: no term is lost to rounding.
    std::size_t const stayed = best.size() - entered.size();
    gain_ = 0.0;
    for (std::size_t i = 0; i < entered.size(); ++i)
      gain_ += growth_[entered[i]].score -
               (stayed + i < chosen_.size() ? growth_[chosen_[stayed + i]].score : 0.0);
    chosen_ = std::move(best);
  }

  std::int32_t width_;
  std::int32_t budget_;
  prefix_growth growth_;
  std::vector<node_id> chosen_;    // The best so far, in order, without the root.
  std::vector<std::int32_t> row_;  // The drafter's row of each frontier node.
  node_id before_begin_ = 0;       // Begin of the frontier before; frontiers are contiguous.
  node_id frontier_begin_ = 0;
  node_id frontier_end_ = 1;
  double gain_ = 0.0;
};

}  // namespace tev::detail
