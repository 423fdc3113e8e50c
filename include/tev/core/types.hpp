// Identifiers shared by every part of tev.
#pragma once

#include <cstdint>

namespace tev {

/// Index of a node in a draft tree: 0 is the root, parents come before their children.
using node_id = std::int32_t;

/// Index of a token in the vocabulary.
using token_id = std::int32_t;

/// The value that stands for "there is no such node": the root's parent, the end of a list.
inline constexpr node_id no_node = -1;

/// The value that stands for "no token can be given": a row without mass, an unfilled slot.
inline constexpr token_id no_token = -1;

/// Vocabularies are smaller than this: a token, and a purpose beside it, fit one 32-bit word.
inline constexpr std::int32_t vocab_limit = 1 << 24;

}  // namespace tev
