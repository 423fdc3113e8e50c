// byte_pairs: byte-pair merging of one word by rank.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tev/core/types.hpp"

namespace llm {

/// The merges of a byte-pair encoding: which pairs of neighbouring symbols become one, and in
/// which order of preference.
class byte_pairs {
 public:
  /// Adds the merge of `left` and `right` into `merged`, after all merges added before. Returns
  /// false, changing nothing, when the pair has a merge already.
  bool add(tev::token_id left, tev::token_id right, tev::token_id merged);

  /// Appends to `ids` what is left of `symbols` when, until no pair has a merge, the earliest
  /// added merge is applied, at its leftmost place where it has several. O(n log n).
  void merge(std::span<tev::token_id const> symbols, std::vector<tev::token_id>& ids) const;

 private:
  struct rule {
    std::uint32_t rank;
    tev::token_id merged;
  };
  [[nodiscard]] rule const* find(tev::token_id left, tev::token_id right) const;

  std::unordered_map<std::uint64_t, rule> rules_;
};

}  // namespace llm
