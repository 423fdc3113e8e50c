// From a drafter's reduced vocabulary to the target's.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/fault.hpp"
#include "tev/tree/validate.hpp"

namespace tev {

/// A view of the table that such drafters carry (`d2t` in EAGLE-3 checkpoints): draft token i is
/// target token i + offset[i], so that zeros are the identity.
template <std::signed_integral Offset = std::int64_t>
struct vocab_map {
  std::span<Offset const> offset;  ///< [draft vocabulary]
  std::int32_t target_vocab = 0;

  /// The target's token, or -1 when the draft's or the target's is outside its vocabulary. O(1).
  [[nodiscard]] token_id operator()(token_id drafted) const {
    if (drafted < 0 || static_cast<std::size_t>(drafted) >= offset.size()) return no_token;
    std::int64_t const shift = offset[static_cast<std::size_t>(drafted)];
    if (shift < -std::int64_t{drafted} || shift >= std::int64_t{target_vocab} - drafted)
      return no_token;
    return static_cast<token_id>(drafted + shift);
  }
};

/// The tokens of a tree in the target's vocabulary and the first fault of that tree.
struct mapped_tokens {
  std::vector<token_id> tokens;  ///< [size]; the root's is -1. Meant for use when `check` is ok.
  tree_check check;
};

/// Maps the drafted tokens of a tree and checks the tree that results: `token_range` where a draft
/// token is outside the table or maps outside the target's vocabulary, `duplicate_sibling` where
/// siblings map to one token.
///
/// parents, tokens: [size], as in `validate`, which finds whatever else is wrong. O(size log size).
template <class Offset>
[[nodiscard]] mapped_tokens map_tokens(std::span<node_id const> parents,
                                       std::span<token_id const> tokens,
                                       vocab_map<Offset> const& map) {
  mapped_tokens mapped;
  for (std::size_t v = 0; v < tokens.size(); ++v)
    mapped.tokens.push_back(v == 0 ? no_token : map(tokens[v]));
  mapped.check =
      validate({.parents = parents, .tokens = mapped.tokens, .vocab_size = map.target_vocab});
  return mapped;
}

/// The same tree over the target's vocabulary. O(size log size). Throws `argument_error` naming
/// fault and node unless every token maps into it and siblings stay distinct.
template <class Offset>
[[nodiscard]] built_tree map_tokens(built_tree built, vocab_map<Offset> const& map) {
  auto mapped = map_tokens(built.tree.parents(), built.tree.tokens(), map);
  require(mapped.check.ok(), std::string("map_tokens: ") + name(mapped.check.fault) + " at node " +
                                 std::to_string(mapped.check.node));
  std::vector<node_id> parents(built.tree.parents().begin(), built.tree.parents().end());
  built.tree = draft_tree::from_parents(std::move(parents), std::move(mapped.tokens));
  return built;
}

/// The first draft token that leaves the target's vocabulary, or that maps where a lower one does.
struct vocab_map_check {
  tree_fault fault = tree_fault::none;  ///< `token_range` or `duplicate_sibling`.
  token_id drafted = no_token;

  [[nodiscard]] constexpr bool ok() const { return fault == tree_fault::none; }
};

/// Checks a whole table, once when it is loaded: a map that passes can't spoil a tree. Ranges are
/// checked first. O(draft vocabulary log).
template <class Offset>
[[nodiscard]] vocab_map_check validate(vocab_map<Offset> const& map) {
  // All draft tokens as siblings: node i + 1 is token i.
  std::vector<node_id> parents{no_node};
  std::vector<token_id> tokens{no_token};
  for (std::size_t i = 0; i < map.offset.size(); ++i) {
    parents.push_back(0);
    tokens.push_back(static_cast<token_id>(i));
  }
  auto const check = map_tokens<Offset>(parents, tokens, map).check;
  return check.ok() ? vocab_map_check{} : vocab_map_check{check.fault, check.node - 1};
}

/// Another builder's tree over the rows of a reduced vocabulary, in the target's vocabulary.
///
/// Throws `argument_error` when the rows and the table differ in vocabulary, and as the builder and
/// `map_tokens` do.
template <class Builder, std::signed_integral Offset = std::int64_t>
struct mapped_builder {
  Builder builder;
  vocab_map<Offset> map;

  template <draft_rows Draft>
  [[nodiscard]] built_tree operator()(Draft const& draft, std::int32_t horizon,
                                      std::int32_t budget) const {
    require(static_cast<std::size_t>(draft.vocab_size()) == map.offset.size(),
            "mapped_builder: the vocabulary of draft is " + std::to_string(draft.vocab_size()) +
                ", needs the " + std::to_string(map.offset.size()) + " entries of the map");
    return map_tokens(builder(draft, horizon, budget), map);
  }
};

}  // namespace tev
