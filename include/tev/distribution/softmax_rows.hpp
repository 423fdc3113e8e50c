// Rows of raw logits with a temperature, as masses.
#pragma once

#include <concepts>
#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/bfloat16.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/distribution/fixed_point.hpp"
#include "tev/distribution/logit_key.hpp"
#include "tev/team/concept.hpp"
#include "tev/team/locate.hpp"

namespace tev {

/// What a logit may be stored as.
template <class T>
concept logit = std::same_as<T, float> || std::same_as<T, bfloat16>;

/// Tokens per chunk: a row is summarised chunk by chunk, so that a draw reads one chunk.
inline constexpr std::int32_t chunk_size = 1024;

/// Chunks of a row over `vocab` tokens.
[[nodiscard]] TEV_HOST_DEVICE constexpr std::int32_t chunk_count(std::int32_t vocab) {
  return (vocab + chunk_size - 1) / chunk_size;
}

/// What is kept of one row of logits, beside the maximum and the mass of each of its chunks.
struct row_summary {
  std::uint64_t total = 0;
  logit_key maximum = forbidden_key;
  token_id greedy = no_token;  ///< At temperature 0 the token that holds all mass.
  octave_scale scale{};
  status state = status::no_mass;
  bool ready = false;
};

/// A view of caller-owned logits [rows, stride] at one temperature, with caller-owned summaries.
///
/// mass(x) = floor(2^40 * 2^-d), d = (maximum - logit) log2(e) / T, and 2^40 at the maximum; at
/// temperature 0 all mass lies on the lowest token of the maximal logit. A -infinity has mass 0; a
/// NaN or +infinity makes the row `not_finite`, a negative or non-finite temperature makes every
/// row `bad_parameter`. Nothing of the size of a row is ever written.
template <logit Logit>
struct softmax_rows {
  using mass_type = std::uint64_t;

  Logit const* logits = nullptr;
  std::int64_t stride = 0;  ///< Distance between rows, in elements.
  std::int32_t vocab = 0;
  float temperature = 1.0f;
  row_summary* summaries = nullptr;       ///< [rows]
  logit_key* chunk_maxima = nullptr;      ///< [rows, chunk_count(vocab)]
  std::uint64_t* chunk_masses = nullptr;  ///< [rows, chunk_count(vocab)]

  [[nodiscard]] TEV_HOST_DEVICE std::int32_t vocab_size() const { return vocab; }
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t total(node_id v) const { return summaries[v].total; }
  [[nodiscard]] TEV_HOST_DEVICE status row_status(node_id v) const { return summaries[v].state; }
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t mass(node_id v, token_id x) const {
    if (x < 0 || x >= vocab || summaries[v].state != status::ok) return 0;
    return token_mass(v, x);
  }

  /// Fills the row's summary: one vocabulary pass for the maxima, and one over the chunks that are
  /// not wholly below 2^-40 of the maximum for the masses. At temperature 0 only the first.
  template <team Team>
  TEV_HOST_DEVICE void prepare(Team const& team, node_id v) const {
    if (summaries[v].ready) return;
    row_summary summary{.maximum = find_maximum(team, v), .ready = true};
    summary.scale = octave_scale_of(temperature);
    summary.state = is_negative(temperature) || !is_finite(temperature) ? status::bad_parameter
                    : summary.maximum == invalid_key                    ? status::not_finite
                    : summary.maximum == forbidden_key                  ? status::no_mass
                                                                        : status::ok;
    if (summary.state == status::ok && is_greedy()) {
      summary.greedy = first_maximum(team, v, summary.maximum);
      summary.total = top_mass;
    }
    team.barrier();
    if (team.rank() == 0) summaries[v] = summary;
    team.barrier();
    if (summary.state != status::ok || is_greedy()) return;
    std::uint64_t const total = sum_masses(team, v);
    if (team.rank() == 0) summaries[v].total = total;
    team.barrier();
  }

