// One Qwen3 decoder layer on the host, in the parts that the target and the drafter share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attention.hpp"
#include "kv_cache.hpp"
#include "layer_shape.hpp"
#include "matrix.hpp"
#include "rotary.hpp"
#include "safetensors.hpp"
#include "thread_pool.hpp"

namespace llm {

/// The weights of one layer.
struct layer_weights {
  std::vector<float> input_norm;      ///< [h]
  std::vector<float> attention_norm;  ///< [h], applied after the attention
  std::vector<float> query_norm;      ///< [d]
  std::vector<float> key_norm;        ///< [d]
  matrix query;                       ///< [Hq d, h]
  matrix key_value;                   ///< [2 Hk d, h], keys first
  matrix output;                      ///< [h, Hq d]
  matrix gate_up;                     ///< [2 f, h], gate first
  matrix down;                        ///< [h, f]
};

/// Reads the eleven tensors `prefix`input_layernorm.weight and so on.
/// @throws llm::error for a missing tensor, another shape or an integer dtype
[[nodiscard]] layer_weights load_layer(checkpoint& file, std::string const& prefix,
                                       layer_shape const& shape);

/// Memory of a layer, filled by carve(): pointers into the pool's scratch buffer.
struct layer_scratch {
  float* normed;  ///< [n, h]
  float* query;   ///< [n, Hq d]
  float* mixed;   ///< [n, Hq d], what the attention gives
  float* kv;      ///< [n, 2 Hk d]
  float* inner;   ///< [n, 2 f]
  float* scores;  ///< [threads, score_floats(slots)]
};

/// Floats of layer_scratch for n rows, `slots` visible slots and `threads` threads.
[[nodiscard]] std::size_t scratch_floats(layer_shape const& shape, std::int64_t n,
                                         std::int64_t slots, int threads);

/// Cuts `memory` of at least scratch_floats() floats into the parts of layer_scratch.
[[nodiscard]] layer_scratch carve(float* memory, layer_shape const& shape, std::int64_t n);

/// Keys and values of n rows from their normed states x [n, h], stored at slots [slot, slot + n):
/// key norm and rotation on the keys, neither on the values. `kv` [n, 2 Hk d] is overwritten.
void append_keys(layer_weights const& w, layer_shape const& shape, float const* x, std::int64_t n,
                 rotary_table table, kv_cache& cache, int layer, std::int64_t slot, float* kv,
                 thread_pool& pool);

/// Runs one layer in place on the residual stream x [n, h]; the new rows' keys and values go to
/// slots [base, base + n) and every row sees slots [0, base) and, in ascending order, what
/// `visible` says.
void run_layer(layer_weights const& w, layer_shape const& shape, float* x, std::int64_t n,
               rotary_table table, kv_cache& cache, int layer, std::int64_t base,
               visibility const& visible, layer_scratch const& scratch, thread_pool& pool);

}  // namespace llm
