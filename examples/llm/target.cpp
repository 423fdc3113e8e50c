// Loading and running the target.

#include "target.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "error.hpp"
#include "layer.hpp"
#include "layer_shape.hpp"
#include "matrix.hpp"
#include "norm.hpp"
#include "rotary.hpp"
#include "safetensors.hpp"

namespace llm {

struct target::weights {
  model_config config;
  checkpoint file;  // the embedding rows are read from it
  std::vector<std::string> unused;
  layer_shape shape;
  tensor_view embedding;  // [V, h]
  std::vector<layer_weights> layers;
  std::vector<float> final_norm;  // [h]
  matrix head;                    // [V, h]
  std::vector<float> frequencies;
};

namespace {

/// Throws unless `found` floats are what `what` needs.
void require_size(char const* what, std::size_t found, std::size_t needed) {
  if (found != needed) {
    throw make_error("{}: {} elements were given where {} belong", what, found, needed);
  }
}

/// Throws unless the mask has its words and every row sees itself.
void check_mask(std::span<std::uint32_t const> mask, std::size_t n) {
  if (mask.empty()) return;
  std::size_t const words = (n + 31) / 32;
  require_size("mask", mask.size(), n * words);
  for (std::size_t v = 0; v < n; ++v) {
    if ((mask[v * words + v / 32] >> (v % 32) & 1U) == 0) {
      throw make_error("mask: row {} does not see itself; set bit {} of its words", v, v);
    }
  }
}

}  // namespace

target::target(std::unique_ptr<weights> loaded) noexcept : weights_(std::move(loaded)) {}
target::target(target&&) noexcept = default;
target& target::operator=(target&&) noexcept = default;
target::~target() = default;

target target::load(std::filesystem::path const& folder) {
  auto config = read_model_config(folder);
  auto file = checkpoint::open(folder);
  auto w = std::make_unique<weights>(
      weights{std::move(config), std::move(file), {}, {}, {}, {}, {}, {}, {}});
  w->shape = shape_of(w->config);
  std::int64_t const h = w->config.hidden_size, vocab = w->config.vocab_size;

  w->embedding = w->file.get("model.embed_tokens.weight", {vocab, h});
  if (w->embedding.type == dtype::i64) {
    throw make_error("{}: model.embed_tokens.weight is I64; weights must be BF16, F16 or F32",
                     folder.string());
  }
  for (std::int64_t i = 0; i < w->config.layers; ++i) {
    w->layers.push_back(load_layer(w->file, fmt::format("model.layers.{}.", i), w->shape));
  }
  w->final_norm = to_f32(w->file.get("model.norm.weight", {h}));
  if (w->config.tie_word_embeddings) {
    w->file.mark_used("lm_head.weight");
    w->head = matrix({w->embedding});
  } else {
    w->head = matrix({w->file.get("lm_head.weight", {vocab, h})});
  }
  w->frequencies = rotary_frequencies(w->config.rope_theta, w->config.head_dim);
  w->unused = w->file.unused();
  return target(std::move(w));
}

model_config const& target::config() const noexcept { return weights_->config; }

std::vector<std::string> const& target::unused_tensors() const noexcept { return weights_->unused; }

kv_cache target::make_cache(std::int64_t capacity) const {
  auto const& config = weights_->config;
  return {static_cast<int>(config.layers), static_cast<int>(config.kv_heads),
          static_cast<int>(config.head_dim), capacity};
}

void target::embed(std::span<token_id const> tokens, std::span<float> out) const {
  auto const h = static_cast<std::size_t>(weights_->config.hidden_size);
  require_size("embedding rows", out.size(), tokens.size() * h);
  for (token_id const token : tokens) {
    if (token < 0 || token >= weights_->config.vocab_size) {
      throw make_error("token {}: not in [0, {}), the ids of the target's vocabulary", token,
                       weights_->config.vocab_size);
    }
  }
  tensor_view const& table = weights_->embedding;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::size_t const first = static_cast<std::size_t>(tokens[i]) * h;
    float* const row = out.data() + i * h;
    if (table.type == dtype::bf16) {
      auto const* const bits = bf16_bits(table).data() + first;
      for (std::size_t k = 0; k < h; ++k) {
        row[k] = std::bit_cast<float>(static_cast<std::uint32_t>(bits[k]) << 16);
      }
    } else {
      for (std::size_t k = 0; k < h; ++k) row[k] = element_f32(table, first + k);
    }
  }
}

