// Keys and values of the positions a transformer has already read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tev/tree/commit.hpp"

namespace llm {

/// Keys and values per layer, key/value head and slot, in the order the attention reads them.
/// Slot s holds the s-th visible position. Slots [0, length()) are committed; a model writes new
/// rows behind them and then calls advance(). Layouts: keys [layers, kv_heads, ceil(slots / 8),
/// head_dim, 8 slots], values [layers, kv_heads, slots, value_stride] with value_stride = head_dim
/// rounded up to 8; slots = capacity + spare. Padding is zero.
class kv_cache {
 public:
  /// An empty cache. `spare` slots behind the capacity may be written but never committed.
  /// @throws llm::error when a size is below one, spare is negative, or the product overflows
  kv_cache(int layers, int kv_heads, int head_dim, std::int64_t capacity, std::int64_t spare = 0);

  [[nodiscard]] std::int64_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::int64_t length() const noexcept { return length_; }
  /// capacity() plus the spare slots.
  [[nodiscard]] std::int64_t slots() const noexcept { return slots_; }
  [[nodiscard]] int layers() const noexcept { return layers_; }
  [[nodiscard]] int kv_heads() const noexcept { return kv_heads_; }
  [[nodiscard]] int head_dim() const noexcept { return head_dim_; }
  /// Floats from one slot's value row to the next: head_dim rounded up to a multiple of 8.
  [[nodiscard]] std::int64_t value_stride() const noexcept { return value_stride_; }

  /// Forgets every slot from `length` on.
  /// @throws llm::error unless 0 <= length <= length()
  void crop(std::int64_t length);

  /// Copies slot `from` to slot `to` for each move, serially in order, then crops to `length`.
  /// This is how the accepted path of a draft tree becomes contiguous. Nothing is changed on error.
  /// @throws llm::error unless every slot is in [0, length()) and 0 <= length <= length()
  void gather(std::span<tev::slot_move const> moves, std::int64_t length);

  /// Commits the `count` slots behind length().
  /// @throws llm::error when they do not fit the capacity
  void advance(std::int64_t count);

  /// Throws llm::error unless slots [length(), length() + committed + extra) exist and the first
  /// `committed` of them fit the capacity.
  void require(std::int64_t committed, std::int64_t extra = 0) const;

  /// Keys of one layer and head, [ceil(slots / 8), head_dim, 8].
  [[nodiscard]] float const* keys(int layer, int head) const noexcept;
  /// Values of one layer and head, [slots, value_stride].
  [[nodiscard]] float const* values(int layer, int head) const noexcept;

  /// Stores one key [head_dim] and one value [head_dim]; `slot` in [0, slots()), unchecked.
  void put(int layer, int head, std::int64_t slot, float const* key, float const* value) noexcept;

 private:
  int layers_;
  int kv_heads_;
  int head_dim_;
  std::int64_t value_stride_;
  std::int64_t capacity_;
  std::int64_t slots_;
  std::int64_t length_ = 0;
  std::size_t key_plane_;    // floats of one layer and head
  std::size_t value_plane_;  // floats of one layer and head
  std::vector<float> keys_;
  std::vector<float> values_;
};

}  // namespace llm
