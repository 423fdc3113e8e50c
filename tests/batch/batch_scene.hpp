// Requests as values, and the many ways in which they can lie in memory.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "support/generators.hpp"
#include "tev/batch/batch_input.hpp"
#include "tev/batch/executor.hpp"
#include "tev/batch/outcome_storage.hpp"
#include "tev/batch/verify_batch.hpp"
#include "tev/core/types.hpp"

namespace tev_test {

/// One request on its own.
struct request_case {
  std::vector<tev::node_id> parents;
  std::vector<tev::token_id> tokens;
  std::vector<std::vector<float>> logits;  ///< [nodes, vocab], representable in binary16
  std::vector<std::vector<bool>> allowed;  ///< [nodes, vocab]
  std::vector<std::vector<float>> bias;    ///< [nodes, vocab]
  tev::sampling_parameters sampling{};
  std::uint64_t seed = 1;
  std::uint64_t request = 2;
  std::uint32_t position = 3;
  std::int64_t remaining = tev::no_token_limit;
  std::vector<tev::token_id> stop;
};

/// All that a batch says of one request; floats by their bits, rows from the request's first.
struct request_record {
  std::vector<std::int64_t> numbers;
  friend bool operator==(request_record const&, request_record const&) = default;
};

/// How requests lie in memory.
struct memory_layout {
  std::int32_t row_padding = 0;   ///< Columns behind the vocabulary, of NaN.
  std::int32_t node_padding = 0;  ///< Entries behind each tree, of nonsense.
  bool rows_elsewhere = false;    ///< Logits rows in another order than the trees.
  bool lists = false;             ///< Bias as lists and not as full rows.
  std::int32_t width_padding = 0;
};

/// Owns the arrays of a batch of requests.
template <class Logit>
class batch_scene {
 public:
  batch_scene(std::vector<request_case> const& requests, memory_layout layout) : layout_(layout) {
    vocab_ = 1;
    for (auto const& r : requests)
      if (!r.logits.empty()) vocab_ = static_cast<std::int32_t>(r.logits[0].size());
    stride_ = vocab_ + layout.row_padding;
    words_ = tev::bitmask_words(vocab_) + layout.row_padding;
    node_offset_.push_back(0);
    stop_offset_.push_back(0);
    list_offset_.push_back(0);
    for (auto const& r : requests) add_tree(r);
    std::vector<std::size_t> order(requests.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (layout.rows_elsewhere) std::ranges::reverse(order);
    row_offset_.resize(requests.size());
    for (auto const b : order) {
      row_offset_[b] = rows_;
      for (std::size_t v = 0; v < requests[b].logits.size(); ++v) add_row(requests[b], v);
      for (std::int32_t i = 0; i < layout.node_padding; ++i) add_nonsense();
    }
  }

  [[nodiscard]] tev::batch_input<Logit> input() const {
    tev::batch_input<Logit> in;
    in.trees.requests = static_cast<std::int32_t>(counts_.size());
    in.trees.node_offset = node_offset_.data();
    if (layout_.node_padding != 0) in.trees.node_count = counts_.data();
    in.trees.parents = parents_.data();
    in.trees.tokens = tokens_.data();
    if (layout_.rows_elsewhere) in.trees.row_offset = row_offset_.data();
    in.logits.logits = logits_.data();
    in.logits.stride = stride_;
    in.logits.vocab = vocab_;
    in.logits.allowed = {mask_.data(), words_};
    if (layout_.lists) {
      in.logits.bias.offsets = list_offset_.data();
      in.logits.bias.tokens = list_token_.data();
      in.logits.bias.values = list_value_.data();
    } else {
      in.logits.bias.rows = bias_.data();
      in.logits.bias.stride = stride_;
    }
    in.row_count = rows_;
    in.parameters = {temperature_.data(), top_k_.data(),   top_p_.data(),    min_p_.data(),
                     seed_.data(),        request_.data(), position_.data(), remaining_.data(),
                     stop_offset_.data(), stop_.data()};
    return in;
  }

  /// What `verify` makes of every request.
  template <class Verifier, class Executor = tev::inline_executor>
  [[nodiscard]] std::vector<request_record> records(Verifier const& verify,
                                                    Executor const& executor = {}) const {
    auto const in = input();
    std::int32_t const width = 8 + layout_.width_padding;
    tev::outcome_storage out(in.trees.requests, width);
    std::vector<std::byte> workspace(tev::workspace_size(in, executor), std::byte{0xa5});
    tev::verify_batch(verify, in, out.view(), workspace, executor);
    std::vector<request_record> found;
    for (std::int32_t b = 0; b < in.trees.requests; ++b) found.push_back(record(in, out, b, width));
    return found;
  }

 private:
  static request_record record(tev::batch_input<Logit> const& in, tev::outcome_storage const& out,
                               std::int32_t b, std::int32_t width) {
    auto const bits = [](float x) { return std::int64_t{std::bit_cast<std::uint32_t>(x)}; };
    request_record r{{static_cast<std::int64_t>(out.state[b]),
                      static_cast<std::int64_t>(out.fault[b].fault), out.fault[b].node,
                      out.exit_node[b], out.bonus_token[b], out.accepted_length[b],
                      static_cast<std::int64_t>(out.reason[b]), out.emitted_count[b],
                      out.cache_rows[b], out.move_count[b]}};
    for (std::int32_t i = b * width; i < b * width + 8; ++i) {
      std::int64_t const row = out.emitted_row[i];
      for (std::int64_t const n : {std::int64_t{out.path[i]}, std::int64_t{out.emitted[i]},
                                   row < 0 ? row : row - in.trees.first_row(b),
                                   bits(out.log_probability[i]), bits(out.raw_log_probability[i]),
                                   bits(out.margin[i]), out.moves[i].from, out.moves[i].to})
        r.numbers.push_back(n);
    }
    return r;
  }

  static Logit stored(float x) {
    if constexpr (std::same_as<Logit, float>) {
      return x;
    } else if constexpr (std::same_as<Logit, tev::bfloat16>) {
      return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16)};
    } else {
      // Zero, infinities, NaN and the numbers that are normal in both.
      std::uint32_t const bits = std::bit_cast<std::uint32_t>(x);
      std::uint32_t const sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
      if (magnitude == 0) return {static_cast<std::uint16_t>(sign)};
      if (magnitude == 0x7f800000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
      if (magnitude < 0x7f800000u)
        return {static_cast<std::uint16_t>(sign | ((magnitude - (112u << 23)) >> 13))};
      return {0x7e00};
    }
  }

