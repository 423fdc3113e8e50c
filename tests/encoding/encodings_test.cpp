// Every encoding there and back, alone and in chains; and what damaged arrays do to each.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/encoding/ddtree.hpp"
#include "tev/encoding/link_view.hpp"
#include "tev/encoding/llama_cpp.hpp"
#include "tev/encoding/sglang.hpp"
#include "tev/encoding/tensorrt_llm.hpp"
#include "tev/encoding/xgrammar.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/depth_first.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/fault.hpp"
#include "tev/tree/links.hpp"
#include "tev/tree/path.hpp"
#include "tree/random_tree.hpp"

namespace {

using tev::draft_tree;
using tev::node_id;
using tev::token_id;
using tev::tree_fault;
using nodes = std::vector<node_id>;
using wide = std::vector<std::int64_t>;

// One request's arrays with room for `rows` nodes, each in memory of exactly its size.
template <class Token, class Link>
struct engine_rows {
  std::vector<Token> tokens;
  std::vector<Link> index, children, siblings;

  explicit engine_rows(std::size_t rows)
      : tokens(rows, 77), index(rows, 77), children(rows, 77), siblings(rows, 77) {}
  [[nodiscard]] tev::link_arrays<Token, Link> first(std::size_t n) const {
    return {std::span(tokens).first(n), std::span(children).first(n), std::span(siblings).first(n)};
  }
};

template <class Tree>
bool same(Tree const& a, draft_tree const& b) {
  bool equal = a.size() == b.size();
  for (node_id v = 0; equal && v < b.size(); ++v)
    equal = a.parent(v) == b.parent(v) && (v == 0 || a.token(v) == b.token(v)) &&
            a.first_child(v) == b.first_child(v) && a.next_sibling(v) == b.next_sibling(v);
  return equal;
}

draft_tree through_sglang(draft_tree const& t) {
  std::int32_t const batch = 3, nodes_each = t.size() + 2, b = 1;
  engine_rows<std::int64_t, std::int64_t> all(static_cast<std::size_t>(batch * nodes_each));
  auto const part = [&](wide& array) {
    return std::span(array).subspan(static_cast<std::size_t>(b * nodes_each), nodes_each);
  };
  tev::sglang::write(t, 9, b, part(all.tokens), part(all.index), part(all.children),
                     part(all.siblings));
  tev::sglang::batch_arrays const arrays{batch,     nodes_each,   all.tokens,
                                         all.index, all.children, all.siblings};
  RC_ASSERT(arrays.wrong_row(b) == -1);
  RC_ASSERT(all.tokens[nodes_each - 1] == 77 && all.tokens[2 * nodes_each] == 77);
  RC_ASSERT(all.tokens[nodes_each] == 9 && all.tokens[2 * nodes_each - 1] == 0);
  nodes parents(t.size()), scratch(t.size());
  auto const request = arrays.request(b, t.size());
  RC_ASSERT(tev::read_parents(request, parents, scratch).ok());
  RC_ASSERT(same(request.view(parents), t));
  RC_ASSERT_THROWS_AS((void)tev::read_tree(arrays.request(b)), tev::argument_error);
  return tev::read_tree(request);
}

template <class Token>
draft_tree through_tensorrt_llm(draft_tree const& t) {
  engine_rows<Token, std::int32_t> rows(t.size());
  tev::tensorrt_llm::write(t, 9, std::span(rows.tokens), rows.index, rows.children, rows.siblings);
  for (node_id v = 0; v < t.size(); ++v) RC_ASSERT(rows.index[v] == v);
  nodes parents(t.size()), scratch(t.size());
  RC_ASSERT(tev::read_parents(rows.first(t.size()), parents, scratch).ok());
  RC_ASSERT(same(rows.first(t.size()).view(parents), t));
  return tev::read_tree(rows.first(t.size()));
}

draft_tree through_xgrammar(draft_tree const& t) {
  engine_rows<std::int64_t, std::int64_t> rows(t.size());
  tev::xgrammar::write(t, 9, std::span(rows.children), std::span(rows.siblings),
                       std::span(rows.tokens));
  return tev::read_tree(rows.first(t.size()));
}

draft_tree through_ddtree(draft_tree const& t) {
  auto const lists = tev::ddtree::write(t);
  nodes parents(t.size()), tokens(t.size()), children(t.size()), siblings(t.size());
  RC_ASSERT(tev::ddtree::read_child_maps(lists.child_maps, parents, tokens).ok());
  RC_ASSERT(parents == lists.parents);
  tev::link_children(parents, children, siblings);
  tev::ddtree::view<> const view{t.size(), parents.data(), lists.node_token_ids.data(),
                                 children.data(), siblings.data()};
  RC_ASSERT(same(view, t));
  RC_ASSERT(view.token(0) == tev::no_token);
  RC_ASSERT(draft_tree::from_parents(parents, tokens) == t);
  for (node_id v = 1; v < t.size(); ++v)
    RC_ASSERT(lists.node_depths[v - 1] == std::ssize(tev::tokens_to(t, v)));
  return tev::ddtree::read<std::int64_t>(lists.parents, lists.node_token_ids);
}

draft_tree through_llama_cpp(draft_tree const& t) {
  auto const rows = tev::llama_cpp::write(t, 9, 100, 3);
  // A row sees the earlier positions of its sequences: these have to be its ancestors.
  auto const member = [&](node_id v, std::int32_t s) {
    auto const own =
        std::span(rows.sequences).subspan(rows.offsets[v], rows.offsets[v + 1] - rows.offsets[v]);
    return std::ranges::find(own, s) != own.end();
  };
  auto const mask = tev::ancestor_mask(t);
  for (node_id v = 0; v < t.size(); ++v)
    for (node_id u = 0; u < t.size(); ++u) {
      bool const seen =
          rows.positions[u] <= rows.positions[v] && member(u, rows.sequences[rows.offsets[v]]);
      RC_ASSERT(seen == (((mask[v * tev::mask_words(t.size()) + u / 32] >> (u % 32)) & 1u) != 0));
    }
  return tev::llama_cpp::read(rows);
}

RC_GTEST_PROP(Encodings, GiveTheTreeBackAloneAndOneAfterTheOther, ()) {
  std::vector<std::function<draft_tree(draft_tree const&)>> const encodings{
      through_sglang,
      through_tensorrt_llm<std::int64_t>,
      through_tensorrt_llm<std::int32_t>,
      through_xgrammar,
      through_ddtree,
      through_llama_cpp};
  auto const t = tev_test::random_tree(16, 6);
  for (auto const& first : encodings)
    for (auto const& second : encodings) RC_ASSERT(second(first(t)) == t);
}

// Changes one entry to something near or far.
template <class Id>
void damage(std::vector<Id>& ids) {
  auto const near_one = *rc::gen::inRange<int>(-3, static_cast<int>(ids.size()) + 3);
  auto const far_one = *rc::gen::arbitrary<Id>();
  ids[*rc::gen::inRange<std::size_t>(0, ids.size())] =
      *rc::gen::arbitrary<bool>() ? static_cast<Id>(near_one) : far_one;
}

template <class Token, class Link>
void check_damaged_links() {
  auto const t = tev_test::random_tree(12, 5);
  auto const size = static_cast<std::size_t>(t.size());
  engine_rows<Token, Link> rows(size);
  tev::write_links(t, 9, std::span(rows.tokens), std::span(rows.children),
                   std::span(rows.siblings));
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      damage(rows.tokens);
      break;
    case 1:
      damage(rows.children);
      break;
    default:
      damage(rows.siblings);
  }
  nodes parents(size), scratch(size, 77);
  auto const found = tev::read_parents(rows.first(size), parents, scratch);
  // The view may be walked all the same, with parents that are those of a tree.
  auto const view = rows.first(size).view(t.parents());
  std::vector<int> entered(size, 0);
  nodes path;
  tev::depth_first(
      view,
      [&](node_id v) {
        RC_ASSERT(++entered[v] == 1 && (v == 0 ? path.empty() : path.back() == t.parent(v)));
        path.push_back(v);
        return true;
      },
      [&](node_id v) {
        RC_ASSERT(path.back() == v);
        path.pop_back();
      });
  RC_ASSERT(path.empty());
  if (!found.ok()) {
    RC_ASSERT(found.node >= -1 && found.node < t.size());
    if (found.fault != tree_fault::link_mismatch)
      RC_ASSERT_THROWS_AS((void)tev::read_tree(rows.first(size)), tev::argument_error);
    return;
  }
  RC_ASSERT(same(rows.first(size).view(parents), tev::read_tree(rows.first(size))));
}

