// Loading and running one decoder layer.

#include "layer.hpp"

#include <algorithm>
#include <cmath>

#include "lanes.hpp"
#include "math.hpp"
#include "norm.hpp"

namespace llm {

namespace {

/// Floats from one part of the scratch memory to the next: parts start on a cache line.
std::size_t part_floats(std::int64_t count) {
  return static_cast<std::size_t>((count + 15) / 16 * 16);
}

/// query [n, Hq d] in place: norm per head, rotation, scale d^-1/2.
void finish_queries(layer_weights const& w, layer_shape const& shape, std::int64_t n,
                    rotary_table table, float* query) {
  std::int64_t const d = shape.head_dim;
  float const scale = 1.0F / std::sqrt(static_cast<float>(d));
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      float* const x = query + (row * shape.heads + head) * d;
      rms_norm(x, w.query_norm.data(), d, shape.eps, x);
      rotate(x, table.cosines + row * (d / 2), table.sines + row * (d / 2), d / 2);
      for (std::int64_t i = 0; i < d; ++i) x[i] *= scale;
    }
  }
}

/// inner [n, 2 f]: the first half of each row becomes silu(gate) * up.
void activate(std::int64_t n, std::int64_t width, float* inner, thread_pool& pool) {
  std::int64_t const grain = std::max<std::int64_t>(1, (std::int64_t{1} << 16) / width);
  pool.parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* const gate = inner + row * 2 * width;
      float const* const up = gate + width;
      std::int64_t i = 0;
      for (; width - i >= lane_count; i += lane_count) {
        store(gate + i, silu(load(gate + i)) * load(up + i));
      }
      for (; i < width; ++i) gate[i] = silu(gate[i]) * up[i];
    }
  });
}

}  // namespace

layer_weights load_layer(checkpoint& file, std::string const& prefix, layer_shape const& shape) {
  std::int64_t const h = shape.hidden, d = shape.head_dim, f = shape.intermediate;
  std::int64_t const query = shape.heads * d, key = shape.kv_heads * d;
  auto const tensor = [&](char const* name, std::vector<std::int64_t> const& extents) {
    return file.get(prefix + name, extents);
  };
  auto const vector = [&](char const* name, std::int64_t size) {
    return to_f32(tensor(name, {size}));
  };
  layer_weights w;
  w.input_norm = vector("input_layernorm.weight", h);
  w.attention_norm = vector("post_attention_layernorm.weight", h);
  w.query_norm = vector("self_attn.q_norm.weight", d);
  w.key_norm = vector("self_attn.k_norm.weight", d);
  w.query = matrix({tensor("self_attn.q_proj.weight", {query, h})});
  w.key_value = matrix(
      {tensor("self_attn.k_proj.weight", {key, h}), tensor("self_attn.v_proj.weight", {key, h})});
  w.output = matrix({tensor("self_attn.o_proj.weight", {h, query})});
  w.gate_up =
      matrix({tensor("mlp.gate_proj.weight", {f, h}), tensor("mlp.up_proj.weight", {f, h})});
  w.down = matrix({tensor("mlp.down_proj.weight", {h, f})});
  return w;
}

std::size_t scratch_floats(layer_shape const& shape, std::int64_t n, std::int64_t slots,
                           int threads) {
  std::int64_t const query = shape.heads * shape.head_dim;
  return part_floats(n * shape.hidden) + 2 * part_floats(n * query) +
         part_floats(n * 2 * shape.kv_heads * shape.head_dim) +
         part_floats(n * 2 * shape.intermediate) +
         static_cast<std::size_t>(threads) * score_floats(slots);
}

layer_scratch carve(float* memory, layer_shape const& shape, std::int64_t n) {
  auto const take = [&](std::int64_t count) {
    float* const part = memory;
    memory += part_floats(count);
    return part;
  };
  std::int64_t const query = shape.heads * shape.head_dim;
  layer_scratch scratch{};
  scratch.normed = take(n * shape.hidden);
  scratch.query = take(n * query);
  scratch.mixed = take(n * query);
  scratch.kv = take(n * 2 * shape.kv_heads * shape.head_dim);
  scratch.inner = take(n * 2 * shape.intermediate);
  scratch.scores = memory;
  return scratch;
}

void append_keys(layer_weights const& w, layer_shape const& shape, float const* x, std::int64_t n,
                 rotary_table table, kv_cache& cache, int layer, std::int64_t slot, float* kv,
                 thread_pool& pool) {
  std::int64_t const d = shape.head_dim, width = 2 * shape.kv_heads * d;
  multiply(w.key_value, x, shape.hidden, n, kv, width, product::store, pool);
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
      float* const key = kv + row * width + head * d;
      rms_norm(key, w.key_norm.data(), d, shape.eps, key);
      rotate(key, table.cosines + row * (d / 2), table.sines + row * (d / 2), d / 2);
      cache.put(layer, static_cast<int>(head), slot + row, key, key + shape.kv_heads * d);
    }
  }
}

void run_layer(layer_weights const& w, layer_shape const& shape, float* x, std::int64_t n,
               rotary_table table, kv_cache& cache, int layer, std::int64_t base,
               visibility const& visible, layer_scratch const& scratch, thread_pool& pool) {
  std::int64_t const h = shape.hidden, f = shape.intermediate;
  std::int64_t const query = shape.heads * shape.head_dim;

  rms_norm_rows(x, w.input_norm.data(), n, h, shape.eps, scratch.normed, pool);
  append_keys(w, shape, scratch.normed, n, table, cache, layer, base, scratch.kv, pool);
  multiply(w.query, scratch.normed, h, n, scratch.query, query, product::store, pool);
  finish_queries(w, shape, n, table, scratch.query);
  attend(shape, scratch.query, n, cache, layer, base, visible, scratch.scores, scratch.mixed, pool);
  multiply(w.output, scratch.mixed, query, n, x, h, product::add, pool);

  rms_norm_rows(x, w.attention_norm.data(), n, h, shape.eps, scratch.normed, pool);
  multiply(w.gate_up, scratch.normed, h, n, scratch.inner, 2 * f, product::store, pool);
  activate(n, f, scratch.inner, pool);
  multiply(w.down, scratch.inner, 2 * f, n, x, h, product::add, pool);
}

}  // namespace llm
