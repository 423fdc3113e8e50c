// Small trees with integer rows: what the law tests are made of.
#pragma once

#include <cstdint>
#include <numeric>
#include <ostream>
#include <utility>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/view.hpp"
#include "tev/verify/concept.hpp"

namespace tev_test {

/// A tree and one row of masses per node, as plain arrays that print and compare.
struct instance {
  std::vector<tev::node_id> parents;  ///< [size]
  std::vector<tev::token_id> tokens;  ///< [size]
  std::int32_t vocab = 1;
  std::vector<std::uint64_t> masses;  ///< [size, vocab]

  friend bool operator==(instance const&, instance const&) = default;
  friend std::ostream& operator<<(std::ostream& out, instance const& i) {
    for (std::size_t v = 0; v < i.parents.size(); ++v) {
      out << "node " << v << ": parent " << i.parents[v] << ", token " << i.tokens[v] << ", row";
      for (std::int32_t x = 0; x < i.vocab; ++x) out << ' ' << i.masses[v * i.vocab + x];
      out << '\n';
    }
    return out;
  }
};

using integer_rows = tev::mass_rows<std::uint64_t>;
using integer_problem = tev::problem<tev::tree_view, integer_rows>;

/// Owns an instance, its links and its summaries, and lends views of them.
class integer_scene {
 public:
  explicit integer_scene(instance i)
      : tree_(tev::draft_tree::from_parents(std::move(i.parents), std::move(i.tokens))),
        vocab_(i.vocab),
        masses_(std::move(i.masses)) {}

  integer_scene(integer_scene&&) = default;
  integer_scene& operator=(integer_scene&&) = default;

  /// A problem whose rows are not prepared; the one lent before is no longer valid.
  [[nodiscard]] integer_problem unprepared(std::uint64_t request = 5, std::uint32_t position = 9) {
    auto const rows = storage_.rows(masses_.data(), tree_.size(), vocab_, vocab_);
    return {tree_.view(), rows, request, position};
  }

  /// The same with every row prepared.
  [[nodiscard]] integer_problem prepared(std::uint64_t request = 5, std::uint32_t position = 9) {
    auto p = unprepared(request, position);
    for (tev::node_id v = 0; v < p.tree.size(); ++v) p.target.prepare(tev::serial_team{}, v);
    return p;
  }

  [[nodiscard]] tev::draft_tree const& tree() const { return tree_; }

 private:
  tev::draft_tree tree_;
  std::int32_t vocab_;
  std::vector<std::uint64_t> masses_;
  tev::mass_storage<std::uint64_t> storage_;
};

/// The least flow unit that every division of the flow divides exactly: the least common multiple,
/// over nodes, of the product of the totals on the path to them. Small rows only: no overflow
/// check.
template <class Problem>
[[nodiscard]] std::uint64_t exact_unit(Problem const& prepared) {
  std::vector<std::uint64_t> product(static_cast<std::size_t>(prepared.tree.size()), 1);
  std::uint64_t unit = 1;
  for (tev::node_id v = 0; v < prepared.tree.size(); ++v) {
    std::uint64_t const total = prepared.target.total(v);
    product[v] = (v == 0 ? 1 : product[prepared.tree.parent(v)]) * (total == 0 ? 1 : total);
    unit = std::lcm(unit, product[v]);
  }
  return unit;
}

}  // namespace tev_test
