// Rows of raw logits with a temperature, as masses.
#pragma once

#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/chunks.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/distribution/cut.hpp"
#include "tev/distribution/fixed_point.hpp"
#include "tev/distribution/logit_key.hpp"
#include "tev/distribution/logit_rows.hpp"
#include "tev/distribution/sampling_parameters.hpp"
#include "tev/distribution/softmax_cut.hpp"
#include "tev/distribution/softmax_mass.hpp"
#include "tev/team/concept.hpp"
#include "tev/team/locate.hpp"

namespace tev {

/// What is kept of one row of logits, beside the maximum and the mass of each of its chunks.
struct row_summary {
  std::uint64_t total = 0;
  token_order cut = 0;         ///< Tokens placed below it are filtered out.
  softmax_mass masses{};       ///< Holds the maximum.
  token_id greedy = no_token;  ///< At temperature 0 the token that holds all mass.
  status state = status::no_mass;
  bool ready = false;
};

/// A view of caller-owned logits under one request's sampling parameters, with caller-owned
/// summaries.
///
/// mass(x) = floor(2^40 * 2^-d), d = (maximum - logit) log2(e) / T, and 2^40 at the maximum; a
/// token that a filter or the bitmask removes has mass 0, and the others keep theirs. At
/// temperature 0 all mass lies on the lowest token of the maximal logit. A -infinity has mass 0.
/// Parameters out of range make every row `bad_parameter`; a NaN or +infinity among the allowed
/// logits makes its row `not_finite`. Nothing of the size of a row is ever written.
template <logit Logit>
struct softmax_rows {
  using mass_type = std::uint64_t;

  logit_rows<Logit> source{};
  sampling_parameters sampling{};
  row_summary* summaries = nullptr;       ///< [rows]
  logit_key* chunk_maxima = nullptr;      ///< [rows, chunk_count(vocab)]
  std::uint64_t* chunk_masses = nullptr;  ///< [rows, chunk_count(vocab)]
  cut_space space{};                      ///< For top-k and top-p; they are faster with one.

  [[nodiscard]] TEV_HOST_DEVICE std::int32_t vocab_size() const { return source.vocab; }
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t total(node_id v) const { return summaries[v].total; }
  [[nodiscard]] TEV_HOST_DEVICE status row_status(node_id v) const { return summaries[v].state; }
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t mass(node_id v, token_id x) const {
    if (x < 0 || x >= source.vocab || summaries[v].state != status::ok) return 0;
    return token_mass(v, x);
  }

  /// Fills the row's summary: one vocabulary pass for the maxima, and one over the chunks that are
  /// not wholly below 2^-40 of the maximum for the masses. At temperature 0 only the first. The
  /// cost of filters stands at `softmax_cut`.
  template <team Team>
  TEV_HOST_DEVICE void prepare(Team const& team, node_id v) const {
    if (summaries[v].ready) return;
    logit_key const maximum = find_maximum(team, v);
    row_summary summary{.masses = {maximum, octave_scale_of(sampling.temperature)}, .ready = true};
    summary.state = !is_valid(sampling)        ? status::bad_parameter
                    : maximum == invalid_key   ? status::not_finite
                    : maximum == forbidden_key ? status::no_mass
                                               : status::ok;
    if (summary.state == status::ok && is_greedy(sampling)) {
      summary.greedy = first_maximum(team, v, maximum);
      summary.total = top_mass;
    } else if (summary.state == status::ok) {
      summary.cut = softmax_cut<Logit>{source, v, chunk_maxima + chunk_index(v, 0), summary.masses,
                                       space}(team, sampling);
      summary.total = sum_masses(team, v, summary);
    }
    team.barrier();
    if (team.rank() == 0) summaries[v] = summary;
    team.barrier();
  }

  /// Inverse of the running mass: the chunk from the summary, then one chunk of the row.
  template <team Team, class Tokens>
  [[nodiscard]] TEV_HOST_DEVICE token_id draw(Team const& team, node_id v, std::uint64_t r,
                                              Tokens const& skip) const {
    row_summary const& summary = summaries[v];
    if (summary.state != status::ok) return no_token;
    if (is_greedy(sampling))
      return r < top_mass && !contains(skip, summary.greedy) ? summary.greedy : no_token;

    auto const chunk_left = [&](std::int32_t chunk) {
      std::uint64_t left = chunk_masses[chunk_index(v, chunk)];
      skip.for_each([&](token_id x) {
        if (x < 0 || x >= source.vocab || x / chunk_size != chunk) return;
        std::uint64_t const m = token_mass(v, x);
        left = m < left ? left - m : 0;
      });
      return left;
    };
    location const found = locate(team, 0, chunk_count(source.vocab), chunk_left, r);
    if (found.index < 0) return no_token;
    auto const token_left = [&](token_id x) {
      std::uint64_t const m = token_mass(v, x);
      return m != 0 && contains(skip, x) ? 0 : m;
    };
    return locate(team, chunk_begin(found.index), chunk_end(found.index, source.vocab), token_left,
                  found.rest)
        .index;
  }

