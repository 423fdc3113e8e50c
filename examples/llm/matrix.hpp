// Weight matrices packed for the host, and the one product everything else is made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "safetensors.hpp"
#include "thread_pool.hpp"

namespace llm {

/// A weight matrix [out, in] cut into panels of 16 outputs. A panel is stored input by input, so
/// that the 16 weights of one input are adjacent; missing outputs of the last panel are zero. bf16
/// weights stay bf16: word j of an input holds output j in its low half and output j + 8 in its
/// high half, so that a shift and a mask expand 16 weights.
class matrix {
 public:
  static constexpr std::int64_t panel = 16;

  matrix() = default;

  /// Stacks the outputs of `parts`, each [out_i, in] with one common `in`. Kept as bf16 when all
  /// parts are, as fp32 otherwise. The views are not needed afterwards.
  /// @throws llm::error for an integer tensor
  explicit matrix(std::initializer_list<tensor_view> parts);

  [[nodiscard]] std::int64_t outputs() const noexcept { return outputs_; }
  [[nodiscard]] std::int64_t inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::int64_t panels() const noexcept { return (outputs_ + panel - 1) / panel; }
  [[nodiscard]] bool is_bf16() const noexcept { return bf16_; }
  /// Panel `index`, [in, 8] words of bf16 pairs or [in, 16] floats; 32 or 64 bytes aligned.
  [[nodiscard]] std::byte const* panel_data(std::int64_t index) const noexcept {
    return reinterpret_cast<std::byte const*>(storage_.data()) + index * panel_bytes();
  }
  [[nodiscard]] std::int64_t panel_bytes() const noexcept {
    return inputs_ * panel * (bf16_ ? 2 : 4);
  }

 private:
  struct alignas(64) line {
    std::array<std::byte, 64> bytes;
  };

  std::int64_t outputs_ = 0;
  std::int64_t inputs_ = 0;
  bool bf16_ = false;
  std::vector<line> storage_;
};

/// What a product does with the memory it is written to.
enum class product { store, add };

/// y [n, out] = x [n, in] w^T, or y += x w^T, with row strides `x_stride` and `y_stride` in floats.
/// Each element is one chain of fused multiply-adds over the inputs in ascending order from 0 (and
/// one addition to y): a row's result does not depend on the other rows or on the threads. x and y
/// do not overlap. O(n in out).
void multiply(matrix const& w, float const* x, std::int64_t x_stride, std::int64_t n, float* y,
              std::int64_t y_stride, product mode, thread_pool& pool);

}  // namespace llm
