// The product against one scalar chain per element: equal bits for every size and number of rows.

#include "llm/matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "llm/safetensors.hpp"
#include "llm/thread_pool.hpp"
#include "model_support.hpp"

namespace {

using llm_test::floats;
using llm_test::random_floats;

/// Weights [out, in] whose values bf16 holds exactly, with views of either type.
struct weights {
  weights(std::mt19937& source, std::int64_t out, std::int64_t in)
      : outputs(out),
        inputs(in),
        values(random_floats(source, static_cast<std::size_t>(out * in))) {
    for (float& value : values) {
      std::uint32_t const kept = std::bit_cast<std::uint32_t>(value) & 0xffff0000U;
      value = std::bit_cast<float>(kept);
      bits.push_back(static_cast<std::uint16_t>(kept >> 16));
    }
  }
  [[nodiscard]] llm::tensor_view bf16() const {
    return {"w", llm::dtype::bf16, {outputs, inputs}, std::as_bytes(std::span(bits))};
  }
  [[nodiscard]] llm::tensor_view f32() const {
    return {"w", llm::dtype::f32, {outputs, inputs}, std::as_bytes(std::span(values))};
  }

  std::int64_t outputs;
  std::int64_t inputs;
  floats values;
  std::vector<std::uint16_t> bits;
};

/// x [n, in] w^T by one chain per element.
floats by_chains(weights const& w, floats const& x, std::int64_t n) {
  floats y;
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t out = 0; out < w.outputs; ++out) {
      float chain = 0;
      for (std::int64_t k = 0; k < w.inputs; ++k) {
        chain = std::fma(x[static_cast<std::size_t>(row * w.inputs + k)],
                         w.values[static_cast<std::size_t>(out * w.inputs + k)], chain);
      }
      y.push_back(chain);
    }
  }
  return y;
}

TEST(Multiply, IsOneChainPerElementForEverySizeAndType) {
  std::mt19937 source(1);
  llm::thread_pool pool;
  for (auto const& [out, in] : std::vector<std::pair<int, int>>{
           {1, 1}, {7, 3}, {16, 5}, {17, 8}, {33, 19}, {64, 12}, {81, 40}, {130, 7}}) {
    weights const w(source, out, in);
    llm::matrix const narrow({w.bf16()}), wide({w.f32()});
    EXPECT_TRUE(narrow.is_bf16());
    EXPECT_FALSE(wide.is_bf16());
    for (std::int64_t n = 1; n <= 14; ++n) {
      floats const x = random_floats(source, static_cast<std::size_t>(n * in));
      floats const expected = by_chains(w, x, n);
      for (auto const* m : {&narrow, &wide}) {
        floats y(expected.size(), -1.0F);
        llm::multiply(*m, x.data(), in, n, y.data(), out, llm::product::store, pool);
        ASSERT_TRUE(llm_test::same_bits(y, expected)) << out << "x" << in << " rows " << n;
      }
    }
  }
}

TEST(Multiply, AddsTheChainToWhatIsThere) {
  std::mt19937 source(2);
  llm::thread_pool pool;
  weights const w(source, 37, 11);
  llm::matrix const m({w.bf16()});
  floats const x = random_floats(source, 5 * 11), before = random_floats(source, 5 * 37);
  floats expected = by_chains(w, x, 5), y = before;
  for (std::size_t i = 0; i < y.size(); ++i) expected[i] = before[i] + expected[i];
  llm::multiply(m, x.data(), 11, 5, y.data(), 37, llm::product::add, pool);
  EXPECT_TRUE(llm_test::same_bits(y, expected));
}

TEST(Multiply, LeavesWhatLiesBetweenTheRowsAlone) {
  std::mt19937 source(3);
  llm::thread_pool pool;
  weights const w(source, 18, 6);
  llm::matrix const m({w.bf16()});
  floats const x = random_floats(source, 7 * 10);
  floats packed, y(7 * 20, 5.0F);
  for (std::size_t row = 0; row < 7; ++row) {
    packed.insert(packed.end(), &x[row * 10], &x[row * 10] + 6);
  }
  llm::multiply(m, x.data(), 10, 7, y.data(), 20, llm::product::store, pool);
  floats const expected = by_chains(w, packed, 7);
  for (std::size_t row = 0; row < 7; ++row) {
    EXPECT_TRUE(llm_test::same_bits(std::span(y).subspan(row * 20, 18),
                                    std::span(expected).subspan(row * 18, 18)));
    EXPECT_EQ(y[row * 20 + 18], 5.0F);
    EXPECT_EQ(y[row * 20 + 19], 5.0F);
  }
}

TEST(Multiply, DoesNotDependOnTheThreads) {
  std::mt19937 source(4);
  weights const w(source, 1000, 300);
  llm::matrix const m({w.bf16()});
  floats const x = random_floats(source, 40 * 300);
  floats const expected = by_chains(w, x, 40);
  for (int threads : {1, 2, 3, 7}) {
    llm::thread_pool pool(threads);
    floats y(expected.size());
    llm::multiply(m, x.data(), 300, 40, y.data(), 1000, llm::product::store, pool);
    EXPECT_TRUE(llm_test::same_bits(y, expected)) << threads;
  }
}

TEST(Matrix, StacksItsPartsAndWidensMixedTypes) {
  std::mt19937 source(5);
  llm::thread_pool pool;
  weights const a(source, 10, 9), b(source, 13, 9);
  llm::matrix const both({a.bf16(), b.bf16()}), mixed({a.bf16(), b.f32()});
  EXPECT_EQ(both.outputs(), 23);
  EXPECT_TRUE(both.is_bf16());
  EXPECT_FALSE(mixed.is_bf16());
  floats const x = random_floats(source, 9);
  floats expected = by_chains(a, x, 1), second = by_chains(b, x, 1);
  expected.insert(expected.end(), second.begin(), second.end());
  for (auto const* m : {&both, &mixed}) {
    floats y(23);
    llm::multiply(*m, x.data(), 9, 1, y.data(), 23, llm::product::store, pool);
    EXPECT_TRUE(llm_test::same_bits(y, expected));
  }
}

TEST(Matrix, RefusesIntegers) {
  std::vector<std::int64_t> const values(4);
  llm::tensor_view const view{"w", llm::dtype::i64, {2, 2}, std::as_bytes(std::span(values))};
  llm_test::expect_error([&] { llm::matrix const m({view}); }, {"w", "I64"});
}

}  // namespace
