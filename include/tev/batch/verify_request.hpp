// One request of a batch, from its raw arrays to its outcome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tev/batch/batch_input.hpp"
#include "tev/batch/outcome_batch.hpp"
#include "tev/batch/workspace.hpp"
#include "tev/core/bits.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/log_probability.hpp"
#include "tev/distribution/logit_rows.hpp"
#include "tev/distribution/sampling_parameters.hpp"
#include "tev/distribution/softmax_rows.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/commit.hpp"
#include "tev/tree/links.hpp"
#include "tev/tree/validate.hpp"
#include "tev/tree/view.hpp"
#include "tev/verify/concept.hpp"
#include "tev/verify/finish.hpp"

namespace tev {

namespace detail {

/// A request's tree with its child lists, and what is wrong with it.
struct request_tree {
  tree_view view;
  tree_check check;
};

inline request_tree tree_of(tree_batch const& trees, std::int32_t b, std::int32_t vocab,
                            worker_space const& space) {
  std::int32_t const begin = trees.node_offset[b], size = trees.size(b);
  auto const count = static_cast<std::size_t>(size);
  std::span<node_id const> const parents{trees.parents + begin, count};
  std::span<token_id const> const tokens{trees.tokens + begin, count};
  bool const linked = trees.first_child != nullptr;
  if (size == 0) return {{}, {tree_fault::empty, no_node}};
  request_tree r{{size, parents.data(), tokens.data(), space.first_child, space.next_sibling}, {}};
  if (linked) {
    r.view.children = trees.first_child + begin;
    r.view.siblings = trees.next_sibling + begin;
  }
  if (!trees.trusted)
    r.check = validate({.parents = parents,
                        .tokens = tokens,
                        .vocab_size = vocab,
                        .budget = trees.budget,
                        .check_links = linked,
                        .first_child = {r.view.children, linked ? count : 0},
                        .next_sibling = {r.view.siblings, linked ? count : 0}},
                       {space.scratch, validate_scratch(count)});
  if (!linked) link_children(parents, {space.first_child, count}, {space.next_sibling, count});
  return r;
}

template <logit Logit>
bool biases_ascend(batch_input<Logit> const& in, std::int32_t b) {
  std::int64_t const first = in.trees.first_row(b);
  for (std::int64_t row = first; row < first + in.trees.size(b); ++row)
    if (!in.logits.bias.ascends(row, in.logits.vocab)) return false;
  return true;
}

// Nodes from the root to the exit, if climbing from it leads there in as many steps as the walk
// took: the links of a trusted tree need not agree with its parents.
inline bool climb(tree_view const& t, outcome const& o, std::int32_t width, node_id* path) {
  if (o.accepted_length >= t.size() || o.accepted_length >= width) return false;
  node_id v = o.exit_node;
  for (std::int32_t i = o.accepted_length; i > 0; --i) {
    path[i] = v;
    v = t.parent(v);
    if (v < 0 || v >= path[i]) return false;
  }
  path[0] = v;
  return v == 0;
}

template <class T>
void fill(T* array, std::int64_t begin, std::int64_t end, T value) {
  if (array == nullptr) return;
  for (std::int64_t i = begin; i < end; ++i) array[i] = value;
}

template <class T>
void put(T* array, std::int64_t i, T value) {
  if (array != nullptr) array[i] = value;
}

/// Writes one request's outcome, all of it, in the order in which an engine reads it.
template <logit Logit>
class request_writer {
 public:
  request_writer(batch_input<Logit> const& in, outcome_batch const& out, std::int32_t b,
                 worker_space const& space)
      : in_(in), out_(out), b_(b), begin_(std::int64_t{b} * out.width), space_(space) {}

  void refuse(status state, tree_check check) const {
    write_decision({0, no_token, 0, state}, check, 0);
    write_tokens({.emitted = 0, .accepted = 0, .cache_rows = 0}, 0);
    write_details(nullptr, 0);
    write_moves(0);
  }

  void write(tree_view const& tree, softmax_rows<Logit> const& rows, outcome const& o) const {
    for (std::int32_t i = 1; i <= o.accepted_length; ++i)
      space_.tokens[i - 1] = tree.token(space_.path[i]);
    block_end const end =
        end_of_block(space_.tokens, o.accepted_length, o.bonus_token, in_.parameters.rule(b_));
    if (end.bonus_emitted) space_.tokens[o.accepted_length] = o.bonus_token;
    write_decision(o, {}, o.accepted_length + 1);
    write_tokens(end, end.emitted);
    write_details(&rows, end.emitted);
    write_moves(end.cache_rows);
  }

 private:
  void write_decision(outcome const& o, tree_check check, std::int32_t path_length) const {
    out_.state[b_] = o.state;
    put(out_.fault, b_, check);
    put(out_.exit_node, b_, o.exit_node);
    put(out_.bonus_token, b_, o.bonus_token);
    put(out_.accepted_length, b_, o.accepted_length);
    for (std::int32_t i = 0; i < path_length; ++i) put(out_.path, begin_ + i, space_.path[i]);
    fill(out_.path, begin_ + path_length, begin_ + out_.width, no_node);
  }

