// Host-side owner of what `softmax_rows` keeps of its rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/softmax_rows.hpp"

namespace tev {

/// Summaries of a forward's rows, reused from one forward to the next: 12 bytes per chunk of 1,024
/// tokens and 32 per row.
class softmax_storage {
 public:
  /// A view of `rows` rows of `vocab` logits, `stride` elements apart; nothing is prepared yet. The
  /// view made before is no longer valid. Throws `argument_error` on sizes that can't be meant.
  template <logit Logit>
  [[nodiscard]] softmax_rows<Logit> rows(Logit const* logits, std::int32_t rows, std::int32_t vocab,
                                         std::int64_t stride, float temperature) {
    require(rows >= 0, "softmax_storage: rows is " + std::to_string(rows) + ", needs >= 0");
    require(vocab > 0 && vocab < vocab_limit,
            "softmax_storage: vocab is " + std::to_string(vocab) + ", needs to be in [1, 2^24)");
    require(stride >= vocab, "softmax_storage: stride is " + std::to_string(stride) +
                                 ", needs at least vocab = " + std::to_string(vocab));
    auto const chunks = static_cast<std::size_t>(rows) * chunk_count(vocab);
    summaries_.assign(static_cast<std::size_t>(rows), {});
    if (chunk_maxima_.size() < chunks) chunk_maxima_.resize(chunks);
    if (chunk_masses_.size() < chunks) chunk_masses_.resize(chunks);
    return {logits,
            stride,
            vocab,
            temperature,
            summaries_.data(),
            chunk_maxima_.data(),
            chunk_masses_.data()};
  }

 private:
  std::vector<row_summary> summaries_;
  std::vector<logit_key> chunk_maxima_;
  std::vector<std::uint64_t> chunk_masses_;
};

}  // namespace tev
