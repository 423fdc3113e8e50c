// A request with logits, as logits.json and batch.json describe it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "conformance/fields.hpp"
#include "tev/core/bits.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/logit_rows.hpp"
#include "tev/distribution/sampling_parameters.hpp"

namespace conformance {

/// Parameters as a caller stores them: single precision, 32 bits. A temperature above 0 stays
/// above 0.
[[nodiscard]] inline tev::sampling_parameters read_parameters(fields const& from) {
  tev::sampling_parameters s;
  s.temperature = from["temperature"].single();
  if (s.temperature == 0.0f && from["temperature"].real() > 0.0) s.temperature = tev::bits_float(1);
  s.top_k = static_cast<std::int32_t>(std::min<std::int64_t>(
      std::max<std::int64_t>(from["top_k"].integer(), std::numeric_limits<std::int32_t>::min()),
      std::numeric_limits<std::int32_t>::max()));
  s.top_p = from["top_p"].single();
  s.min_p = from["min_p"].single();
  return s;
}

/// Logits of one or more rows [rows, vocab], and a mask for each where there are masks.
struct logit_table {
  std::int32_t vocab = 0;
  std::vector<std::vector<float>> rows;
  std::vector<std::vector<std::uint32_t>> masks;  ///< Empty, or one per row.

  /// Whether a token of a row can't have mass: forbidden, or minus infinity.
  [[nodiscard]] bool impossible(tev::node_id row, tev::token_id token) const {
    if (token < 0 || token >= vocab) return token != tev::no_token;
    auto const v = static_cast<std::size_t>(row), x = static_cast<std::size_t>(token);
    bool const allowed = masks.empty() || (masks[v][x / 32] >> (x % 32) & 1u) != 0;
    return !allowed || rows[v][x] == -std::numeric_limits<float>::infinity();
  }
};

/// Checks that rows and masks have the lengths that `vocab` asks for.
inline void require_lengths(logit_table const& t) {
  for (auto const& row : t.rows)
    if (std::ssize(row) != t.vocab) throw case_error("a row of logits needs vocab entries");
  if (!t.masks.empty() && t.masks.size() != t.rows.size())
    throw case_error("masks needs one mask per row");
  for (auto const& mask : t.masks)
    if (std::ssize(mask) != tev::bitmask_words(t.vocab))
      throw case_error("a mask needs ceil(vocab / 32) words");
}

/// The rows of a tree: `logits` and, where given, `masks`.
[[nodiscard]] inline logit_table read_tree_logits(fields const& from, std::int32_t vocab) {
  logit_table t{vocab, {}, {}};
  for (auto const& row : from["logits"].items()) t.rows.push_back(row.singles());
  if (auto const masks = from.find("masks"))
    for (auto const& mask : masks->items()) t.masks.push_back(mask.words());
  require_lengths(t);
  return t;
}

/// Rows in one piece [rows, stride], with `pad` behind each row.
template <class T>
[[nodiscard]] std::vector<T> flattened(std::vector<std::vector<T>> const& rows, std::int64_t stride,
                                       T pad) {
  std::vector<T> flat;
  for (auto const& row : rows) {
    flat.insert(flat.end(), row.begin(), row.end());
    flat.insert(flat.end(), static_cast<std::size_t>(stride) - row.size(), pad);
  }
  return flat;
}

}  // namespace conformance
