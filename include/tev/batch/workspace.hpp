// The caller's buffer, cut into what each worker needs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tev/core/types.hpp"
#include "tev/distribution/chunks.hpp"
#include "tev/distribution/cut.hpp"
#include "tev/distribution/logit_key.hpp"
#include "tev/distribution/softmax_rows.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/tree/validate.hpp"

namespace tev {

/// What the size of a workspace depends on.
struct workspace_shape {
  std::int32_t largest_tree = 1;  ///< Nodes of the largest request, the root included.
  std::int32_t vocab = 1;
  std::int32_t workers = 1;
};

/// One worker's scratch: enough for any one request of the shape. Its content means nothing between
/// requests.
struct worker_space {
  row_summary* summaries;       ///< [largest_tree + 1] The last row is for unfiltered logits.
  logit_key* chunk_maxima;      ///< [largest_tree + 1, chunk_count(vocab)]
  std::uint64_t* chunk_masses;  ///< [largest_tree + 1, chunk_count(vocab)]
  cut_candidate* candidates;    ///< [default_cut_capacity]
  node_id* first_child;         ///< [largest_tree]
  node_id* next_sibling;        ///< [largest_tree]
  node_id* scratch;             ///< [validate_scratch(largest_tree)]
  node_id* path;                ///< [largest_tree]
  token_id* tokens;             ///< [largest_tree]
};

namespace detail {

// Hands out aligned pieces of a buffer, or, without one, counts what they take.
class arena {
 public:
  explicit arena(std::byte* buffer) : buffer_(buffer) {}

  template <class T>
  [[nodiscard]] T* take(std::size_t count) {
    std::size_t const begin = (used_ + alignment - 1) / alignment * alignment;
    used_ = begin + count * sizeof(T);
    return buffer_ == nullptr ? nullptr : reinterpret_cast<T*>(buffer_ + begin);
  }
  [[nodiscard]] std::size_t used() const { return used_; }

  // A cache line, so that workers share none.
  static constexpr std::size_t alignment = 64;

 private:
  std::byte* buffer_;
  std::size_t used_ = 0;
};

inline worker_space take_worker(arena& from, workspace_shape const& shape) {
  auto const nodes = static_cast<std::size_t>(std::max(shape.largest_tree, 1));
  std::size_t const chunks = (nodes + 1) * static_cast<std::size_t>(chunk_count(shape.vocab));
  worker_space w{};
  w.summaries = from.take<row_summary>(nodes + 1);
  w.chunk_maxima = from.take<logit_key>(chunks);
  w.chunk_masses = from.take<std::uint64_t>(chunks);
  w.candidates = from.take<cut_candidate>(default_cut_capacity);
  w.first_child = from.take<node_id>(nodes);
  w.next_sibling = from.take<node_id>(nodes);
  w.scratch = from.take<node_id>(validate_scratch(nodes));
  w.path = from.take<node_id>(nodes);
  w.tokens = from.take<token_id>(nodes);
  return w;
}

}  // namespace detail

/// Bytes of a workspace for batches whose trees, vocabulary and workers are at most these: about
/// 12 bytes per node and 1,024 tokens, and 130 KiB, for each worker. A buffer may be larger and of
/// any alignment, and serves one call at a time.
[[nodiscard]] inline std::size_t workspace_size(workspace_shape const& shape) {
  detail::arena count(nullptr);
  for (std::int32_t worker = 0; worker < shape.workers; ++worker)
    (void)detail::take_worker(count, shape);
  return count.used() + detail::arena::alignment;
}

/// The scratch of one worker in a buffer of at least `workspace_size(shape)` bytes.
[[nodiscard]] inline worker_space space_of_worker(std::byte* buffer, workspace_shape const& shape,
                                                  std::int32_t worker) {
  auto const address = reinterpret_cast<std::uintptr_t>(buffer);
  std::size_t const step = detail::arena::alignment;
  detail::arena count(nullptr);
  (void)detail::take_worker(count, shape);
  std::size_t const share = (count.used() + step - 1) / step * step;
  detail::arena from(buffer + (step - address % step) % step +
                     share * static_cast<std::size_t>(worker));
  return detail::take_worker(from, shape);
}

}  // namespace tev
