// byte_pairs: a linked list of symbols and a heap of the merges that may apply.
#include "byte_pairs.hpp"

#include <cstddef>
#include <queue>
#include <tuple>

namespace llm {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

std::uint64_t key_of(tev::token_id left, tev::token_id right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

/// A symbol in the list; one that was merged into its left neighbour has id -1.
struct symbol {
  tev::token_id id;
  std::size_t previous;
  std::size_t next;
};

/// A merge seen at place `at`; stale unless both symbols are still what they were.
struct candidate {
  std::uint32_t rank;
  std::size_t at;
  tev::token_id left;
  tev::token_id right;
  tev::token_id merged;

  bool operator>(candidate const& other) const {
    return std::tie(rank, at) > std::tie(other.rank, other.at);
  }
};

}  // namespace

bool byte_pairs::add(tev::token_id left, tev::token_id right, tev::token_id merged) {
  auto const rank = static_cast<std::uint32_t>(rules_.size());
  return rules_.try_emplace(key_of(left, right), rule{rank, merged}).second;
}

byte_pairs::rule const* byte_pairs::find(tev::token_id left, tev::token_id right) const {
  auto const found = rules_.find(key_of(left, right));
  return found == rules_.end() ? nullptr : &found->second;
}

void byte_pairs::merge(std::span<tev::token_id const> symbols,
                       std::vector<tev::token_id>& ids) const {
  std::vector<symbol> list;
  list.reserve(symbols.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    list.push_back({symbols[i], i == 0 ? none : i - 1, i + 1 == symbols.size() ? none : i + 1});
  }
  std::priority_queue<candidate, std::vector<candidate>, std::greater<>> heap;
  auto const consider = [&](std::size_t at) {
    if (at == none || list[at].next == none) return;
    tev::token_id const left = list[at].id;
    tev::token_id const right = list[list[at].next].id;
    if (rule const* const found = find(left, right)) {
      heap.push({found->rank, at, left, right, found->merged});
    }
  };
  for (std::size_t i = 0; i + 1 < list.size(); ++i) consider(i);
  while (!heap.empty()) {
    candidate const best = heap.top();
    heap.pop();
    symbol& kept = list[best.at];
    if (kept.id != best.left || kept.next == none || list[kept.next].id != best.right) continue;
    symbol& gone = list[kept.next];
    kept.id = best.merged;
    kept.next = gone.next;
    gone.id = tev::no_token;
    if (kept.next != none) list[kept.next].previous = best.at;
    consider(kept.previous);
    consider(best.at);
  }
  for (std::size_t at = list.empty() ? none : 0; at != none; at = list[at].next) {
    ids.push_back(list[at].id);
  }
}

}  // namespace llm