  void add_tree(request_case const& r) {
    parents_.insert(parents_.end(), r.parents.begin(), r.parents.end());
    tokens_.insert(tokens_.end(), r.tokens.begin(), r.tokens.end());
    counts_.push_back(static_cast<std::int32_t>(r.parents.size()));
    for (std::int32_t i = 0; i < layout_.node_padding; ++i) {
      parents_.push_back(-7);
      tokens_.push_back(1 << 30);
    }
    node_offset_.push_back(static_cast<std::int32_t>(parents_.size()));
    temperature_.push_back(r.sampling.temperature);
    top_k_.push_back(r.sampling.top_k);
    top_p_.push_back(r.sampling.top_p);
    min_p_.push_back(r.sampling.min_p);
    seed_.push_back(r.seed);
    request_.push_back(r.request);
    position_.push_back(r.position);
    remaining_.push_back(r.remaining);
    stop_.insert(stop_.end(), r.stop.begin(), r.stop.end());
    stop_offset_.push_back(static_cast<std::int32_t>(stop_.size()));
  }

  void add_row(request_case const& r, std::size_t v) {
    float const poison = std::numeric_limits<float>::quiet_NaN();
    std::size_t const first_word = mask_.size();
    mask_.resize(first_word + static_cast<std::size_t>(words_), ~0u);
    for (std::int32_t x = 0; x < stride_; ++x) {
      logits_.push_back(stored(x < vocab_ ? r.logits[v][x] : poison));
      bias_.push_back(x < vocab_ ? r.bias[v][x] : poison);
      if (x >= vocab_) continue;
      if (!r.allowed[v][x]) mask_[first_word + x / 32] &= ~(1u << (x % 32));
      if (r.bias[v][x] == 0.0f) continue;
      list_token_.push_back(x);
      list_value_.push_back(r.bias[v][x]);
    }
    list_offset_.push_back(static_cast<std::int64_t>(list_token_.size()));
    ++rows_;
  }

