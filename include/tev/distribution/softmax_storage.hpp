// Where the summaries of `softmax_rows` live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tev/core/bits.hpp"
#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/chunks.hpp"
#include "tev/distribution/cut.hpp"
#include "tev/distribution/logit_key.hpp"
#include "tev/distribution/logit_rows.hpp"
#include "tev/distribution/sampling_parameters.hpp"
#include "tev/distribution/softmax_rows.hpp"

namespace tev {

/// Candidates that a filter keeps at hand, unless a caller provides other room: 128 KiB.
inline constexpr std::int32_t default_cut_capacity = 8192;

/// Whether top-k or top-p are on: they look for their cut among candidates.
[[nodiscard]] constexpr bool needs_space(sampling_parameters const& s) {
  return s.top_k > 0 || magnitude_bits(s.top_p) < float_bits(1.0f);
}

/// Throws `argument_error`, which begins with `function`, unless the rows and the sizes of their
/// bitmask and bias can be meant.
template <logit Logit>
void require_rows(char const* function, logit_rows<Logit> const& source, std::int64_t rows) {
  std::int32_t const vocab = source.vocab;
  require_argument(rows >= 0, function, "the number of rows", rows, "at least 0");
  require_argument(vocab > 0 && vocab < vocab_limit, function, "vocab", vocab, "[1, 2^24)");
  require_argument(source.stride >= vocab, function, "stride", source.stride,
                   "at least vocab = ", vocab);
  if (rows > 0) require_given(source.logits, function, "logits");
  if (source.allowed.words != nullptr)
    require_argument(source.allowed.stride >= bitmask_words(vocab), function, "bitmask stride",
                     source.allowed.stride, "at least the ", bitmask_words(vocab),
                     " words of vocab = ", vocab);
  logit_bias const& bias = source.bias;
  if (bias.rows != nullptr)
    require_argument(bias.stride >= vocab, function, "bias stride", bias.stride,
                     "at least vocab = ", vocab);
  if (bias.offsets == nullptr) return;
  require_argument(bias.offsets[0] >= 0, function, "bias offsets[0]", bias.offsets[0],
                   "at least 0");
  for (std::int64_t row = 0; row < rows; ++row)
    require_argument(bias.offsets[row] <= bias.offsets[row + 1], function,
                     array_entry{"bias offsets", row + 1}, bias.offsets[row + 1],
                     "at least the offset before it, ", bias.offsets[row]);
  if (bias.offsets[rows] == 0) return;
  require_given(bias.tokens, function, "bias tokens");
  require_given(bias.values, function, "bias values");
}

/// Owns the summaries of a forward's rows, reused from one forward to the next: 12 bytes per chunk
/// of 1,024 tokens and 48 per row, and room for the filters' candidates.
class softmax_storage {
 public:
  /// A view of `rows` rows; nothing is prepared yet, and the view made before is no longer valid.
  /// Throws `argument_error` on sizes that can't be meant.
  template <logit Logit>
  [[nodiscard]] softmax_rows<Logit> rows(logit_rows<Logit> const& source, std::int32_t rows,
                                         sampling_parameters const& sampling) {
    require_rows("softmax_storage", source, rows);
    auto const chunks = static_cast<std::size_t>(rows) * chunk_count(source.vocab);
    summaries_.assign(static_cast<std::size_t>(rows), {});
    if (chunk_maxima_.size() < chunks) chunk_maxima_.resize(chunks);
    if (chunk_masses_.size() < chunks) chunk_masses_.resize(chunks);
    if (candidates_.empty() && needs_space(sampling)) candidates_.resize(default_cut_capacity);
    return {source,
            sampling,
            summaries_.data(),
            chunk_maxima_.data(),
            chunk_masses_.data(),
            {candidates_.data(), static_cast<std::int32_t>(candidates_.size())}};
  }

  /// The same for plain logits [rows, stride] of which the first `vocab` columns are read.
  template <logit Logit>
  [[nodiscard]] softmax_rows<Logit> rows(Logit const* logits, std::int32_t count,
                                         std::int32_t vocab, std::int64_t stride,
                                         sampling_parameters const& sampling) {
    return rows(logit_rows<Logit>{.logits = logits, .stride = stride, .vocab = vocab}, count,
                sampling);
  }

  /// The same at a temperature, without filters.
  template <logit Logit>
  [[nodiscard]] softmax_rows<Logit> rows(Logit const* logits, std::int32_t count,
                                         std::int32_t vocab, std::int64_t stride,
                                         float temperature) {
    return rows(logits, count, vocab, stride, sampling_parameters{.temperature = temperature});
  }

 private:
  std::vector<row_summary> summaries_;
  std::vector<logit_key> chunk_maxima_;
  std::vector<std::uint64_t> chunk_masses_;
  std::vector<cut_candidate> candidates_;
};

}  // namespace tev
