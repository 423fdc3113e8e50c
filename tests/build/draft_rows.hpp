// Small draft rows, their paths in order by exact arithmetic, and search over all trees: what the
// builders' tests share.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tev/build/best_first.hpp"
#include "tev/build/concept.hpp"
#include "tev/core/types.hpp"
#include "tev/core/wide.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/tree/path.hpp"

namespace tev_test {

using tev::node_id;
using tev::token_id;
using path = std::vector<token_id>;
using masses = std::vector<std::uint64_t>;

// Draft rows [horizon, vocab] as one array.
struct draft_rows {
  std::int32_t horizon;
  std::int32_t vocab;
  masses all;

  template <class Builder>
  [[nodiscard]] tev::built_tree built_by(Builder const& builder, std::int32_t budget) const {
    tev::mass_storage<std::uint64_t> storage;
    return builder(storage.rows(all.data(), horizon, vocab, vocab), horizon, budget);
  }
  [[nodiscard]] tev::built_tree best(std::int32_t budget) const {
    return built_by(tev::best_first{}, budget);
  }
  [[nodiscard]] std::uint64_t mass(std::size_t depth, token_id x) const {
    return all[depth * static_cast<std::size_t>(vocab) + static_cast<std::size_t>(x)];
  }
  [[nodiscard]] std::uint64_t total(std::size_t depth) const {
    std::uint64_t sum = 0;
    for (token_id x = 0; x < vocab; ++x) sum += mass(depth, x);
    return sum;
  }
  // Place of a token in its row: larger mass first, lower token on ties.
  [[nodiscard]] std::int32_t rank(std::size_t depth, token_id x) const {
    std::int32_t before = 0;
    for (token_id y = 0; y < vocab; ++y)
      before += mass(depth, y) > mass(depth, x) || (mass(depth, y) == mass(depth, x) && y < x);
    return before;
  }
  // Probability of a path times the product of all totals: an integer.
  [[nodiscard]] tev::uint128 weight(path const& p) const {
    tev::uint128 product = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(horizon); ++d)
      product *= d < p.size() ? mass(d, p[d]) : std::max<std::uint64_t>(total(d), 1);
    return product;
  }
};

inline std::vector<path> paths_of(tev::built_tree const& built) {
  std::vector<path> paths;
  for (node_id v = 1; v < built.tree.size(); ++v) paths.push_back(tev::tokens_to(built.tree, v));
  return paths;
}

// Every path of positive probability, in the documented order, by exact arithmetic.
inline std::vector<path> all_paths_in_order(draft_rows const& draft) {
  std::vector<path> paths, level{path{}};
  for (std::int32_t d = 0; d < draft.horizon && draft.total(static_cast<std::size_t>(d)) > 0; ++d) {
    std::vector<path> next;
    for (auto const& p : level)
      for (token_id x = 0; x < draft.vocab; ++x)
        if (draft.mass(p.size(), x) > 0) {
          next.push_back(p);
          next.back().push_back(x);
        }
    paths.insert(paths.end(), next.begin(), next.end());
    level = std::move(next);
  }
  auto const ranks = [&](path const& p) {
    std::vector<std::int32_t> r;
    for (std::size_t d = 0; d < p.size(); ++d) r.push_back(draft.rank(d, p[d]));
    return r;
  };
  std::ranges::sort(paths, [&](path const& a, path const& b) {
    auto const wa = draft.weight(a), wb = draft.weight(b);
    if (wa != wb) return wa > wb;
    return a.size() != b.size() ? a.size() < b.size() : ranks(a) < ranks(b);
  });
  return paths;
}

// Up to three rows; the whole range from the first case on, whatever the size.
inline rc::Gen<draft_rows> drafts(std::int32_t most_vocab, std::uint64_t largest) {
  auto const generator = rc::gen::exec([=] {
    draft_rows d{*rc::gen::inRange(0, 4), *rc::gen::inRange(1, most_vocab + 1), {}};
    d.all = *rc::gen::container<masses>(static_cast<std::size_t>(d.horizon * d.vocab),
                                        rc::gen::inRange<std::uint64_t>(0, largest + 1));
    return d;
  });
  return rc::gen::resize(rc::kNominalSize, generator);
}

// Largest sum of weights over every prefix-closed set of at most `budget` of the paths, which come
// parents first, by adding or leaving out one path after the other.
template <class Weight, class WeightOf>
class tree_search {
 public:
  tree_search(std::vector<path> const& paths, std::size_t budget, WeightOf const& weight_of)
      : paths_(paths), budget_(budget), weight_of_(weight_of) {
    search(0, Weight(0));
  }
  [[nodiscard]] Weight largest() const { return largest_; }

 private:
  void search(std::size_t next, Weight const& sum) {
    if (largest_ < sum) largest_ = sum;
    if (next == paths_.size() || chosen_.size() == budget_) return;
    search(next + 1, sum);
    auto const& p = paths_[next];
    path const parent(p.begin(), p.end() - 1);
    if (!parent.empty() && std::ranges::find(chosen_, parent) == chosen_.end()) return;
    chosen_.push_back(p);
    search(next + 1, sum + weight_of_(p));
    chosen_.pop_back();
  }

  std::vector<path> const& paths_;
  std::size_t budget_;
  WeightOf const& weight_of_;
  std::vector<path> chosen_;
  Weight largest_ = Weight(0);
};

template <class Weight, class WeightOf>
[[nodiscard]] Weight best_sum(std::vector<path> const& paths, std::int32_t budget,
                              WeightOf const& weight_of) {
  return tree_search<Weight, WeightOf>(paths, static_cast<std::size_t>(budget), weight_of)
      .largest();
}

}  // namespace tev_test