  /// Inverse of the running mass: the chunk from the summary, then one chunk of the row.
  template <team Team, class Tokens>
  [[nodiscard]] TEV_HOST_DEVICE token_id draw(Team const& team, node_id v, std::uint64_t r,
                                              Tokens const& skip) const {
    row_summary const& summary = summaries[v];
    if (summary.state != status::ok) return no_token;
    if (is_greedy())
      return r < top_mass && !contains(skip, summary.greedy) ? summary.greedy : no_token;

    auto const chunk_left = [&](std::int32_t chunk) {
      std::uint64_t left = chunk_masses[chunk_index(v, chunk)];
      skip.for_each([&](token_id x) {
        if (x < 0 || x >= vocab || x / chunk_size != chunk) return;
        std::uint64_t const m = token_mass(v, x);
        left = m < left ? left - m : 0;
      });
      return left;
    };
    location const found = locate(team, 0, chunk_count(vocab), chunk_left, r);
    if (found.index < 0) return no_token;
    auto const token_left = [&](token_id x) {
      std::uint64_t const m = token_mass(v, x);
      return m != 0 && contains(skip, x) ? 0 : m;
    };
    return locate(team, chunk_begin(found.index), chunk_end(found.index), token_left, found.rest)
        .index;
  }

  /// Lowest token of the maximal logit: reads one chunk.
  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE token_id best(Team const& team, node_id v) const {
    if (summaries[v].state != status::ok) return no_token;
    return is_greedy() ? summaries[v].greedy : first_maximum(team, v, summaries[v].maximum);
  }

 private:
  [[nodiscard]] TEV_HOST_DEVICE bool is_greedy() const { return magnitude_bits(temperature) == 0; }
  [[nodiscard]] TEV_HOST_DEVICE std::int64_t chunk_index(node_id v, std::int32_t chunk) const {
    return std::int64_t{v} * chunk_count(vocab) + chunk;
  }
  [[nodiscard]] TEV_HOST_DEVICE static token_id chunk_begin(std::int32_t chunk) {
    return chunk * chunk_size;
  }
  [[nodiscard]] TEV_HOST_DEVICE token_id chunk_end(std::int32_t chunk) const {
    return vocab - chunk_begin(chunk) < chunk_size ? vocab : chunk_begin(chunk) + chunk_size;
  }
  [[nodiscard]] TEV_HOST_DEVICE logit_key key(node_id v, token_id x) const {
    return key_of(to_float(logits[v * stride + x]));
  }

  // Mass as a function of the logit's key, for a row whose maximum is known.
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t key_mass(node_id v, logit_key k) const {
    row_summary const& summary = summaries[v];
    if (k == summary.maximum) return top_mass;
    if (k == forbidden_key) return 0;
    return mass_of_octaves(octaves_below(logit_of(summary.maximum), logit_of(k), summary.scale));
  }

  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t token_mass(node_id v, token_id x) const {
    if (is_greedy()) return x == summaries[v].greedy ? top_mass : 0;
    return key_mass(v, key(v, x));
  }

  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE logit_key find_maximum(Team const& team, node_id v) const {
    logit_key largest = forbidden_key;
    for (std::int32_t chunk = team.rank(); chunk < chunk_count(vocab); chunk += team.size()) {
      logit_key m = forbidden_key;
      for (token_id x = chunk_begin(chunk); x < chunk_end(chunk); ++x) {
        logit_key const k = key(v, x);
        m = m < k ? k : m;
      }
      chunk_maxima[chunk_index(v, chunk)] = m;
      largest = largest < m ? m : largest;
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
    std::int32_t const chunk = locate(team, 0, chunk_count(vocab), holds, 0).index;
    auto const is_maximum = [&](token_id x) { return std::uint64_t{key(v, x) == maximum}; };
    return locate(team, chunk_begin(chunk), chunk_end(chunk), is_maximum, 0).index;
  }

  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t sum_masses(Team const& team, node_id v) const {
    std::uint64_t total = 0;
    for (std::int32_t chunk = team.rank(); chunk < chunk_count(vocab); chunk += team.size()) {
      std::uint64_t sum = 0;
      // Masses are monotone: where the largest of a chunk has none, no token of it has.
      if (key_mass(v, chunk_maxima[chunk_index(v, chunk)]) != 0)
        for (token_id x = chunk_begin(chunk); x < chunk_end(chunk); ++x) sum += token_mass(v, x);
      chunk_masses[chunk_index(v, chunk)] = sum;
      total += sum;
    }
    return team.sum(total);
  }
};

}  // namespace tev
