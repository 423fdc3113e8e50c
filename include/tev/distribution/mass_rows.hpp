// Rows of masses that are given as such: integers, or rationals for the exit law.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/team/concept.hpp"
#include "tev/team/locate.hpp"

namespace tev {

/// What is kept of one row of masses.
template <class Mass>
struct mass_summary {
  Mass total{};
  status state = status::no_mass;
  bool ready = false;
};

/// A view of caller-owned masses [rows, stride] with caller-owned summaries [rows].
///
/// With `explicit_total` [rows] a row may sum to less than its total (a draft that keeps only its
/// best tokens): the rest belongs to no token, and a draw that falls there gives none. A row whose
/// masses sum to more than its total, or past 64 bits, is `not_finite`.
template <class Mass>
struct mass_rows {
  using mass_type = Mass;

  Mass const* masses = nullptr;
  std::int64_t stride = 0;
  std::int32_t vocab = 0;
  mass_summary<Mass>* summaries = nullptr;
  Mass const* explicit_total = nullptr;

  [[nodiscard]] TEV_HOST_DEVICE std::int32_t vocab_size() const { return vocab; }
  [[nodiscard]] TEV_HOST_DEVICE Mass total(node_id v) const { return summaries[v].total; }
  [[nodiscard]] TEV_HOST_DEVICE status row_status(node_id v) const { return summaries[v].state; }
  [[nodiscard]] TEV_HOST_DEVICE Mass mass(node_id v, token_id x) const {
    if (x < 0 || x >= vocab || summaries[v].state != status::ok) return Mass(0);
    return at(v, x);
  }

  /// Sums the row: one vocabulary pass.
  template <team Team>
  TEV_HOST_DEVICE void prepare(Team const& team, node_id v) const {
    if (summaries[v].ready) return;
    Mass sum(0);
    bool overflow = false;
    if constexpr (std::same_as<Mass, std::uint64_t>) {
      // In two halves, so that no sum of 2^24 masses can wrap unseen.
      std::uint64_t low = 0, high = 0;
      for (token_id x = team.rank(); x < vocab; x += team.size()) {
        low += at(v, x) & 0xffffffffu;
        high += at(v, x) >> 32;
      }
      low = team.sum(low);
      high = team.sum(high) + (low >> 32);
      overflow = high >> 32 != 0;
      sum = high << 32 | (low & 0xffffffffu);
    } else {
      for (token_id x = 0; x < vocab; ++x) sum += at(v, x);
    }
    Mass const total = explicit_total != nullptr ? explicit_total[v] : sum;
    status const state = overflow || total < sum ? status::not_finite
                         : sum == Mass(0)        ? status::no_mass
                                                 : status::ok;
    team.barrier();
    if (team.rank() == 0) summaries[v] = {state == status::ok ? total : Mass(0), state, true};
    team.barrier();
  }

  /// Inverse of the running mass: one vocabulary pass.
  template <team Team, class Tokens>
    requires std::same_as<Mass, std::uint64_t>
  [[nodiscard]] TEV_HOST_DEVICE token_id draw(Team const& team, node_id v, std::uint64_t r,
                                              Tokens const& skip) const {
    if (summaries[v].state != status::ok) return no_token;
    auto const weight = [&](token_id x) { return contains(skip, x) ? 0 : at(v, x); };
    return locate(team, 0, vocab, weight, r).index;
  }

  /// Lowest token of maximal mass: two vocabulary passes.
  template <team Team>
    requires std::same_as<Mass, std::uint64_t>
  [[nodiscard]] TEV_HOST_DEVICE token_id best(Team const& team, node_id v) const {
    if (summaries[v].state != status::ok) return no_token;
    std::uint64_t largest = 0;
    for (token_id x = team.rank(); x < vocab; x += team.size())
      largest = largest < at(v, x) ? at(v, x) : largest;
    largest = team.max(largest);
    auto const is_largest = [&](token_id x) { return std::uint64_t{at(v, x) == largest}; };
    return locate(team, 0, vocab, is_largest, 0).index;
  }

 private:
  [[nodiscard]] TEV_HOST_DEVICE Mass const& at(node_id v, token_id x) const {
    return masses[v * stride + x];
  }
};

/// Owns the summaries of a `mass_rows` view on the host.
template <class Mass>
class mass_storage {
 public:
  /// A view of `rows` rows of `vocab` masses that lie `stride` apart; nothing is prepared yet.
  [[nodiscard]] mass_rows<Mass> rows(Mass const* masses, std::int32_t rows, std::int32_t vocab,
                                     std::int64_t stride, Mass const* explicit_total = nullptr) {
    summaries_.assign(static_cast<std::size_t>(rows), {});
    return {masses, stride, vocab, summaries_.data(), explicit_total};
  }

 private:
  std::vector<mass_summary<Mass>> summaries_;
};

}  // namespace tev
