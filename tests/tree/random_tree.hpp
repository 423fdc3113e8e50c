// RapidCheck generator of valid draft trees, in any order that puts parents first.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/tree/draft_tree.hpp"

namespace tev_test {

/// A tree of at most `most` nodes whose tokens lie in [0, vocab); siblings carry distinct tokens.
inline tev::draft_tree random_tree(std::int32_t most, std::int32_t vocab) {
  std::vector<tev::node_id> parents{tev::no_node};
  std::vector<tev::token_id> tokens{tev::no_token};
  std::set<std::pair<tev::node_id, tev::token_id>> taken;
  auto const tries = *rc::gen::inRange(0, most);
  for (std::int32_t i = 0; i < tries; ++i) {
    auto const size = static_cast<std::int32_t>(parents.size());
    auto const parent = *rc::gen::inRange(0, size);
    auto const token = *rc::gen::inRange(0, vocab);
    if (!taken.insert({parent, token}).second) continue;
    parents.push_back(parent);
    tokens.push_back(token);
  }
  return tev::draft_tree::from_parents(std::move(parents), std::move(tokens));
}

}  // namespace tev_test
