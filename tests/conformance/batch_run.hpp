// Requests put into one batch, run, and taken out again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/requests.hpp"
#include "tev/batch/thread_executor.hpp"
#include "tev/batch/verify_batch.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/fault.hpp"

namespace conformance {

/// A request as a case gives it.
struct batch_request {
  std::vector<tev::node_id> parents;
  std::vector<tev::token_id> tokens;
  logit_table logits;
  tev::sampling_parameters parameters;
};

/// Everything that may differ between two runs without changing any outcome.
struct batch_layout {
  std::vector<std::size_t> order{};  ///< Which request stands in which slot; some may be left out.
  std::int64_t stride = 0;
  float pad = 0.0f;  ///< What lies behind each row.
  std::int32_t threads = 1;
  std::byte scratch{0};  ///< What the workspace holds before.
};

/// One request's outcome, without what names its place in the batch.
struct batch_outcome {
  tev::status state{};
  tev::tree_check fault{};
  tev::node_id exit_node = 0;
  tev::token_id bonus_token = 0;
  std::int32_t accepted_length = 0;
  std::vector<tev::node_id> path{};
  std::vector<tev::token_id> emitted{};
  std::vector<std::int64_t> emitted_row{};  ///< Counted from the request's first.
  std::vector<std::uint32_t> details{};     ///< Bits of log-probabilities and margins.

  friend bool operator==(batch_outcome const&, batch_outcome const&) = default;
};

/// The arrays of a batch; what they show belongs to them.
class batch_run {
 public:
  batch_run(std::vector<batch_request> const& requests, std::int32_t vocab,
            batch_layout const& layout, std::uint64_t seed)
      : layout_(layout), vocab_(vocab) {
    bool masked = false;
    for (auto const& r : requests) masked |= !r.logits.masks.empty();
    auto const words = static_cast<std::size_t>(tev::bitmask_words(vocab));
    for (std::size_t const i : layout.order) {
      auto const& r = requests[i];
      parents_.insert(parents_.end(), r.parents.begin(), r.parents.end());
      tokens_.insert(tokens_.end(), r.tokens.begin(), r.tokens.end());
      offsets_.push_back(static_cast<std::int32_t>(parents_.size()));
      auto const rows = flattened(r.logits.rows, layout.stride, layout.pad);
      logits_.insert(logits_.end(), rows.begin(), rows.end());
      auto const masks = r.logits.masks.empty()
                             ? std::vector(r.logits.rows.size() * words, 0xffffffffu)
                             : flattened(r.logits.masks, std::ssize(r.logits.masks[0]), 0u);
      if (masked) masks_.insert(masks_.end(), masks.begin(), masks.end());
      temperature_.push_back(r.parameters.temperature);
      top_k_.push_back(r.parameters.top_k);
      top_p_.push_back(r.parameters.top_p);
      min_p_.push_back(r.parameters.min_p);
    }
    seeds_.assign(layout.order.size(), seed);
    positions_.assign(layout.order.size(), 11);
  }
  batch_run(batch_run const&) = delete;
  batch_run& operator=(batch_run const&) = delete;

  /// Rows of the whole batch.
  [[nodiscard]] std::int32_t rows() const { return offsets_.back(); }

  /// First row of each request.
  [[nodiscard]] std::vector<std::int32_t> row_offsets() const {
    return {offsets_.begin(), offsets_.end() - 1};
  }

  /// Names the requests by their slots, which changes their random numbers.
  void name_requests() {
    for (std::size_t slot = 0; slot < layout_.order.size(); ++slot) names_.push_back(slot);
  }

  /// Outcomes by slot. Throws `std::logic_error` when an input was written to.
  template <class Verifier>
  [[nodiscard]] std::vector<batch_outcome> run(Verifier const& verifier) const {
    auto const before = logits_bits();
    auto const in = input();
    auto const count = layout_.order.size();
    std::int32_t const width = std::max(tev::largest_tree(in.trees), 1);
    auto const cells = count * static_cast<std::size_t>(width);
    std::vector<tev::status> state(count);
    std::vector<tev::tree_check> fault(count);
    std::vector<std::int32_t> exit(count, 77), bonus(count, 77), length(count, 77);
    std::vector<std::int32_t> emitted_count(count, 77), path(cells, 77), emitted(cells, 77);
    std::vector<std::int64_t> row(cells, 77);
    std::vector<float> filtered(cells, 77), raw(cells, 77), margin(cells, 77);
    tev::outcome_batch out{.width = width, .state = state.data(), .fault = fault.data()};
    out.exit_node = exit.data();
    out.bonus_token = bonus.data();
    out.accepted_length = length.data();
    out.path = path.data();
    out.emitted_count = emitted_count.data();
    out.emitted = emitted.data();
    out.emitted_row = row.data();
    out.log_probability = filtered.data();
    out.raw_log_probability = raw.data();
    out.margin = margin.data();

    tev::thread_executor const executor{layout_.threads};
    std::vector<std::byte> workspace(tev::workspace_size(in, executor), layout_.scratch);
    tev::verify_batch(verifier, in, out, std::span(workspace), executor);
    if (logits_bits() != before) throw std::logic_error("the logits were written to");

    std::vector<batch_outcome> outcomes;
    for (std::size_t slot = 0; slot < count; ++slot) {
      batch_outcome o{state[slot], fault[slot], exit[slot], bonus[slot], length[slot]};
      for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i) {
        std::size_t const cell = slot * static_cast<std::size_t>(width) + i;
        if (path[cell] != tev::no_node) o.path.push_back(path[cell]);
        if (static_cast<std::int32_t>(i) >= emitted_count[slot]) continue;
        o.emitted.push_back(emitted[cell]);
        o.emitted_row.push_back(row[cell] - offsets_[slot]);
        for (float const x : {filtered[cell], raw[cell], margin[cell]})
          o.details.push_back(std::bit_cast<std::uint32_t>(x));
      }
      outcomes.push_back(o);
    }
    return outcomes;
  }

 private:
  [[nodiscard]] tev::batch_input<float> input() const {
    tev::batch_input<float> in;
    in.trees.requests = static_cast<std::int32_t>(layout_.order.size());
    in.trees.node_offset = offsets_.data();
    in.trees.parents = parents_.data();
    in.trees.tokens = tokens_.data();
    in.logits = {.logits = logits_.data(), .stride = layout_.stride, .vocab = vocab_};
    if (!masks_.empty()) in.logits.allowed = {masks_.data(), tev::bitmask_words(vocab_)};
    in.row_count = rows();
    in.parameters.temperature = temperature_.data();
    in.parameters.top_k = top_k_.data();
    in.parameters.top_p = top_p_.data();
    in.parameters.min_p = min_p_.data();
    in.parameters.seed = seeds_.data();
    in.parameters.position = positions_.data();
    if (!names_.empty()) in.parameters.request = names_.data();
    return in;
  }

  [[nodiscard]] std::vector<std::uint32_t> logits_bits() const {
    std::vector<std::uint32_t> all;
    for (float const x : logits_) all.push_back(std::bit_cast<std::uint32_t>(x));
    return all;
  }

  batch_layout layout_;
  std::int32_t vocab_;
  std::vector<std::int32_t> offsets_{0};
  std::vector<tev::node_id> parents_;
  std::vector<tev::token_id> tokens_;
  std::vector<float> logits_;
  std::vector<std::uint32_t> masks_;
  std::vector<float> temperature_, top_p_, min_p_;
  std::vector<std::int32_t> top_k_;
  std::vector<std::uint64_t> seeds_, names_;
  std::vector<std::uint32_t> positions_;
};

}  // namespace conformance
