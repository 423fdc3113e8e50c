// Where the summaries of `softmax_rows` live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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
void require_rows(std::string const& function, logit_rows<Logit> const& source, std::int64_t rows) {
  auto const check = [&](bool good, char const* argument, std::int64_t value,
                         std::string const& need) {
    require(good, function + ": " + argument + " is " + std::to_string(value) + ", needs " + need);
  };
  check(rows >= 0, "rows", rows, "at least 0");
  check(source.vocab > 0 && source.vocab < vocab_limit, "vocab", source.vocab, "[1, 2^24)");
  auto const vocab = "at least vocab = " + std::to_string(source.vocab);
  check(source.stride >= source.vocab, "stride", source.stride, vocab);
  require(source.logits != nullptr || rows == 0, function + ": logits is null");
  std::int32_t const words = bitmask_words(source.vocab);
  check(source.allowed.words == nullptr || source.allowed.stride >= words, "bitmask stride",
        source.allowed.stride, "at least " + std::to_string(words) + " words");
  check(source.bias.rows == nullptr || source.bias.stride >= source.vocab, "bias stride",
        source.bias.stride, vocab);
  bool const lists = source.bias.offsets != nullptr && source.bias.offsets[rows] > 0;
  require(!lists || (source.bias.tokens != nullptr && source.bias.values != nullptr),
          function + ": bias has lists, so its tokens and values may not be null");
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