  /// Lowest token of the maximal logit: reads one chunk.
  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE token_id best(Team const& team, node_id v) const {
    row_summary const& summary = summaries[v];
    if (summary.state != status::ok) return no_token;
    return is_greedy(sampling) ? summary.greedy : first_maximum(team, v, summary.masses.maximum);
  }

  /// How far the largest allowed logit stands above the second: 0 when it is shared, +infinity when
  /// there is no other, NaN for a row that is not `ok`. Filters play no part. Reads one chunk.
  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE float margin(Team const& team, node_id v) const {
    if (summaries[v].state != status::ok) return bits_float(0x7fc00000u);
    logit_key const maximum = summaries[v].masses.maximum;
    token_id const first = first_maximum(team, v, maximum);
    std::int32_t const home = first / chunk_size;
    logit_key second = forbidden_key;
    for (std::int32_t c = team.rank(); c < chunk_count(source.vocab); c += team.size())
      if (c != home) second = larger(second, chunk_maxima[chunk_index(v, c)]);
    token_id const end = chunk_end(home, source.vocab);
    for (token_id x = chunk_begin(home) + team.rank(); x < end; x += team.size())
      if (x != first) second = larger(second, source.key(v, x));
    second = static_cast<logit_key>(team.max(second));
    if (second == forbidden_key) return bits_float(0x7f800000u);
    return detail::sum(logit_of(maximum), -logit_of(second));
  }

 private:
  [[nodiscard]] TEV_HOST_DEVICE static logit_key larger(logit_key a, logit_key b) {
    return a < b ? b : a;
  }
  [[nodiscard]] TEV_HOST_DEVICE std::int64_t chunk_index(node_id v, std::int32_t chunk) const {
    return std::int64_t{v} * chunk_count(source.vocab) + chunk;
  }

  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t token_mass(node_id v, token_id x) const {
    row_summary const& summary = summaries[v];
    if (is_greedy(sampling)) return x == summary.greedy ? top_mass : 0;
    logit_key const key = source.key(v, x);
    return order_of(key, x) < summary.cut ? 0 : summary.masses(key);
  }

  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE logit_key find_maximum(Team const& team, node_id v) const {
    logit_key largest = forbidden_key;
    for (std::int32_t c = team.rank(); c < chunk_count(source.vocab); c += team.size()) {
      logit_key m = forbidden_key;
      source.for_each_key(v, chunk_begin(c), chunk_end(c, source.vocab),
                          [&](token_id, logit_key key) { m = larger(m, key); });
      chunk_maxima[chunk_index(v, c)] = m;
      largest = larger(largest, m);
    }
    return static_cast<logit_key>(team.max(largest));
  }

  // The chunk that holds the maximum first, then the token in it.
  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE token_id first_maximum(Team const& team, node_id v,
                                                       logit_key maximum) const {
    team.barrier();
    auto const holds = [&](std::int32_t chunk) {
      return std::uint64_t{chunk_maxima[chunk_index(v, chunk)] == maximum};
    };
    std::int32_t const chunk = locate(team, 0, chunk_count(source.vocab), holds, 0).index;
    auto const is_maximum = [&](token_id x) { return std::uint64_t{source.key(v, x) == maximum}; };
    return locate(team, chunk_begin(chunk), chunk_end(chunk, source.vocab), is_maximum, 0).index;
  }

  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t sum_masses(Team const& team, node_id v,
                                                         row_summary const& summary) const {
    logit_key const lowest = key_of_order(summary.cut);
    std::uint64_t total = 0;
    for (std::int32_t c = team.rank(); c < chunk_count(source.vocab); c += team.size()) {
      std::uint64_t sum = 0;
      logit_key const largest = chunk_maxima[chunk_index(v, c)];
      // Masses are monotone: where the largest of a chunk has none, no token of it has.
      if (largest >= lowest && summary.masses(largest) != 0)
        source.for_each_key(v, chunk_begin(c), chunk_end(c, source.vocab),
                            [&](token_id x, logit_key key) {
                              if (key >= lowest && order_of(key, x) >= summary.cut)
                                sum += summary.masses(key);
                            });
      chunk_masses[chunk_index(v, c)] = sum;
      total += sum;
    }
    return team.sum(total);
  }
};

}  // namespace tev
