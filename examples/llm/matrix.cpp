// Packing and the register-tiled product of matrix.hpp.

#include "matrix.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "lanes.hpp"

namespace llm {

namespace {

/// Multiply-adds that are worth waking a thread for.
constexpr std::int64_t work_grain = std::int64_t{1} << 20;

/// Panels computed together for one row, so that enough independent chains hide the latency.
constexpr std::int64_t group = 4;

/// Sixteen weights as two halves.
struct halves {
  lanes low;
  lanes high;
};

/// bf16 weights: a panel is [in, 8] words.
struct bf16_weights {
  static constexpr std::int64_t step = 32;
  static halves at(std::byte const* from) noexcept {
    word_lanes words;
    std::memcpy(&words, from, sizeof words);
    return {std::bit_cast<lanes>(words << 16), std::bit_cast<lanes>(words & 0xffff0000U)};
  }
};

/// fp32 weights: a panel is [in, 16] floats.
struct fp32_weights {
  static constexpr std::int64_t step = 64;
  static halves at(std::byte const* from) noexcept {
    halves h;
    std::memcpy(&h, from, sizeof h);
    return h;
  }
};

struct call {
  matrix const& w;
  float const* x;
  std::int64_t x_stride;
  std::int64_t n;
  float* y;
  std::int64_t y_stride;
  product mode;
};

/// Writes the sixteen outputs of one panel and row; the last panel may have fewer.
inline void emit(call const& c, std::int64_t row, std::int64_t panel, halves value) {
  float* const to = c.y + row * c.y_stride + panel * matrix::panel;
  std::int64_t const width = c.w.outputs() - panel * matrix::panel;
  if (width >= matrix::panel) [[likely]] {
    if (c.mode == product::add) {
      value.low = load(to) + value.low;
      value.high = load(to + lane_count) + value.high;
    }
    store(to, value.low);
    store(to + lane_count, value.high);
    return;
  }
  float part[matrix::panel];
  store(part, value.low);
  store(part + lane_count, value.high);
  for (std::int64_t i = 0; i < width; ++i)
    to[i] = c.mode == product::add ? to[i] + part[i] : part[i];
}

/// `Rows` rows from `row` on times `Panels` panels from `panel` on.
template <class Weights, int Rows, int Panels>
void tile(call const& c, std::int64_t row, std::int64_t panel) {
  lanes low[Rows][Panels] = {};
  lanes high[Rows][Panels] = {};
  std::byte const* const w = c.w.panel_data(panel);
  std::int64_t const panel_bytes = c.w.panel_bytes();
  float const* const x = c.x + row * c.x_stride;
  std::int64_t const inputs = c.w.inputs();
  for (std::int64_t k = 0; k < inputs; ++k) {
#pragma GCC unroll 8
    for (int j = 0; j < Panels; ++j) {
      halves const h = Weights::at(w + j * panel_bytes + k * Weights::step);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) {
        lanes const value = splat(x[r * c.x_stride + k]);
        low[r][j] = fma(value, h.low, low[r][j]);
        high[r][j] = fma(value, h.high, high[r][j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < Panels; ++j) emit(c, row + r, panel + j, {low[r][j], high[r][j]});
  }
}

/// All rows times the panels [begin, end), `Rows` and `Panels` at a time where they suffice.
template <class Weights, int Rows, int Panels>
std::int64_t tiles(call const& c, std::int64_t row, std::int64_t begin, std::int64_t end) {
  for (; c.n - row >= Rows; row += Rows) {
    std::int64_t panel = begin;
    for (; end - panel >= Panels; panel += Panels) tile<Weights, Rows, Panels>(c, row, panel);
    for (; panel < end; ++panel) tile<Weights, Rows, 1>(c, row, panel);
  }
  return row;
}

template <class Weights>
void panels(call const& c, std::int64_t begin, std::int64_t end) {
  std::int64_t row = 0;
  if (c.n >= 6) {
    std::int64_t const full = c.n / 6 * 6;
    for (std::int64_t panel = begin; panel < end; ++panel) {
      for (row = 0; row < full; row += 6) tile<Weights, 6, 1>(c, row, panel);
    }
  }
  if (c.n - row >= 4) row = tiles<Weights, 4, 1>(c, row, begin, end);
  if (c.n - row == 3) row = tiles<Weights, 3, 1>(c, row, begin, end);
  if (c.n - row == 2) row = tiles<Weights, 2, 2>(c, row, begin, end);
  tiles<Weights, 1, group>(c, row, begin, end);
}

}  // namespace

matrix::matrix(std::initializer_list<tensor_view> parts) {
  bf16_ = true;
  for (auto const& part : parts) {
    outputs_ += part.shape.at(0);
    inputs_ = part.shape.at(1);
    bf16_ = bf16_ && part.type == dtype::bf16;
  }
  storage_.resize(static_cast<std::size_t>((panels() * panel_bytes() + 63) / 64));
  auto* const data = reinterpret_cast<std::byte*>(storage_.data());

  std::int64_t first = 0;
  for (auto const& part : parts) {
    std::vector<float> const values = bf16_ ? std::vector<float>{} : to_f32(part);
    std::span<std::uint16_t const> const bits =
        bf16_ ? bf16_bits(part) : std::span<std::uint16_t const>{};
    for (std::int64_t row = 0; row < part.shape[0]; ++row) {
      std::int64_t const output = first + row;
      std::byte* const to = data + output / panel * panel_bytes();
      std::int64_t const column = output % panel;
      auto const from = static_cast<std::size_t>(row * inputs_);
      for (std::int64_t k = 0; k < inputs_; ++k) {
        if (bf16_) {
          std::int64_t const half = k * panel + column % 8 * 2 + column / 8;
          std::memcpy(to + half * 2, &bits[from + static_cast<std::size_t>(k)], 2);
        } else {
          std::memcpy(to + (k * panel + column) * 4, &values[from + static_cast<std::size_t>(k)],
                      4);
        }
      }
    }
    first += part.shape[0];
  }
}

void multiply(matrix const& w, float const* x, std::int64_t x_stride, std::int64_t n, float* y,
              std::int64_t y_stride, product mode, thread_pool& pool) {
  call const c{w, x, x_stride, n, y, y_stride, mode};
  std::int64_t const groups = (w.panels() + group - 1) / group;
  std::int64_t const work = std::max<std::int64_t>(1, n * w.inputs() * group * matrix::panel);
  pool.parallel_for(groups, std::max<std::int64_t>(1, work_grain / work),
                    [&](std::int64_t begin, std::int64_t end, int) {
                      std::int64_t const last = std::min(end * group, w.panels());
                      if (w.is_bf16()) {
                        panels<bf16_weights>(c, begin * group, last);
                      } else {
                        panels<fp32_weights>(c, begin * group, last);
                      }
                    });
}

}  // namespace llm
