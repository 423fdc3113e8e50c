// The cut that top-k, top-p and min-p make together in one row of logits.
#pragma once

#include <bit>
#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/chunks.hpp"
#include "tev/distribution/cut.hpp"
#include "tev/distribution/fixed_point.hpp"
#include "tev/distribution/logit_key.hpp"
#include "tev/distribution/logit_rows.hpp"
#include "tev/distribution/sampling_parameters.hpp"
#include "tev/distribution/softmax_mass.hpp"
#include "tev/team/concept.hpp"

namespace tev {

namespace detail {

// Masses are binned by quarters of an octave: narrow enough for few tokens in a bin, and few enough
// bins to be kept at hand. Masses 1 to 3 have a bin or two for their octave.
inline constexpr std::int32_t mass_bins = 4 * 41;

TEV_HOST_DEVICE constexpr std::int32_t mass_bin(std::uint64_t mass) {
  auto const octave = static_cast<std::int32_t>(std::bit_width(mass)) - 1;
  return 4 * octave + (octave < 2 ? 0 : static_cast<std::int32_t>(mass >> (octave - 2) & 3));
}

// The least mass of a bin, or of the next bin that can hold any.
TEV_HOST_DEVICE constexpr std::uint64_t least_mass(std::int32_t bin) {
  std::int32_t const octave = bin / 4;
  auto const quarter = static_cast<std::uint64_t>(bin % 4);
  if (octave < 2) return std::uint64_t{1} << (octave + (quarter != 0 ? 1 : 0));
  return (4 + quarter) << (octave - 2);
}

}  // namespace detail

/// A row whose chunk maxima are known, while its cut is looked for. No row is sorted: each filter
/// names a bracket of places that is small as a rule, and finds its cut there.
template <logit Logit>
struct softmax_cut {
  logit_rows<Logit> const& source;
  node_id row;
  logit_key const* chunk_maxima;  ///< [chunk_count(vocab)], written by the thread that visits them.
  softmax_mass mass;
  cut_space space;

  /// The place of the last token that stays. Cost beside the maxima: top-k, the chunks with the k
  /// largest maxima; top-p, one pass for masses and one for the bracket; min-p, nothing.
  /// Collective.
  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE token_order operator()(Team const& team,
                                                       sampling_parameters const& s) const {
    token_order cut = 0;
    if (s.top_k > 0 && s.top_k < source.vocab) cut = top_k_cut(team, s.top_k);
    if (magnitude_bits(s.top_p) < float_bits(1.0f)) cut = top_p_cut(team, s.top_p, cut);
    if (magnitude_bits(s.min_p) != 0) {
      token_order const floor = floor_of(lowest_key_for(s.min_p));
      cut = cut < floor ? floor : cut;
    }
    return cut;
  }

 private:
  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE token_order top_k_cut(Team const& team, std::int32_t k) const {
    // The k-th largest chunk maximum is a token, so the k-th best token is no worse.
    order_bracket bracket{floor_of(mass.lowest_key(1)), end(), 0};
    auto const chunks = [&](order_bracket const& b, auto&& visit) {
      for (std::int32_t c = team.rank(); c < chunk_count(source.vocab); c += team.size()) {
        token_order const order = order_of(chunk_maxima[c], c);
        if (b.low <= order && order < b.high) visit(order, 1);
      }
    };
    auto const target = static_cast<std::uint64_t>(k);
    bracket.low = floor_of(key_of_order(find_cut(team, bracket, target, space, chunks)));
    return find_cut(team, bracket, target, space, [&](order_bracket const& b, auto&& visit) {
      for_each_member(team, b, [&](token_order order) { visit(order, 1); });
    });
  }

  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE token_order top_p_cut(Team const& team, float share,
                                                      token_order cut) const {
    // Tokens of less mass than this weigh together less than what may be cut off, however much
    // mass the row has: the cut lies above them, so they need no bin.
    std::uint64_t const spare = top_mass - ceil_share(share, top_mass);
    std::uint64_t const least = spare / static_cast<std::uint64_t>(source.vocab);
    logit_key const binned = mass.lowest_key(least == 0 ? 1 : least);
    token_order const massless = floor_of(mass.lowest_key(1));
    cut = cut < massless ? massless : cut;
    std::uint64_t bins[detail::mass_bins] = {};
    std::uint64_t total = 0;
    for_each_member(team, {cut, end(), 0}, [&](token_order order) {
      std::uint64_t const m = mass(key_of_order(order));
      total += m;
      if (key_of_order(order) >= binned) bins[detail::mass_bin(m)] += m;
    });
    total = team.sum(total);
    for (std::uint64_t& bin : bins) bin = team.sum(bin);

    std::uint64_t const wanted = ceil_share(share, total);
    std::uint64_t const target = wanted == 0 ? 1 : wanted;
    std::uint64_t above = 0;
    std::int32_t bin = detail::mass_bins - 1;
    for (; bin > 0 && above + bins[bin] < target; --bin) above += bins[bin];

    bool const topmost = bin >= detail::mass_bin(top_mass);
    token_order const floor = floor_of(mass.lowest_key(detail::least_mass(bin)));
    order_bracket const bracket{
        cut < floor ? floor : cut,
        topmost ? end() : floor_of(mass.lowest_key(detail::least_mass(bin + 1))), above};
    return find_cut(team, bracket, target, space, [&](order_bracket const& b, auto&& visit) {
      for_each_member(team, b, [&](token_order order) { visit(order, mass(key_of_order(order))); });
    });
  }

  // At 1 only tokens of the maximal logit stay; others may share its mass.
  [[nodiscard]] TEV_HOST_DEVICE logit_key lowest_key_for(float min_p) const {
    return magnitude_bits(min_p) >= float_bits(1.0f) ? mass.maximum
                                                     : mass.lowest_key(ceil_share(min_p, top_mass));
  }

  [[nodiscard]] TEV_HOST_DEVICE token_order end() const { return floor_of(mass.maximum + 1); }

  // This thread's tokens inside a bracket, and none of the chunks that hold none.
  template <team Team, class Visit>
  TEV_HOST_DEVICE void for_each_member(Team const& team, order_bracket const& b,
                                       Visit&& visit) const {
    logit_key const lowest = key_of_order(b.low);
    for (std::int32_t c = team.rank(); c < chunk_count(source.vocab); c += team.size()) {
      if (chunk_maxima[c] < lowest) continue;
      source.for_each_key(row, chunk_begin(c), chunk_end(c, source.vocab),
                          [&](token_id x, logit_key key) {
                            if (key < lowest) return;
                            token_order const order = order_of(key, x);
                            if (b.low <= order && order < b.high) visit(order);
                          });
    }
  }
};

}  // namespace tev
