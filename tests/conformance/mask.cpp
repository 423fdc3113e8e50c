// mask.json: trees -> visibility, positions, links, retrieve tables; and back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/kinds.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/parents_of_links.hpp"
#include "tev/tree/retrieve.hpp"

namespace conformance {

namespace {

using table = std::vector<std::vector<std::int32_t>>;

table read_table(value const& rows) {
  table all;
  for (auto const& row : rows.items()) all.push_back(row.indices());
  return all;
}

std::vector<std::int32_t> as_vector(std::span<std::int32_t const> list) {
  return {list.begin(), list.end()};
}

void check_visibility(tev::draft_tree const& tree, fields const& expect, checker& check) {
  auto const mask = tev::ancestor_mask(tree);
  auto const width = static_cast<std::size_t>(tev::mask_words(tree.size()));
  auto const words = expect["words"].items();
  auto const visible = expect["visible"].texts();
  check.equal("expect.words", words.size(), static_cast<std::size_t>(tree.size()));
  std::vector<std::string> seen;
  for (std::size_t v = 0; v < static_cast<std::size_t>(tree.size()); ++v) {
    std::vector<std::uint32_t> const row(
        mask.begin() + static_cast<std::ptrdiff_t>(v * width),
        mask.begin() + static_cast<std::ptrdiff_t>((v + 1) * width));
    if (v < words.size()) check.equal(words[v].place(), words[v].words(), row);
    seen.emplace_back();
    for (std::int32_t u = 0; u < tree.size(); ++u)
      seen.back() += (row[static_cast<std::size_t>(u) / 32] >> (u % 32) & 1u) != 0 ? '1' : '0';
  }
  check.equal("expect.visible", visible, seen);
}

void check_tree(fields const& the_case, fields const& expect, checker& check) {
  auto const tree =
      tev::draft_tree::from_parents(the_case["parent"].indices(), the_case["token"].indices());
  std::int32_t const base = the_case["base"].index();
  check_visibility(tree, expect, check);
  check.equal("expect.depth", expect["depth"].indices(), tev::depths(tree));
  check.equal("expect.position", expect["position"].indices(), tev::positions(tree, base));

  auto const size = static_cast<std::size_t>(tree.size());
  std::vector<tev::node_id> first_child(size, 7), next_sibling(size, 7);
  tev::link_children(tree.parents(), first_child, next_sibling);
  check.equal("expect.first_child", expect["first_child"].indices(), first_child);
  check.equal("expect.next_sibling", expect["next_sibling"].indices(), next_sibling);

  auto const retrieve = tev::retrieve_table_of(tree);
  table rows;
  for (std::size_t k = 0; k < retrieve.leaves.size(); ++k)
    rows.push_back(as_vector(retrieve.row(k)));
  check.equal("expect.leaves", expect["leaves"].indices(), retrieve.leaves);
  check.equal("expect.retrieve", read_table(expect["retrieve"]), rows);

  // There and back again.
  std::vector<tev::node_id> parents(size, 7);
  check.equal("fault of the links", std::string("ok"),
              std::string(name(tev::parents_of_links(first_child, next_sibling, parents).fault)));
  check.equal("parents of the links", as_vector(tree.parents()), parents);
  std::ranges::fill(parents, 7);
  auto const length = static_cast<std::size_t>(retrieve.length);
  check.equal("fault of the retrieve table", std::string("ok"),
              std::string(name(tev::parents_of_retrieve(retrieve.nodes, length, parents).fault)));
  check.equal("parents of the retrieve table", as_vector(tree.parents()), parents);
}

template <class Id>
void check_links_of(std::vector<std::int32_t> const& first, std::vector<std::int32_t> const& next,
                    std::vector<std::int32_t> const& parent, table const& children,
                    checker& check) {
  std::vector<Id> const first_child(first.begin(), first.end());
  std::vector<Id> const next_sibling(next.begin(), next.end());
  std::span<Id const> const firsts(first_child), nexts(next_sibling);
  std::vector<tev::node_id> parents(first.size(), 7);
  auto const found = tev::parents_of_links(firsts, nexts, parents);
  check.equal("fault", std::string("ok"), std::string(name(found.fault)));
  check.equal("expect.parent", parent, parents);
  table listed(first.size());
  if (first.size() == next.size())
    for (std::size_t v = 0; v < first.size(); ++v)
      tev::for_each_linked(firsts, nexts, static_cast<tev::node_id>(v),
                           [&](tev::node_id child) { listed[v].push_back(child); });
  check.equal("expect.children", children, listed);
}

void check_links(fields const& the_case, fields const& expect, checker& check) {
  auto const first = the_case["first_child"].indices(), next = the_case["next_sibling"].indices();
  auto const parent = expect["parent"].indices();
  auto const children = read_table(expect["children"]);
  check_links_of<std::int32_t>(first, next, parent, children, check);
  check_links_of<std::int64_t>(first, next, parent, children, check);
}

void check_retrieve(fields const& the_case, fields const& expect, checker& check) {
  auto const rows = read_table(the_case["retrieve"]);
  std::vector<std::int32_t> entries;
  for (auto const& row : rows) entries.insert(entries.end(), row.begin(), row.end());
  std::size_t const length = rows.empty() ? 0 : rows.front().size();
  if (entries.size() != rows.size() * length) throw case_error("rows of retrieve differ in length");
  std::int32_t const nodes = the_case["nodes"].index();
  if (nodes < 0) throw case_error("nodes is negative");
  std::vector<tev::node_id> parents(static_cast<std::size_t>(nodes), 7);
  auto const found =
      tev::parents_of_retrieve(std::span<std::int32_t const>(entries), length, parents);
  check.equal("fault", std::string("ok"), std::string(name(found.fault)));
  check.equal("expect.parent", expect["parent"].indices(), parents);
}

void check_paths(fields const& the_case, fields const& expect, checker& check) {
  auto const paths = read_table(the_case["paths"]);
  auto const tree = tev::draft_tree::from_path_set(paths);
  check.equal("expect.parent", expect["parent"].indices(), as_vector(tree.parents()));
  auto tokens = as_vector(tree.tokens());
  check.equal("expect.token", expect["token"].indices(), tokens);
}

}  // namespace

void check_mask(fields const& the_case, checker& check) {
  std::string const kind = the_case["kind"].text();
  fields const expect = the_case["expect"].object("expect");
  if (kind == "tree") return check_tree(the_case, expect, check);
  if (kind == "links_to_parents") return check_links(the_case, expect, check);
  if (kind == "retrieve_to_parents") return check_retrieve(the_case, expect, check);
  if (kind == "paths_to_tree") return check_paths(the_case, expect, check);
  throw unknown_kind("kind is \"" + kind + "\", which mask.json does not have");
}

}  // namespace conformance