void target::head(std::span<float const> hidden, std::span<float> logits, thread_pool& pool) const {
  auto const& config = weights_->config;
  auto const h = static_cast<std::size_t>(config.hidden_size);
  std::size_t const rows = hidden.size() / h;
  require_size("hidden states", hidden.size(), rows * h);
  require_size("logits", logits.size(), rows * static_cast<std::size_t>(config.vocab_size));
  if (rows == 0) return;
  multiply(weights_->head, hidden.data(), config.hidden_size, static_cast<std::int64_t>(rows),
           logits.data(), config.vocab_size, product::store, pool);
}

void target::check(forward_rows const& rows, kv_cache const& cache,
                   std::span<std::int64_t const> tap_layers, std::size_t features,
                   std::size_t hidden) const {
  auto const& config = weights_->config;
  std::size_t const n = rows.tokens.size();
  auto const h = static_cast<std::size_t>(config.hidden_size);
  require_size("positions", rows.positions.size(), n);
  require_size("features", features, n * tap_layers.size() * h);
  if (hidden != 0) require_size("hidden states", hidden, n * h);
  check_mask(rows.mask, n);
  for (std::int32_t const position : rows.positions) {
    if (position < 0 || position >= most_positions) {
      throw make_error("position {}: not in [0, {})", position, most_positions);
    }
  }
  for (std::int64_t const layer : tap_layers) {
    if (layer < 0 || layer >= config.layers) {
      throw make_error("feature layer {}: the target has layers 0 to {}", layer, config.layers - 1);
    }
  }
  if (cache.layers() != config.layers || cache.kv_heads() != config.kv_heads ||
      cache.head_dim() != config.head_dim) {
    throw make_error("cache: it was made for another model; use make_cache of this target");
  }
  cache.require(static_cast<std::int64_t>(n));
}

void target::forward(forward_rows const& rows, kv_cache& cache,
                     std::span<std::int64_t const> tap_layers, std::span<float> features,
                     std::span<float> hidden, thread_pool& pool) const {
  check(rows, cache, tap_layers, features.size(), hidden.size());
  auto const n = static_cast<std::int64_t>(rows.tokens.size());
  if (n == 0) return;
  weights const& w = *weights_;
  std::int64_t const h = w.shape.hidden, half = w.shape.head_dim / 2, base = cache.length();

  auto const state = static_cast<std::size_t>(n * h), angles = static_cast<std::size_t>(n * half);
  auto const memory =
      pool.scratch(state + 2 * angles + 16 + scratch_floats(w.shape, n, base + n, pool.size()));
  std::span<float> const x = memory.first(state);
  float* const cosines = x.data() + state;
  float* const sines = cosines + angles;
  std::size_t const used = (state + 2 * angles + 15) / 16 * 16;
  layer_scratch const scratch = carve(memory.data() + used, w.shape, n);

  embed(rows.tokens, x);
  fill_rotary(w.frequencies, rows.positions, cosines, sines);
  visibility const visible{rows.mask.empty() ? visibility::kind::causal : visibility::kind::masked,
                           rows.mask};
  for (std::int64_t layer = 0; layer < w.config.layers; ++layer) {
    run_layer(w.layers[static_cast<std::size_t>(layer)], w.shape, x.data(), n, {cosines, sines},
              cache, static_cast<int>(layer), base, visible, scratch, pool);
    for (std::size_t tap = 0; tap < tap_layers.size(); ++tap) {
      if (tap_layers[tap] != layer) continue;
      std::size_t const stride = tap_layers.size() * static_cast<std::size_t>(h);
      float* to = features.data() + tap * static_cast<std::size_t>(h);
      for (std::int64_t row = 0; row < n; ++row, to += stride) {
        std::copy_n(x.data() + row * h, h, to);
      }
    }
  }
  if (!hidden.empty()) {
    rms_norm_rows(x.data(), w.final_norm.data(), n, h, w.shape.eps, hidden.data(), pool);
  }
  cache.advance(n);
}

}  // namespace llm
