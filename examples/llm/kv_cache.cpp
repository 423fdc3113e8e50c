// Storage and moves of kv_cache.

#include "kv_cache.hpp"

#include <algorithm>
#include <limits>

#include "error.hpp"
#include "lanes.hpp"

namespace llm {

namespace {

/// The product of sizes, each at least one.
std::size_t checked_product(std::initializer_list<std::int64_t> sizes) {
  std::size_t product = 1;
  for (std::int64_t const size : sizes) {
    if (__builtin_mul_overflow(product, static_cast<std::size_t>(size), &product) ||
        product > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(float)) {
      throw make_error("cache: the sizes ask for more memory than there is; lower the capacity");
    }
  }
  return product;
}

}  // namespace

kv_cache::kv_cache(int layers, int kv_heads, int head_dim, std::int64_t capacity,
                   std::int64_t spare)
    : layers_(layers), kv_heads_(kv_heads), head_dim_(head_dim), capacity_(capacity) {
  if (layers < 1 || kv_heads < 1 || head_dim < 1 || capacity < 1 || spare < 0 ||
      capacity > (std::int64_t{1} << 40) || spare > (std::int64_t{1} << 40)) {
    throw make_error(
        "cache: layers {}, kv_heads {}, head_dim {}, capacity {} and spare {} do not describe a "
        "cache; all but spare must be positive",
        layers, kv_heads, head_dim, capacity, spare);
  }
  slots_ = capacity + spare;
  value_stride_ = (head_dim + lane_count - 1) / lane_count * lane_count;
  std::int64_t const blocks = (slots_ + lane_count - 1) / lane_count;
  key_plane_ = checked_product({blocks, head_dim, lane_count});
  value_plane_ = checked_product({slots_, value_stride_});
  keys_.resize(checked_product({layers, kv_heads, blocks, head_dim, lane_count}));
  values_.resize(checked_product({layers, kv_heads, slots_, value_stride_}));
}

void kv_cache::crop(std::int64_t length) {
  if (length < 0 || length > length_) {
    throw make_error("cache: cannot crop to {} of {} positions", length, length_);
  }
  length_ = length;
}

void kv_cache::gather(std::span<tev::slot_move const> moves, std::int64_t length) {
  if (length < 0 || length > length_) {
    throw make_error("cache: cannot keep {} of {} positions", length, length_);
  }
  for (auto const& move : moves) {
    if (move.from < 0 || move.from >= length_ || move.to < 0 || move.to >= length_) {
      throw make_error("cache: move from slot {} to slot {} leaves [0, {})", move.from, move.to,
                       length_);
    }
  }
  std::int64_t const d = head_dim_;
  for (std::size_t plane = 0; plane < static_cast<std::size_t>(layers_ * kv_heads_); ++plane) {
    float* const keys = keys_.data() + plane * key_plane_;
    float* const values = values_.data() + plane * value_plane_;
    for (auto const& move : moves) {
      if (move.from == move.to) continue;
      float const* const from =
          keys + move.from / lane_count * d * lane_count + move.from % lane_count;
      float* const to = keys + move.to / lane_count * d * lane_count + move.to % lane_count;
      for (std::int64_t i = 0; i < d; ++i) to[i * lane_count] = from[i * lane_count];
      std::copy_n(values + move.from * value_stride_, value_stride_,
                  values + move.to * value_stride_);
    }
  }
  length_ = length;
}

void kv_cache::require(std::int64_t committed, std::int64_t extra) const {
  if (committed < 0 || committed > capacity_ - length_) {
    throw make_error("cache: {} positions are taken and {} more do not fit its capacity of {}",
                     length_, committed, capacity_);
  }
  if (extra < 0 || extra > slots_ - length_ - committed) {
    throw make_error("cache: a block of {} rows does not fit behind {} positions in {} slots",
                     extra, length_ + committed, slots_);
  }
}

void kv_cache::advance(std::int64_t count) {
  require(count);
  length_ += count;
}

float const* kv_cache::keys(int layer, int head) const noexcept {
  return keys_.data() + static_cast<std::size_t>(layer * kv_heads_ + head) * key_plane_;
}

float const* kv_cache::values(int layer, int head) const noexcept {
  return values_.data() + static_cast<std::size_t>(layer * kv_heads_ + head) * value_plane_;
}

void kv_cache::put(int layer, int head, std::int64_t slot, float const* key,
                   float const* value) noexcept {
  auto const plane = static_cast<std::size_t>(layer * kv_heads_ + head);
  float* const keys = keys_.data() + plane * key_plane_ +
                      slot / lane_count * head_dim_ * lane_count + slot % lane_count;
  for (std::int64_t i = 0; i < head_dim_; ++i) keys[i * lane_count] = key[i];
  std::copy_n(value, head_dim_, values_.data() + plane * value_plane_ + slot * value_stride_);
}

}  // namespace llm
