// llama.cpp's form of a draft tree: sequences that share the rows of a batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/encoding/link_view.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/concept.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/fault.hpp"
#include "tev/tree/retrieve.hpp"

/// llama.cpp (ggml-org/llama.cpp), as its example `speculative` puts a tree into a `llama_batch`.
///
/// A batch row is one token with its position and the set of sequences it belongs to; a row sees
/// the earlier positions of its sequences. There are no parents: every leaf is a sequence, and the
/// node's set holds the sequences that pass through it. All int32 (`llama_token`, `llama_pos`,
/// `llama_seq_id`). Row v is node v: row 0 the root, which belongs to all of them, a parent before
/// its children. `positions` = root's + depth. Sequence ids are caller-chosen, consecutive from
/// `first_sequence` on, in ascending order of the leaves. After verification the engine keeps one
/// sequence that holds the exit node and drops its tail: no rows move.
namespace tev::llama_cpp {

/// The rows of a tree: sequences of row v are sequences[offsets[v] .. offsets[v + 1]).
struct batch_rows {
  std::vector<token_id> tokens{};         ///< [rows]; the root's is the last emitted token.
  std::vector<std::int32_t> positions{};  ///< [rows]
  std::vector<std::int32_t> offsets{};    ///< [rows + 1]
  std::vector<std::int32_t> sequences{};  ///< [offsets[rows]] ascending in each row.

  friend bool operator==(batch_rows const&, batch_rows const&) = default;
};

/// The rows of a tree whose root has position `root_position`. O(leaves * depth).
template <tree Tree>
[[nodiscard]] batch_rows write(Tree const& t, token_id root_token, std::int32_t root_position,
                               std::int32_t first_sequence = 0) {
  auto const size = static_cast<std::size_t>(t.size());
  batch_rows rows{.positions = positions(t, root_position)};
  std::vector<std::vector<std::int32_t>> members(size);
  std::int32_t sequence = first_sequence;
  for (node_id const leaf : leaves(t)) {
    for (node_id v = leaf; v > 0; v = t.parent(v)) members[v].push_back(sequence);
    members[0].push_back(sequence++);
  }
  rows.offsets.push_back(0);
  for (node_id v = 0; v < t.size(); ++v) {
    rows.tokens.push_back(v == 0 ? root_token : t.token(v));
    rows.sequences.insert(rows.sequences.end(), members[v].begin(), members[v].end());
    rows.offsets.push_back(static_cast<std::int32_t>(rows.sequences.size()));
  }
  return rows;
}

/// Copies the rows into a `llama_batch`, or anything with its members, made by
/// `llama_batch_init(token_capacity, 0, sequence_capacity)`; logits are asked for in every row.
///
/// Sets n_tokens, token, pos, n_seq_id, seq_id, logits. Throws `argument_error` when the rows or a
/// row's sequences exceed what the batch was made for, before anything is written.
template <class Batch>
void fill(batch_rows const& rows, std::int32_t token_capacity, std::int32_t sequence_capacity,
          Batch& batch) {
  auto const count = static_cast<std::int32_t>(rows.tokens.size());
  require_argument(count <= token_capacity, "llama_cpp", "the number of rows", count, "at most ",
                   token_capacity);
  for (std::int32_t v = 0; v < count; ++v)
    require_argument(rows.offsets[v + 1] - rows.offsets[v] <= sequence_capacity, "llama_cpp",
                     array_entry{"the number of sequences of rows", v},
                     rows.offsets[v + 1] - rows.offsets[v], "at most ", sequence_capacity);
  batch.n_tokens = count;
  for (std::int32_t v = 0; v < count; ++v) {
    batch.token[v] = rows.tokens[v];
    batch.pos[v] = rows.positions[v];
    batch.n_seq_id[v] = rows.offsets[v + 1] - rows.offsets[v];
    for (std::int32_t k = 0; k < batch.n_seq_id[v]; ++k)
      batch.seq_id[v][k] = rows.sequences[rows.offsets[v] + k];
    batch.logits[v] = 1;
  }
}

/// Fills `parents` [rows] from positions and sequences, and says whether they describe a tree.
///
/// The parent of a row is the latest earlier row of its sequences, which has to be the same for all
/// of them and one position before. `positions` [rows], `offsets` [rows + 1], `sequences`
/// [offsets[rows]] with ids in [0, last.size()); `last`: scratch, one entry for each sequence id.
/// Faults: size_mismatch (lengths, or offsets that don't ascend), empty, node_range (a sequence id
/// out of range), two_parents (sequences of one row that were apart, or one listed twice),
/// second_root (a sequence that doesn't begin at row 0), unreached (a row without sequences),
/// parent_order (a gap in the positions). O(sequences).
[[nodiscard]] inline tree_check read_parents(std::span<std::int32_t const> positions,
                                             std::span<std::int32_t const> offsets,
                                             std::span<std::int32_t const> sequences,
                                             std::span<node_id> last, std::span<node_id> parents) {
  std::size_t const size = parents.size();
  if (positions.size() != size || offsets.size() != size + 1 || offsets[0] != 0 ||
      static_cast<std::size_t>(offsets[size]) != sequences.size())
    return {tree_fault::size_mismatch, no_node};
  for (std::size_t v = 0; v < size; ++v)
    if (offsets[v] > offsets[v + 1]) return {tree_fault::size_mismatch, static_cast<node_id>(v)};
  if (size == 0) return {tree_fault::empty, no_node};
  for (auto& row : last) row = no_node;
  for (node_id v = 0; v < static_cast<node_id>(size); ++v) {
    auto const own = sequences.subspan(offsets[v], offsets[v + 1] - offsets[v]);
    if (own.empty()) return {tree_fault::unreached, v};
    for (std::size_t k = 0; k < own.size(); ++k) {
      if (own[k] < 0 || static_cast<std::size_t>(own[k]) >= last.size())
        return {tree_fault::node_range, v};
      node_id const before = last[own[k]];
      if (k > 0 && before != parents[v]) return {tree_fault::two_parents, v};
      parents[v] = before;
      last[own[k]] = v;
    }
    if (v > 0 && parents[v] == no_node) return {tree_fault::second_root, v};
    if (v > 0 && std::int64_t{positions[v]} != std::int64_t{positions[parents[v]]} + 1)
      return {tree_fault::parent_order, v};
  }
  return {};
}

/// The tree of such rows. Throws `argument_error` with the first fault and its node.
[[nodiscard]] inline draft_tree read(batch_rows const& rows) {
  // Sequence ids are any numbers: count them through.
  auto known = rows.sequences;
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  auto sequences = rows.sequences;
  for (auto& s : sequences)
    s = static_cast<std::int32_t>(std::ranges::lower_bound(known, s) - known.begin());
  std::vector<node_id> parents(rows.tokens.size()), last(known.size());
  detail::require_tree(read_parents(rows.positions, rows.offsets, sequences, last, parents),
                       "llama_cpp");
  auto tokens = rows.tokens;
  tokens[0] = no_token;
  return draft_tree::from_parents(std::move(parents), std::move(tokens));
}

}  // namespace tev::llama_cpp
