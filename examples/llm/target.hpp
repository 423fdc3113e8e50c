// The target model: a Qwen3 decoder on the host with row-independent arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config.hpp"
#include "kv_cache.hpp"
#include "tev/core/types.hpp"
#include "thread_pool.hpp"

namespace llm {

using tev::token_id;

/// n new rows of one forward pass.
struct forward_rows {
  std::span<token_id const> tokens;         ///< [n] ids in [0, vocab_size)
  std::span<std::int32_t const> positions;  ///< [n] absolute positions in [0, 2^24)
  /// [n, ceil(n / 32)] words, lowest bit first: bit u of row v says that new row u is visible to
  /// new row v. Every cached row always is. Empty: causal (u <= v).
  std::span<std::uint32_t const> mask;
};

/// A Qwen3 decoder. All results are row-independent and bitwise reproducible: a row's bits depend
/// on its token, its position and the rows visible to it in ascending slot order, on nothing else
/// (not on the other rows of the call, on how the rows were split into calls, or on the number of
/// threads).
class target {
 public:
  /// Reads `config.json` and the safetensors checkpoint in `folder` and checks every dtype and
  /// shape.
  /// @throws llm::error naming the file and the tensor or field
  [[nodiscard]] static target load(std::filesystem::path const& folder);

  target(target&&) noexcept;
  target& operator=(target&&) noexcept;
  ~target();

  [[nodiscard]] model_config const& config() const noexcept;

  /// Names of the checkpoint's tensors that this model has no use for.
  [[nodiscard]] std::vector<std::string> const& unused_tensors() const noexcept;

  /// An empty cache for up to `capacity` positions.
  [[nodiscard]] kv_cache make_cache(std::int64_t capacity) const;

  /// Runs n new rows behind the cache and appends their keys and values at slots
  /// [cache.length(), cache.length() + n).
  /// features [n, F*h] receives, for each of the F `tap_layers` in order, the residual stream after
  /// that decoder layer (0-based; before the final norm); F = 0 takes an empty span.
  /// hidden [n, h] receives the final-normed states, the input of head(); it may be empty.
  /// n = 0 does nothing. On an error the cache is unchanged.
  /// @throws llm::error for a token, position, layer or span size out of range, or a full cache
  void forward(forward_rows const& rows, kv_cache& cache, std::span<std::int64_t const> tap_layers,
               std::span<float> features, std::span<float> hidden, thread_pool& pool) const;

  /// logits [m, V] of final-normed states hidden [m, h].
  /// @throws llm::error when the sizes do not belong together
  void head(std::span<float const> hidden, std::span<float> logits, thread_pool& pool) const;

  /// Embedding rows out [n, h] of `tokens` [n].
  /// @throws llm::error for an id outside [0, vocab_size) or a wrong size
  void embed(std::span<token_id const> tokens, std::span<float> out) const;

 private:
  struct weights;
  explicit target(std::unique_ptr<weights> loaded) noexcept;
  void check(forward_rows const& rows, kv_cache const& cache,
             std::span<std::int64_t const> tap_layers, std::size_t features,
             std::size_t hidden) const;
  std::unique_ptr<weights> weights_;
};

}  // namespace llm
