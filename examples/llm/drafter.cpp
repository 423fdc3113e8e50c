// Loading and running the drafter.

#include "drafter.hpp"

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

struct drafter::weights {
  drafter_config config;
  std::vector<std::string> unused;
  layer_shape shape;
  matrix combine;                  // fc [h, F h]
  std::vector<float> hidden_norm;  // [h]
  std::vector<float> final_norm;   // [h]
  std::vector<layer_weights> layers;
  std::vector<float> frequencies;
  std::vector<token_id> masks;  // [B - 1], the mask token everywhere
};

namespace {

/// The parts of one draft() in the pool's scratch memory.
struct draft_scratch {
  float* context;  // [n, h]
  float* kv;       // [n, 2 Hk d]
  float* block;    // [B, h]
  float* cosines;  // [n + B, d / 2]
  float* sines;    // [n + B, d / 2]
  layer_scratch layer;
};

draft_scratch take_scratch(layer_shape const& shape, std::int64_t n, std::int64_t block,
                           std::int64_t slots, thread_pool& pool) {
  auto const size = [](std::int64_t count) {
    return static_cast<std::size_t>((count + 15) / 16 * 16);
  };
  std::size_t const context = size(n * shape.hidden);
  std::size_t const kv = size(n * 2 * shape.kv_heads * shape.head_dim);
  std::size_t const states = size(block * shape.hidden);
  std::size_t const angles = size((n + block) * (shape.head_dim / 2));
  std::size_t const own = context + kv + states + 2 * angles;
  float* const memory = pool.scratch(own + scratch_floats(shape, block, slots, pool.size())).data();
  float* const cosines = memory + context + kv + states;
  return {memory,  memory + context, memory + context + kv,
          cosines, cosines + angles, carve(memory + own, shape, block)};
}

/// How many units of `unit` floats there are in `found`; throws when a part is left.
std::int64_t whole(char const* what, std::size_t found, std::int64_t unit) {
  if (found % static_cast<std::size_t>(unit) != 0) {
    throw make_error("{}: {} elements are not a whole number of rows of {}", what, found, unit);
  }
  return static_cast<std::int64_t>(found) / unit;
}

}  // namespace

drafter::drafter(std::unique_ptr<weights> loaded) noexcept : weights_(std::move(loaded)) {}
drafter::drafter(drafter&&) noexcept = default;
drafter& drafter::operator=(drafter&&) noexcept = default;
drafter::~drafter() = default;

drafter drafter::load(std::filesystem::path const& folder, target const& model) {
  auto w = std::make_unique<weights>();
  w->config = read_drafter_config(folder);
  check_fit(w->config, model.config());
  auto file = checkpoint::open(folder);
  w->shape = shape_of(w->config);
  std::int64_t const h = w->config.hidden_size;
  auto const taps = static_cast<std::int64_t>(w->config.target_layer_ids.size());

  w->combine = matrix({file.get("fc.weight", {h, taps * h})});
  w->hidden_norm = to_f32(file.get("hidden_norm.weight", {h}));
  w->final_norm = to_f32(file.get("norm.weight", {h}));
  for (std::int64_t i = 0; i < w->config.layers; ++i) {
    w->layers.push_back(load_layer(file, fmt::format("layers.{}.", i), w->shape));
  }
  w->frequencies = rotary_frequencies(w->config.rope_theta, w->config.head_dim);
  w->masks.assign(static_cast<std::size_t>(w->config.block_size) - 1, w->config.mask_token_id);
  w->unused = file.unused();
  return drafter(std::move(w));
}

drafter_config const& drafter::config() const noexcept { return weights_->config; }

std::vector<std::string> const& drafter::unused_tensors() const noexcept {
  return weights_->unused;
}

kv_cache drafter::make_cache(std::int64_t capacity) const {
  auto const& config = weights_->config;
  return {static_cast<int>(config.layers), static_cast<int>(config.kv_heads),
          static_cast<int>(config.head_dim), capacity, config.block_size};
}

void drafter::check(target const& model, std::int64_t n, std::int64_t rows, token_id anchor,
                    kv_cache const& cache) const {
  auto const& config = weights_->config;
  if (model.config().hidden_size != config.hidden_size ||
      model.config().vocab_size != config.vocab_size) {
    throw make_error("drafter: the target given is not the one it was loaded for");
  }
  if (anchor < 0 || anchor >= config.vocab_size) {
    throw make_error("anchor {}: not in [0, {}), the ids of the target's vocabulary", anchor,
                     config.vocab_size);
  }
  if (rows >= config.block_size) {
    throw make_error("logits: {} rows asked for, but a block of {} drafts at most {}", rows,
                     config.block_size, config.block_size - 1);
  }
  if (cache.layers() != config.layers || cache.kv_heads() != config.kv_heads ||
      cache.head_dim() != config.head_dim) {
    throw make_error("cache: it was made for another model; use make_cache of this drafter");
  }
  cache.require(n, config.block_size);
  if (cache.length() + n + config.block_size > most_positions) {
    throw make_error("anchor position {}: the block does not end before {}", cache.length() + n,
                     most_positions);
  }
}

void drafter::draft(target const& model, std::span<float const> features, token_id anchor,
                    kv_cache& cache, std::span<float> logits, thread_pool& pool) const {
  weights const& w = *weights_;
  std::int64_t const h = w.shape.hidden, half = w.shape.head_dim / 2, size = w.config.block_size;
  std::int64_t const width = w.combine.inputs();
  std::int64_t const n = whole("features", features.size(), width);
  std::int64_t const rows = whole("logits", logits.size(), w.config.vocab_size);
  check(model, n, rows, anchor, cache);

  std::int64_t const first = cache.length(), start = first + n;
  draft_scratch const s = take_scratch(w.shape, n, size, start + size, pool);
  for (std::int64_t i = 0; i < n + size; ++i) {
    auto const position = static_cast<std::int32_t>(first + i);
    fill_rotary(w.frequencies, {&position, 1}, s.cosines + i * half, s.sines + i * half);
  }

  multiply(w.combine, features.data(), width, n, s.context, h, product::store, pool);
  rms_norm_rows(s.context, w.hidden_norm.data(), n, h, w.shape.eps, s.context, pool);
  for (std::size_t i = 0; i < w.layers.size(); ++i) {
    append_keys(w.layers[i], w.shape, s.context, n, {s.cosines, s.sines}, cache,
                static_cast<int>(i), first, s.kv, pool);
  }

  if (rows > 0) {
    auto const state = static_cast<std::size_t>(h);
    model.embed({&anchor, 1}, {s.block, state});
    model.embed(w.masks, {s.block + h, w.masks.size() * state});
    rotary_table const block_table{s.cosines + n * half, s.sines + n * half};
    for (std::size_t i = 0; i < w.layers.size(); ++i) {
      run_layer(w.layers[i], w.shape, s.block, size, block_table, cache, static_cast<int>(i), start,
                {visibility::kind::all, {}}, s.layer, pool);
    }
    float* const drafted = s.block + h;
    rms_norm_rows(drafted, w.final_norm.data(), rows, h, w.shape.eps, drafted, pool);
    model.head({drafted, static_cast<std::size_t>(rows * h)}, logits, pool);
  }
  cache.advance(n);
}

}  // namespace llm
