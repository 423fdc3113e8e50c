// The DFlash block drafter on the host: features of the target in, one block of logits out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config.hpp"
#include "kv_cache.hpp"
#include "target.hpp"
#include "tev/core/types.hpp"
#include "thread_pool.hpp"

namespace llm {

/// A DFlash drafter: Qwen3-shaped layers that read the block [anchor, mask, mask, ...]
/// bidirectionally and every position before the anchor through features of the target. Arithmetic
/// is row-independent, so the logits do not depend on how the context was split into calls.
class drafter {
 public:
  /// Reads `config.json` and the checkpoint in `folder`, checks every dtype and shape, and that the
  /// drafter fits `model` (hidden size, layer ids, mask token).
  /// @throws llm::error naming the file and the tensor or field
  [[nodiscard]] static drafter load(std::filesystem::path const& folder, target const& model);

  drafter(drafter&&) noexcept;
  drafter& operator=(drafter&&) noexcept;
  ~drafter();

  [[nodiscard]] drafter_config const& config() const noexcept;

  /// Names of the checkpoint's tensors that this model has no use for.
  [[nodiscard]] std::vector<std::string> const& unused_tensors() const noexcept;

  /// An empty cache for a context of up to `capacity` positions (the block needs no room in it).
  [[nodiscard]] kv_cache make_cache(std::int64_t capacity) const;

  /// Appends n context positions and drafts one block behind them.
  /// features [n, F*h] are the target's features of positions cache.length() ... cache.length() + n
  /// - 1, concatenated in the order of target_layer_ids; n may be 0. `anchor` is the token at
  /// position cache.length() + n. logits [rows, V], 0 <= rows <= block_size - 1, receives block
  /// rows 1..rows: row k is the distribution of the token at the anchor's position + k. Afterwards
  /// the cache holds the context only, n positions longer. On an error it is unchanged. `model`
  /// must be the target this drafter was loaded for: it lends its embedding and its head.
  /// @throws llm::error for an anchor or span size out of range, or a full cache
  void draft(target const& model, std::span<float const> features, token_id anchor, kv_cache& cache,
             std::span<float> logits, thread_pool& pool) const;

 private:
  struct weights;
  explicit drafter(std::unique_ptr<weights> loaded) noexcept;
  void check(target const& model, std::int64_t n, std::int64_t rows, token_id anchor,
             kv_cache const& cache) const;
  std::unique_ptr<weights> weights_;
};

}  // namespace llm