TEST(DepthFirst, EntersNothingInATreeWithoutNodes) {
  int steps = 0;
  tev::depth_first(
      tev::link_view<std::int64_t, std::int64_t>{}, [&](node_id) { return ++steps > 0; },
      [&](node_id) { ++steps; });
  EXPECT_EQ(steps, 0);
}

RC_GTEST_PROP(LinkArrays, DamagedAreNamedOrAreAnotherTree, ()) {
  check_damaged_links<std::int64_t, std::int64_t>();
  check_damaged_links<std::int32_t, std::int32_t>();
}

RC_GTEST_PROP(DdTree, DamagedListsAreNamedOrAreAnotherTree, ()) {
  auto const t = tev_test::random_tree(12, 5);
  auto lists = tev::ddtree::write(t);
  auto& map = lists.child_maps[*rc::gen::inRange<std::size_t>(0, lists.child_maps.size())];
  map[*rc::gen::inRange(0, 5)] = *rc::gen::inRange(-2, t.size() + 2);
  nodes parents(t.size()), tokens(t.size());
  auto const found = tev::ddtree::read_child_maps(lists.child_maps, parents, tokens);
  if (found.ok())
    RC_ASSERT(tev::ddtree::write(draft_tree::from_parents(parents, tokens)).child_maps ==
              lists.child_maps);
  damage(lists.parents);
  try {
    RC_ASSERT(tev::ddtree::read<std::int64_t>(lists.parents, lists.node_token_ids).size() ==
              t.size());
  } catch (tev::argument_error const&) {
  }
}

RC_GTEST_PROP(LlamaCpp, DamagedRowsAreNamedOrAreAnotherTree, ()) {
  auto const t = tev_test::random_tree(12, 5);
  auto rows = tev::llama_cpp::write(t, 9, 4);
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      damage(rows.tokens);
      break;
    case 1:
      damage(rows.positions);
      break;
    case 2:
      damage(rows.offsets);
      break;
    default:
      damage(rows.sequences);
  }
  try {
    auto const other = tev::llama_cpp::read(rows);
    for (node_id v = 1; v < t.size(); ++v)
      RC_ASSERT(rows.positions[v] == rows.positions[other.parent(v)] + 1);
  } catch (tev::argument_error const&) {
  }
}

}  // namespace
