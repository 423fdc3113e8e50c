// What tests of the transformer share: plain forwards, comparison of bits, checkpoints to alter.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "llm/kv_cache.hpp"
#include "llm/safetensors.hpp"
#include "llm/target.hpp"
#include "llm/thread_pool.hpp"
#include "scratch_folder.hpp"

namespace llm_test {

using tokens = std::vector<llm::token_id>;
using floats = std::vector<float>;
using indices = std::vector<std::int32_t>;

/// The largest absolute difference; NaN or another size is a failure.
inline double largest_difference(std::span<float const> a, std::span<float const> b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    double const difference = std::abs(double{a[i]} - double{b[i]});
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(difference)) return difference;
  }
  return largest;
}

/// Whether two rows have the same bits.
inline bool same_bits(std::span<float const> a, std::span<float const> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// `count` numbers in [-scale, scale].
inline floats random_floats(std::mt19937& source, std::size_t count, float scale = 1.0F) {
  floats values(count);
  for (float& value : values) {
    value = scale * (static_cast<float>(source() >> 8) * 0x1p-23F - 1.0F);
  }
  return values;
}

/// `count` ids below `bound`.
inline tokens random_tokens(std::mt19937& source, std::size_t count, std::int32_t bound = 1019) {
  tokens ids(count);
  for (auto& id : ids) id = static_cast<llm::token_id>(source() % static_cast<unsigned>(bound));
  return ids;
}

/// first, first + 1, ... [count].
inline indices positions_from(std::int64_t first, std::size_t count) {
  indices positions(count);
  std::iota(positions.begin(), positions.end(), static_cast<std::int32_t>(first));
  return positions;
}

/// What one forward pass gives.
struct outputs {
  floats features;  // [n, F h]
  floats hidden;    // [n, h]
  floats logits;    // [n, V]

  friend bool operator==(outputs const& a, outputs const& b) {
    return same_bits(a.features, b.features) && same_bits(a.hidden, b.hidden) &&
           same_bits(a.logits, b.logits);
  }
};

inline std::vector<std::int64_t> const& tiny_taps() {
  static std::vector<std::int64_t> const taps{0, 1, 2};
  return taps;
}

/// Forward and head of `ids` at `positions` behind `cache`.
inline outputs run(llm::target const& model, std::span<llm::token_id const> ids,
                   std::span<std::int32_t const> positions, std::span<std::uint32_t const> mask,
                   llm::kv_cache& cache, llm::thread_pool& pool,
                   std::vector<std::int64_t> const& taps = tiny_taps()) {
  auto const h = static_cast<std::size_t>(model.config().hidden_size);
  auto const vocab = static_cast<std::size_t>(model.config().vocab_size);
  std::size_t const n = ids.size();
  outputs out{floats(n * taps.size() * h), floats(n * h), floats(n * vocab)};
  model.forward({ids, positions, mask}, cache, taps, out.features, out.hidden, pool);
  model.head(out.hidden, out.logits, pool);
  return out;
}

/// Causal forward of `ids` at the positions behind `cache`.
inline outputs run(llm::target const& model, std::span<llm::token_id const> ids,
                   llm::kv_cache& cache, llm::thread_pool& pool) {
  return run(model, ids, positions_from(cache.length(), ids.size()), {}, cache, pool);
}

/// Causal forward of `ids` from an empty cache.
inline outputs run(llm::target const& model, std::span<llm::token_id const> ids,
                   llm::thread_pool& pool) {
  auto cache = model.make_cache(static_cast<std::int64_t>(ids.size()));
  return run(model, ids, cache, pool);
}

/// Row `row` of an array whose rows have `width` numbers.
inline std::span<float const> row_of(floats const& values, std::size_t row, std::size_t width) {
  return std::span(values).subspan(row * width, width);
}

/// Lowest id of the greatest logit.
inline llm::token_id argmax(std::span<float const> logits) {
  return static_cast<llm::token_id>(std::max_element(logits.begin(), logits.end()) -
                                    logits.begin());
}

inline nlohmann::json read_json(std::filesystem::path const& file) {
  return nlohmann::json::parse(read_text(file));
}

inline llm::target const& tiny_target() {
  static llm::target const model = llm::target::load(tiny_models() / "tiny-qwen3");
  return model;
}

/// A checkpoint in memory that a test alters and writes.
struct stored_tensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};
using stored_checkpoint = std::map<std::string, stored_tensor>;

template <class Number>
std::string bytes_of(std::vector<Number> const& values) {
  return {reinterpret_cast<char const*>(values.data()), values.size() * sizeof(Number)};
}

inline stored_checkpoint read_checkpoint(std::filesystem::path const& folder) {
  auto file = llm::checkpoint::open(folder);
  stored_checkpoint tensors;
  for (auto const& name : file.names()) {
    auto const view = file.get(name);
    tensors[name] = {
        std::string(llm::dtype_name(view.type)), view.shape,
        std::string(reinterpret_cast<char const*>(view.bytes.data()), view.bytes.size())};
  }
  return tensors;
}

/// Writes `tensors` as model.safetensors and `config` as config.json.
inline void write_model(scratch_folder const& folder, stored_checkpoint const& tensors,
                        nlohmann::json const& config) {
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (auto const& [name, tensor] : tensors) {
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::uint64_t const length = text.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  folder.write("model.safetensors", bytes + text + data);
  folder.write("config.json", config.dump());
}

/// The same numbers of a BF16 tensor stored as F32.
inline stored_tensor widened(stored_tensor const& tensor) {
  std::vector<float> values(tensor.bytes.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + 2 * i, 2);
    values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  return {"F32", tensor.shape, bytes_of(values)};
}

}  // namespace llm_test
