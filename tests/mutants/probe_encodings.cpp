// The encodings of trees, commits on pages and the stop rule.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "probe.hpp"
#include "tev/encoding/ddtree.hpp"
#include "tev/encoding/llama_cpp.hpp"
#include "tev/encoding/sglang.hpp"
#include "tev/encoding/tensorrt_llm.hpp"
#include "tev/encoding/xgrammar.hpp"
#include "tev/tree/commit.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/parents_of_links.hpp"
#include "tev/tree/retrieve.hpp"
#include "tev/tree/validate.hpp"
#include "tev/verify/finish.hpp"

namespace {

using namespace probe;
using tev::draft_tree;
using tev::node_id;
using tev::tree_check;
using tev::tree_fault;
using nodes = std::vector<node_id>;
using wide = std::vector<std::int64_t>;

draft_tree const tree = draft_tree::from_parents({-1, 0, 1, 0, 2, 1, 3}, {-1, 4, 1, 2, 3, 0, 6});
nodes const parents{-1, 0, 1, 0, 2, 1, 3};

void check_conversions() {
  nodes const children{3, -1, -1, -1}, siblings{-1, -1, 1, 2};
  nodes found(4);
  check(tev::parents_of_links(children, siblings, found).ok() && found == nodes{-1, 0, 0, 0},
        "links in descending order");
  auto const fault = [&](nodes const& first, nodes const& next) {
    nodes into(first.size());
    return tev::parents_of_links(first, next, into);
  };
  check(fault({1, -1, -1}, {-1, 2, 1}) == tree_check{tree_fault::two_parents, 1}, "a circle");
  check(fault({1, 2, -1}, {-1, 2, -1}) == tree_check{tree_fault::two_parents, 2}, "two parents");
  check(fault({1, -1, -1}, {-1, -1, -1}) == tree_check{tree_fault::unreached, 2}, "never reached");
  check(fault({1, -1}, {1, -1}) == tree_check{tree_fault::bad_root, 0}, "a sibling of the root");
  check(fault({1, 2}, {-1, -1}) == tree_check{tree_fault::node_range, 1}, "a child too far");

  auto const table = tev::retrieve_table_of(tree);
  check(table.nodes == nodes{0, 1, 2, 4, 0, 1, 5, -1, 0, 3, 6, -1}, "retrieve table");
  nodes back(7);
  check(tev::parents_of_retrieve(table.nodes, 4, back).ok() && back == parents, "table to parents");
  check(tev::parents_of_retrieve(nodes{0, 1, 0, 2, 1, -1}, 3, std::span(back).first(3)) ==
            tree_check{tree_fault::bad_root, 0},
        "the root inside a row");
  check(tev::parents_of_retrieve(nodes{0, 1, 2, 0, 2, -1}, 3, std::span(back).first(3)) ==
            tree_check{tree_fault::two_parents, 2},
        "rows that contradict");

  std::vector<std::vector<tev::token_id>> const paths{{7, 1}, {3, 2}, {4}, {7, 1}, {3, 0}};
  auto const sorted = draft_tree::from_path_set(paths);
  check(sorted == draft_tree::from_parents({-1, 0, 0, 0, 1, 1, 3}, {-1, 3, 4, 7, 0, 2, 1}),
        "paths sorted by length and path");

  nodes const twice{-1, 0, 0}, equal{-1, 4, 4};
  nodes scratch(6, 77);
  check(tev::validate({.parents = twice, .tokens = equal}, scratch).node == 2, "duplicates");
}

void check_commit() {
  std::vector<std::int32_t> const pages{3, 1};
  tev::paged_slots<> const slots{pages.data(), 2, 4};
  auto const plan = tev::plan_commit(nodes{0, 2, 4, 5}, 2, 4, slots);
  std::vector<tev::slot_move> const moves{{4, 15}, {6, 4}, {7, 5}};
  check(plan.moves == moves, "moves on pages");
  check(plan.length == 6 && plan.pages_used == 2 && plan.overlap, "counts of a commit");
  check(!tev::plan_commit(nodes{0, 2}, 2, 2, slots).overlap, "moves that don't overlap");
  check(tev::plan_commit(nodes{0, 2, 3}, 2, 2, slots).moves.size() == 1, "a commit of the front");
  check(tev::plan_commit(nodes{0, 1}, 2, 2, slots).pages_used == 1, "a full page");
}

void check_finish() {
  std::vector<tev::token_id> const path{11, 2, 12}, stop{-1, 2};
  auto const end = [&](std::int32_t count, tev::token_id bonus, std::int64_t remaining) {
    return tev::end_of_block(path.data(), count, bonus, {stop.data(), 2, remaining});
  };
  using tev::finish;
  check(end(3, 14, 9) == tev::block_end{2, 2, 3, false, finish::stop}, "stop inside the path");
  check(end(1, 14, 9) == tev::block_end{2, 1, 2, true, finish::none}, "a whole block");
  check(end(1, 14, 2) == tev::block_end{2, 1, 2, true, finish::length}, "the limit");
  check(end(3, 14, 2) == tev::block_end{2, 2, 3, false, finish::stop}, "stop at the limit");
  check(end(3, 14, 0) == tev::block_end{0, 0, 1, false, finish::length}, "nothing remains");
  check(end(1, -1, 9) == tev::block_end{1, 1, 2, false, finish::none}, "no bonus token");
}

void check_engines() {
  wide tokens(18, 77), index(18, 77), first(18, 77), next(18, 77);
  auto const part = [](wide& array) { return std::span(array).subspan(9, 9); };
  tev::sglang::write(tree, 5, 1, part(tokens), part(index), part(first), part(next));
  tev::sglang::batch_arrays const arrays{2, 9, tokens, index, first, next};
  check(tokens[8] == 77 && tokens[9] == 5 && tokens[17] == 0 && first[17] == -1, "padding");
  check(index[9] == 9 && arrays.wrong_row(1) == -1 && arrays.wrong_row(0) == 0, "global rows");
  nodes found(7), scratch(7);
  auto const request = arrays.request(1, 7);
  check(tev::read_parents(request, found, scratch).ok() && found == parents, "links in place");
  check(tev::read_tree(request) == tree, "read tree");
  tokens[10] += std::int64_t{1} << 32;
  check(tev::read_parents(request, found, scratch).fault == tree_fault::token_range, "wide token");
  check(request.view(found).token(1) == -1, "a token that doesn't fit");

  std::vector<std::int32_t> predicts(18, 77), accepted(4, 77);
  std::int32_t count = 77;
  tev::sglang::write_accepted(tree, nodes{0, 1, 5}, 3, 1, 9, predicts, accepted, count);
  check(accepted == std::vector<std::int32_t>{9, 10, 14, -1} && count == 2, "accept_index");
  check(predicts[9] == 4 && predicts[10] == 0 && predicts[14] == 3, "predicts");
  wide local(4, 77), emitted(4, 77);
  std::int64_t many = 77;
  tev::tensorrt_llm::write_accepted(tree, nodes{0, 3, 6}, 3, std::span(local), std::span(emitted),
                                    many);
  check(local == wide{0, 3, 6, 0} && emitted == wide{2, 6, 3, 0} && many == 2, "accepted tokens");

  auto const lists = tev::ddtree::write(tree);
  check(tev::ddtree::read<std::int64_t>(lists.parents, lists.node_token_ids) == tree, "lists");
  nodes into(7), ids(7);
  check(tev::ddtree::read_child_maps(lists.child_maps, into, ids).ok() && into == parents, "maps");

  auto rows = tev::llama_cpp::write(tree, 5, 20, 4);
  check(tev::llama_cpp::read(rows) == tree, "rows of sequences");
  check(rows.positions[4] == 23 && rows.sequences[0] == 4, "positions and sequences");
  rows.positions[4] = 24;
  bool refused = false;
  try {
    (void)tev::llama_cpp::read(rows);
  } catch (tev::argument_error const&) {
    refused = true;
  }
  check(refused, "a gap in the positions");
}

void check_traversal() {
  nodes order;
  int depth = 0;
  tev::xgrammar::traverse(
      tree, [&](node_id v) { order.push_back(v); },
      [&](node_id, tev::token_id token) { return token != 1 && ++depth > 0; }, [&] { --depth; });
  check(order == nodes{0, 1, 5, 3, 6} && depth == 0, "traversal");
}

}  // namespace

int main() {
  check_conversions();
  check_commit();
  check_finish();
  check_engines();
  check_traversal();
  return finish();
}
