// Rows of raw logits, with the tokens that may not be used and what is added to the others.
#pragma once

#include <concepts>
#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/bfloat16.hpp"
#include "tev/distribution/fixed_point.hpp"
#include "tev/distribution/float16.hpp"
#include "tev/distribution/logit_key.hpp"

namespace tev {

/// What a logit may be stored as.
template <class T>
concept logit = std::same_as<T, float> || std::same_as<T, bfloat16> || std::same_as<T, float16>;

/// Words of a bitmask over `vocab` tokens.
[[nodiscard]] TEV_HOST_DEVICE constexpr std::int32_t bitmask_words(std::int32_t vocab) {
  return vocab / 32 + (vocab % 32 != 0 ? 1 : 0);
}

/// Which tokens a row may use (a grammar's mask): token x when bit x % 32 of word x / 32 is set,
/// lowest bit first. Bits beyond the vocabulary are not looked at. Without words all are allowed.
struct token_bitmask {
  std::uint32_t const* words = nullptr;  ///< [rows, stride]
  std::int64_t stride = 0;               ///< Words between rows, at least bitmask_words(vocab).

  [[nodiscard]] TEV_HOST_DEVICE bool allows(node_id v, token_id x) const {
    return words == nullptr || (words[v * stride + x / 32] >> (x % 32) & 1u) != 0;
  }
};

/// What is added to logits, rounded to single precision, before anything else looks at them
/// (penalties, logit bias). Per node, since what a path has used depends on the path.
///
/// Either a full row per node, or a list of tokens per node, or both. The tokens of a list strictly
/// ascend; with lists that do not, a token may miss its addition, and nothing worse happens.
struct logit_bias {
  float const* rows = nullptr;            ///< [rows, stride]
  std::int64_t stride = 0;                ///< Elements between rows, at least the vocabulary.
  std::int64_t const* offsets = nullptr;  ///< [rows + 1] bounds of the lists
  token_id const* tokens = nullptr;       ///< [offsets[rows]]
  float const* values = nullptr;          ///< [offsets[rows]]

  /// Whether the tokens of a row's list lie in [0, vocab) and strictly ascend. O(list).
  [[nodiscard]] TEV_HOST_DEVICE bool ascends(std::int64_t row, std::int32_t vocab) const {
    if (offsets == nullptr) return true;
    token_id last = -1;
    for (std::int64_t e = offsets[row]; e < offsets[row + 1]; ++e) {
      if (tokens[e] <= last || tokens[e] >= vocab) return false;
      last = tokens[e];
    }
    return true;
  }

  /// First entry of row v's list whose token is not below x.
  [[nodiscard]] TEV_HOST_DEVICE std::int64_t entry_from(node_id v, token_id x) const {
    std::int64_t first = offsets[v], last = offsets[v + 1];
    while (first < last) {
      std::int64_t const middle = first + (last - first) / 2;
      if (tokens[middle] < x)
        first = middle + 1;
      else
        last = middle;
    }
    return first;
  }
};

/// A view of caller-owned logits [rows, stride] with an optional bitmask and an optional bias.
///
/// A token that the bitmask excludes counts as -infinity, and neither its logit nor its bias is
/// looked at.
template <logit Logit>
struct logit_rows {
  Logit const* logits = nullptr;
  std::int64_t stride = 0;  ///< Elements between rows, at least the vocabulary.
  std::int32_t vocab = 0;
  token_bitmask allowed{};
  logit_bias bias{};

  /// Where a token's logit lies in `logits`, in elements.
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int64_t element(std::int64_t row, token_id x) const {
    return row * stride + x;
  }

  /// The same rows from `row` on, which becomes row 0.
  [[nodiscard]] TEV_HOST_DEVICE logit_rows from(std::int64_t row) const {
    logit_rows rest = *this;
    rest.logits += row * stride;
    if (allowed.words != nullptr) rest.allowed.words += row * allowed.stride;
    if (bias.rows != nullptr) rest.bias.rows += row * bias.stride;
    if (bias.offsets != nullptr) rest.bias.offsets += row;
    return rest;
  }

  /// The key of token x after node v, x in [0, vocab).
  [[nodiscard]] TEV_HOST_DEVICE logit_key key(node_id v, token_id x) const {
    if (!allowed.allows(v, x)) return forbidden_key;
    float value = unlisted(v, x);
    if (bias.offsets != nullptr) {
      std::int64_t const entry = bias.entry_from(v, x);
      if (entry < bias.offsets[v + 1] && bias.tokens[entry] == x)
        value = detail::sum(value, bias.values[entry]);
    }
    return key_of(value);
  }

  /// Calls `visit(x, key)` for the tokens [begin, end) in order.
  template <class Visit>
  TEV_HOST_DEVICE void for_each_key(node_id v, token_id begin, token_id end, Visit&& visit) const {
    token_id next = begin;
    if (bias.offsets != nullptr) {
      // Between the tokens of its list a row is like one without.
      for (std::int64_t e = bias.entry_from(v, begin); e < bias.offsets[v + 1]; ++e) {
        token_id const x = bias.tokens[e];
        if (x < next || x >= end) break;
        visit_unlisted(v, next, x, visit);
        visit(x, key(v, x));
        next = x + 1;
      }
    }
    visit_unlisted(v, next, end, visit);
  }

 private:
  [[nodiscard]] TEV_HOST_DEVICE float unlisted(node_id v, token_id x) const {
    float const value = to_float(logits[element(v, x)]);
    return bias.rows == nullptr ? value : detail::sum(value, bias.rows[v * bias.stride + x]);
  }

  template <class Visit>
  TEV_HOST_DEVICE void visit_unlisted(node_id v, token_id begin, token_id end, Visit& visit) const {
    if (allowed.words == nullptr && bias.rows == nullptr) {
      Logit const* const row = logits + element(v, 0);
      for (token_id x = begin; x < end; ++x) visit(x, key_of(to_float(row[x])));
      return;
    }
    for (token_id x = begin; x < end; ++x)
      visit(x, allowed.allows(v, x) ? key_of(unlisted(v, x)) : forbidden_key);
  }
};

}  // namespace tev
