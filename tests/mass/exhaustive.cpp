// Every float in [0, 42) octaves through `mass_of_octaves`, and whole rows through `softmax_rows`.
//
// usage: exhaustive full|sample. Prints `name value` lines for run.py, which judges them.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string_view>
#include <thread>
#include <vector>

#include "tev/core/bits.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/fixed_point.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/team/serial_team.hpp"

namespace {

constexpr std::uint32_t end_bits = 0x42280000u;  // 42.0f
constexpr std::uint32_t block_size = 1u << 20;
constexpr std::uint32_t sample_stride = 509;  // Odd, so that every low bit gets its turn.

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 31);
}

// What a run of floats shows; runs are combined in order.
struct findings {
  std::uint64_t hash = 0;
  std::uint64_t floats = 0;
  std::uint64_t not_monotone = 0;
  std::uint64_t out_of_bound = 0;
  double largest_error = 0.0;  // Relative, of masses that the floor can't have changed.
  float largest_at = 0.0f;

  void add(findings const& next) {
    hash = mixed(hash, next.hash);
    floats += next.floats;
    not_monotone += next.not_monotone;
    out_of_bound += next.out_of_bound;
    if (next.largest_error <= largest_error) return;
    largest_error = next.largest_error;
    largest_at = next.largest_at;
  }
};

// The mass before the floor has 24 bits: below 17 octaves it is an integer. From there on all that
// is known of it is mass <= value < mass + 1.
void check_error(float x, std::uint64_t mass, findings& out) {
  if (x < 0x1p-30f) {  // Three quarters of all floats: 2^-x is above 1 - 2^-30.
    if (mass != tev::top_mass) ++out.out_of_bound;
    return;
  }
  double const exact = std::exp2(40.0 - static_cast<double>(x));
  double const value = static_cast<double>(mass);
  double const floored = x < 17.0f ? 0.0 : 1.0;
  if (value > exact * (1.0 + 0x1p-20) || value + floored < exact * (1.0 - 0x1p-20))
    ++out.out_of_bound;
  if (floored != 0.0) return;
  if (std::abs(value - exact) <= out.largest_error * exact) return;
  out.largest_error = std::abs(value - exact) / exact;
  out.largest_at = x;
}

// Looks at the floats first, first + stride, ... below last, as bits.
findings look_at(std::uint32_t first, std::uint32_t last, std::uint32_t stride) {
  findings out;
  std::uint64_t previous =
      first == 0 ? tev::top_mass : tev::mass_of_octaves(tev::bits_float(first - stride));
  for (std::uint32_t bits = first; bits < last; bits += stride) {
    float const x = tev::bits_float(bits);
    std::uint64_t const mass = tev::mass_of_octaves(x);
    out.hash = mixed(out.hash, mass);
    ++out.floats;
    if (mass > previous) ++out.not_monotone;
    previous = mass;
    if (x < 41.0f)
      check_error(x, mass, out);
    else if (mass != 0)
      ++out.out_of_bound;
  }
  return out;
}

findings look_at_all() {
  std::uint32_t const blocks = (end_bits + block_size - 1) / block_size;
  std::vector<findings> found(blocks);
  unsigned const threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> workers;
  for (unsigned worker = 0; worker < threads; ++worker)
    workers.emplace_back([&, worker] {
      for (std::uint32_t b = worker; b < blocks; b += threads)
        found[b] = look_at(b * block_size, std::min(end_bits, (b + 1) * block_size), 1);
    });
  for (auto& worker : workers) worker.join();
  findings all;
  for (auto const& block : found) all.add(block);
  return all;
}

// The logit of one random word, in one of many shapes; integer arithmetic and exact scaling only.
float logit_of_shape(int shape, std::uint32_t word) {
  float const inf = std::numeric_limits<float>::infinity();
  float const unit = static_cast<float>(word >> 8) * 0x1p-23f - 1.0f;  // [-1, 1)
  switch (shape) {
    case 0:
      return unit * 0x1p5f;
    case 1:
      return unit * 0x1.fffffep+127f;
    case 2:
      return tev::bits_float(word & 0x807fffffu);  // Denormals of both signs.
    case 3:
      return (word & 1u) != 0 ? -0.0f : 0.0f;
    case 4:
      return word % 3 == 0 ? -inf : unit * 0x1p3f;
    case 5:
      return -inf;
    default:
      return unit * 0x1p-10f;
  }
}

std::vector<float> logits_of_shape(int shape, std::int32_t vocab) {
  std::vector<float> row;
  std::uint64_t state = 1234567u + static_cast<std::uint64_t>(shape);
  for (std::int32_t x = 0; x < vocab; ++x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    row.push_back(logit_of_shape(shape, static_cast<std::uint32_t>(state >> 32)));
  }
  if (shape == 7) row[vocab / 2] = std::numeric_limits<float>::quiet_NaN();
  if (shape == 8) row[vocab - 1] = std::numeric_limits<float>::infinity();
  return row;
}

std::uint64_t hash_of_rows() {
  constexpr std::int32_t vocab = 2500;
  constexpr float temperatures[] = {0.0f,
                                    -0.0f,
                                    0x1p-149f,
                                    0x1.8p-147f,
                                    0x1p-140f,
                                    1e-40f,
                                    1e-38f,
                                    1.2e-38f,
                                    1e-35f,
                                    0x1p-101f,
                                    0x1p-100f,
                                    1e-20f,
                                    1e-4f,
                                    0.6f,
                                    1.0f,
                                    1.7f,
                                    1e10f,
                                    1e25f,
                                    0x1p100f,
                                    1.5e30f,
                                    1e38f,
                                    0x1p127f,
                                    3e38f,
                                    0x1.8p101f,
                                    -1.0f,
                                    -0x1p-149f,
                                    std::numeric_limits<float>::infinity(),
                                    std::numeric_limits<float>::quiet_NaN()};
  std::uint64_t hash = 0;
  for (int shape = 0; shape < 9; ++shape) {
    auto const logits = logits_of_shape(shape, vocab);
    for (float const temperature : temperatures) {
      tev::softmax_storage storage;
      auto const rows = storage.rows(logits.data(), 1, vocab, vocab, temperature);
      rows.prepare(tev::serial_team{}, 0);
      hash = mixed(hash, static_cast<std::uint64_t>(rows.row_status(0)));
      hash = mixed(hash, rows.total(0));
      for (tev::token_id x = 0; x < vocab; ++x) hash = mixed(hash, rows.mass(0, x));
    }
  }
  return hash;
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view const mode = argc == 2 ? argv[1] : "";
  if (mode != "full" && mode != "sample") {
    std::fprintf(stderr, "usage: exhaustive full|sample\n");
    return 2;
  }
  findings const sample = look_at(0, end_bits, sample_stride);
  findings const all = mode == "full" ? look_at_all() : sample;
  std::printf("floats %" PRIu64 "\n", all.floats);
  std::printf("mass_at_0 %" PRIu64 "\n", tev::mass_of_octaves(0.0f));
  std::printf("not_monotone %" PRIu64 "\n", all.not_monotone);
  std::printf("out_of_bound %" PRIu64 "\n", all.out_of_bound);
  std::printf("largest_error %.6g\n", all.largest_error);
  std::printf("largest_at %.9g\n", static_cast<double>(all.largest_at));
  std::printf("sample_hash %016" PRIx64 "\n", sample.hash);
  std::printf("row_hash %016" PRIx64 "\n", hash_of_rows());
  if (mode == "full") std::printf("full_hash %016" PRIx64 "\n", all.hash);
  return 0;
}