  void add_nonsense() {
    float const poison = std::numeric_limits<float>::quiet_NaN();
    logits_.resize(logits_.size() + static_cast<std::size_t>(stride_), stored(poison));
    bias_.resize(bias_.size() + static_cast<std::size_t>(stride_), poison);
    mask_.resize(mask_.size() + static_cast<std::size_t>(words_), 0u);
    list_offset_.push_back(static_cast<std::int64_t>(list_token_.size()));
    ++rows_;
  }

  memory_layout layout_;
  std::int32_t vocab_ = 0;
  std::int64_t stride_ = 0, words_ = 0, rows_ = 0;
  std::vector<std::int32_t> node_offset_, counts_, stop_offset_, top_k_;
  std::vector<std::int64_t> row_offset_, list_offset_, remaining_;
  std::vector<tev::node_id> parents_;
  std::vector<tev::token_id> tokens_, stop_, list_token_;
  std::vector<Logit> logits_;
  std::vector<float> bias_, list_value_, temperature_, top_p_, min_p_;
  std::vector<std::uint32_t> mask_, position_;
  std::vector<std::uint64_t> seed_, request_;
};

/// Requests over `vocab` tokens and up to 7 nodes, some of them bad in some way.
inline rc::Gen<request_case> request_cases(std::int32_t vocab) {
  return rc::gen::exec([vocab] {
    auto const tree = *tree_instances({.nodes = 7, .vocab = vocab});
    request_case r;
    r.parents = tree.parents;
    r.tokens = tree.tokens;
    float const inf = std::numeric_limits<float>::infinity();
    float const nan = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t v = 0; v < r.parents.size(); ++v) {
      auto const logits = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(vocab),
                                                                rc::gen::inRange(-16, 17));
      auto const kinds = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(vocab),
                                                               rc::gen::inRange(0, 60));
      std::vector<float> row, bias;
      std::vector<bool> allowed;
      for (std::int32_t x = 0; x < vocab; ++x) {
        int const kind = kinds[x];
        row.push_back(kind == 0 ? nan : kind == 1 ? inf : kind < 6 ? -inf : 0.25f * logits[x]);
        bias.push_back(kind % 4 == 1 ? 0.5f * (kind % 7) : 0.0f);
        allowed.push_back(kind > 15);
      }
      r.logits.push_back(row);
      r.bias.push_back(bias);
      r.allowed.push_back(allowed);
    }
    r.sampling = {*rc::gen::element(1.0f, 1.0f, 0.7f, 0.0f, 3.0f, -1.0f),
                  *rc::gen::element(0, 0, 1, 2, 5), *rc::gen::element(1.0f, 1.0f, 0.9f, 0.0f, 2.0f),
                  *rc::gen::element(0.0f, 0.0f, 0.3f, 1.0f, 1.5f)};
    r.seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    r.request = *rc::gen::arbitrary<std::uint64_t>();
    r.position = *rc::gen::inRange<std::uint32_t>(0, 100000);
    r.remaining = *rc::gen::element(tev::no_token_limit, std::int64_t{3}, std::int64_t{1},
                                    std::int64_t{0}, std::int64_t{-2});
    if (*rc::gen::inRange(0, 2) == 0) r.stop = {-1, *rc::gen::inRange(0, vocab)};
    int const damage = *rc::gen::inRange(0, 10);
    if (damage == 0 && r.parents.size() > 2) r.parents[1] = 2;
    if (damage == 1 && r.parents.size() > 1) r.tokens[1] = vocab;
    return r;
  });
}

/// A chain over three tokens of which the second is nearly certain.
inline request_case plain_request(std::int32_t nodes) {
  request_case r;
  for (std::int32_t v = 0; v < nodes; ++v) {
    r.parents.push_back(v - 1);
    r.tokens.push_back(1);
    r.logits.push_back({0, 9, 1});
    r.allowed.push_back({true, true, true});
    r.bias.push_back({0, 0, 0});
  }
  return r;
}

}  // namespace tev_test