  void write_tokens(block_end const& end, std::int32_t count) const {
    put(out_.reason, b_, end.reason);
    put(out_.emitted_count, b_, count);
    put(out_.cache_rows, b_, end.cache_rows);
    for (std::int32_t i = 0; i < count; ++i) {
      put(out_.emitted, begin_ + i, space_.tokens[i]);
      put(out_.emitted_row, begin_ + i, in_.trees.first_row(b_) + space_.path[i]);
    }
    fill(out_.emitted, begin_ + count, begin_ + out_.width, no_token);
    fill(out_.emitted_row, begin_ + count, begin_ + out_.width, std::int64_t{-1});
  }

  void write_details(softmax_rows<Logit> const* rows, std::int32_t count) const {
    serial_team const alone;
    for (std::int32_t i = 0; i < count; ++i) {
      node_id const v = space_.path[i];
      rows->prepare(alone, v);
      if (out_.log_probability != nullptr)
        out_.log_probability[begin_ + i] = tev::log_probability(*rows, v, space_.tokens[i]);
      if (out_.margin != nullptr) out_.margin[begin_ + i] = rows->margin(alone, v);
      if (out_.raw_log_probability != nullptr)
        out_.raw_log_probability[begin_ + i] = raw(*rows, v, space_.tokens[i]);
    }
    float const none = bits_float(0x7fc00000u);
    fill(out_.log_probability, begin_ + count, begin_ + out_.width, none);
    fill(out_.margin, begin_ + count, begin_ + out_.width, none);
    fill(out_.raw_log_probability, begin_ + count, begin_ + out_.width, none);
  }

  [[nodiscard]] float raw(softmax_rows<Logit> rows, node_id v, token_id x) const {
    auto const chunks = std::int64_t{in_.trees.size(b_)} * chunk_count(rows.source.vocab);
    logit_rows<Logit> const plain{.logits = rows.source.from(v).logits,
                                  .stride = rows.source.stride,
                                  .vocab = rows.source.vocab};
    softmax_rows<Logit> const row{.source = plain,
                                  .sampling = {},
                                  .summaries = rows.summaries + in_.trees.size(b_),
                                  .chunk_maxima = rows.chunk_maxima + chunks,
                                  .chunk_masses = rows.chunk_masses + chunks};
    row.summaries[0] = {};
    row.prepare(serial_team{}, 0);
    return tev::raw_log_probability(row, 0, x);
  }

  void write_moves(std::int32_t keep) const {
    slot_move* const moves = out_.moves == nullptr ? nullptr : out_.moves + begin_;
    std::int32_t const count =
        tev::write_moves(space_.path, keep, in_.parameters.position[b_], flat_slots{}, moves).moves;
    put(out_.move_count, b_, count);
    fill(out_.moves, begin_ + count, begin_ + out_.width, slot_move{-1, -1});
  }

  batch_input<Logit> const& in_;
  outcome_batch const& out_;
  std::int32_t b_;
  std::int64_t begin_;
  worker_space const& space_;
};

}  // namespace detail

/// Verifies request b of a checked batch and writes its outcome in full. Touches nothing of other
/// requests and allocates nothing.
template <class Verifier, logit Logit>
void verify_request(Verifier const& verify, batch_input<Logit> const& in, outcome_batch const& out,
                    std::int32_t b, worker_space const& space) {
  detail::request_writer<Logit> const writer(in, out, b, space);
  sampling_parameters const sampling = in.parameters.sampling(b);
  if (!is_valid(sampling) || !detail::biases_ascend(in, b))
    return writer.refuse(status::bad_parameter, {});
  auto const tree = detail::tree_of(in.trees, b, in.logits.vocab, space);
  if (!tree.check.ok()) return writer.refuse(status::bad_tree, tree.check);

  for (node_id v = 0; v < tree.view.size(); ++v) space.summaries[v] = {};
  problem<tree_view, softmax_rows<Logit>> const p{
      .tree = tree.view,
      .target = {.source = in.logits.from(in.trees.first_row(b)),
                 .sampling = sampling,
                 .summaries = space.summaries,
                 .chunk_maxima = space.chunk_maxima,
                 .chunk_masses = space.chunk_masses,
                 .space = {space.candidates, default_cut_capacity}},
      .request = in.parameters.request != nullptr ? in.parameters.request[b] : 0,
      .position = in.parameters.position[b]};
  outcome const o = verify(serial_team{}, p, philox{in.parameters.seed[b]});
  if (o.state == status::bad_parameter) return writer.refuse(o.state, {});
  if (o.state == status::bad_tree || !detail::climb(tree.view, o, out.width, space.path))
    return writer.refuse(status::bad_tree, {tree_fault::link_mismatch, o.exit_node});
  writer.write(tree.view, p.target, o);
}

}  // namespace tev
