// Deterministic normal logits: a benchmark times the same numbers on every machine.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace bench {

/// A stream of normal numbers with mean 0, fixed by its seed. State of one word.
class noise {
 public:
  explicit noise(std::uint64_t seed) : state_(seed) {}

  /// The next number, of standard deviation `deviation`.
  [[nodiscard]] float normal(double deviation) {
    double const radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return static_cast<float>(deviation * radius * std::cos(2.0 * std::numbers::pi * uniform()));
  }

 private:
  // Weyl sequence through a 64-bit finaliser; [0, 1).
  [[nodiscard]] double uniform() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93u;
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93u;
    return static_cast<double>((z ^ (z >> 32)) >> 11) * 0x1p-53;
  }

  std::uint64_t state_;
};

/// Rows of normal logits [rows, vocab].
[[nodiscard]] inline std::vector<float> normal_logits(std::int64_t rows, std::int64_t vocab,
                                                      double deviation, std::uint64_t seed) {
  noise source(seed);
  std::vector<float> logits(static_cast<std::size_t>(rows * vocab));
  for (auto& logit : logits) logit = source.normal(deviation);
  return logits;
}

}  // namespace bench
