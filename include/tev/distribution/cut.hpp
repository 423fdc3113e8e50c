// A cut through the tokens of a row in their order: what every filter comes down to.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/logit_key.hpp"
#include "tev/team/concept.hpp"

namespace tev {

/// A token's place in the order (logit descending, token ascending) as one number: better tokens
/// have larger ones, different tokens different ones.
using token_order = std::uint64_t;

/// The place of token x with this key.
[[nodiscard]] TEV_HOST_DEVICE constexpr token_order order_of(logit_key key, token_id x) {
  return token_order{key} << 32 | (0xffffffffu - static_cast<std::uint32_t>(x));
}

/// The key of a place.
[[nodiscard]] TEV_HOST_DEVICE constexpr logit_key key_of_order(token_order order) {
  return static_cast<logit_key>(order >> 32);
}

/// The lowest number that is not below any place of a smaller key: tokens of at least this key lie
/// at or above it.
[[nodiscard]] TEV_HOST_DEVICE constexpr token_order floor_of(logit_key key) {
  return token_order{key} << 32;
}

/// A token that may be where a cut falls, with its weight.
struct cut_candidate {
  token_order order;
  std::uint64_t weight;
};

/// Places [low, high), and the weight of all places at or above `high`.
struct order_bracket {
  token_order low;
  token_order high;
  std::uint64_t above;
};

/// Room in which the members of a narrow bracket are kept, so that the row is read no more.
struct cut_space {
  cut_candidate* candidates = nullptr;
  std::int32_t capacity = 0;
};

namespace detail {

// What one look at a bracket tells: both parts' extremes, and the weight of the upper one.
struct bracket_parts {
  token_order lower_first = ~token_order{0}, lower_last = 0;
  token_order upper_first = ~token_order{0}, upper_last = 0;
  std::uint64_t upper_weight = 0;

  TEV_HOST_DEVICE constexpr void add(token_order order, std::uint64_t weight, token_order middle) {
    bool const up = order >= middle;
    token_order& first = up ? upper_first : lower_first;
    token_order& last = up ? upper_last : lower_last;
    first = order < first ? order : first;
    last = order > last ? order : last;
    upper_weight += up ? weight : 0;
  }

  template <team Team>
  TEV_HOST_DEVICE void combine(Team const& team) {
    lower_first = ~team.max(~lower_first);
    lower_last = team.max(lower_last);
    upper_first = ~team.max(~upper_first);
    upper_last = team.max(upper_last);
    upper_weight = team.sum(upper_weight);
  }
};

// Between two keys, halfway between their logits where that lies strictly between; which place is
// tried affects only how soon the cut is found.
TEV_HOST_DEVICE inline token_order middle_of(token_order low, token_order high) {
  logit_key const low_key = key_of_order(low), high_key = key_of_order(high);
  if (high_key - low_key > 1 && low_key != forbidden_key && high_key < invalid_key) {
    logit_key const middle = key_of(0.5f * logit_of(low_key) + 0.5f * logit_of(high_key));
    if (low_key < middle && middle < high_key) return floor_of(middle);
  }
  return low + (high - low) / 2;
}

// This rank's members of a bracket, moved to its part of the space; more than fit are only counted.
class rank_candidates {
 public:
  template <team Team>
  TEV_HOST_DEVICE rank_candidates(Team const& team, cut_space space)
      : room_(space.capacity / team.size()), mine_(space.candidates + room_ * team.rank()) {}

  template <team Team, class Members>
  [[nodiscard]] TEV_HOST_DEVICE bool gather(Team const& team, Members&& members,
                                            order_bracket const& b) {
    count_ = 0;
    members(b, [&](token_order order, std::uint64_t weight) {
      if (count_ < room_) mine_[count_] = {order, weight};
      count_ = count_ <= room_ ? count_ + 1 : count_;
    });
    return !team.any(count_ > room_);
  }

  // Drops what lies outside the bracket while it visits the rest.
  template <class Visit>
  TEV_HOST_DEVICE void keep_and_visit(order_bracket const& b, Visit&& visit) {
    std::int32_t kept = 0;
    for (std::int32_t i = 0; i < count_; ++i) {
      cut_candidate const c = mine_[i];
      if (c.order < b.low || c.order >= b.high) continue;
      mine_[kept++] = c;
      visit(c.order, c.weight);
    }
    count_ = kept;
  }

 private:
  std::int32_t room_;
  cut_candidate* mine_;
  std::int32_t count_ = 0;
};

}  // namespace detail

/// The largest place c such that the places at or above c weigh at least `target`; `bracket.low`
/// when all of them together do not. Collective; requires bracket.above < target.
///
/// `members(bracket, visit)` calls visit(order, weight) for this rank's tokens inside a bracket;
/// it is called a few times on a bracket with many members, and once their number fits `space`,
/// never again. Each call halves the bracket in logits or in places: at most about 350 for any row.
template <team Team, class Members>
[[nodiscard]] TEV_HOST_DEVICE token_order find_cut(Team const& team, order_bracket bracket,
                                                   std::uint64_t target, cut_space space,
                                                   Members&& members) {
  token_order const none = bracket.low;
  detail::rank_candidates kept(team, space);
  bool gathered = false, enough = false;
  while (bracket.high - bracket.low > 1) {
    if (!gathered) gathered = kept.gather(team, members, bracket);
    // The first look takes in the whole bracket: does it hold enough, and where does it begin?
    token_order const middle = enough ? detail::middle_of(bracket.low, bracket.high) : bracket.low;
    detail::bracket_parts parts;
    auto const look = [&](token_order order, std::uint64_t weight) {
      parts.add(order, weight, middle);
    };
    if (gathered)
      kept.keep_and_visit(bracket, look);
    else
      members(bracket, look);
    parts.combine(team);
    bool const up = bracket.above + parts.upper_weight >= target;
    if (!enough && !up) return none;
    enough = true;
    if (!up) bracket.above += parts.upper_weight;
    bracket.low = up ? parts.upper_first : parts.lower_first;
    bracket.high = (up ? parts.upper_last : parts.lower_last) + 1;
  }
  return bracket.low;
}

}  // namespace tev
