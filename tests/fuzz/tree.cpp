// Raw tree arrays: whatever they hold, checks name a fault or find none, and every verifier ends
// within size() steps, inside the tree.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuzz/target.hpp"
#include "support/all_verifiers.hpp"
#include "support/counted_tree.hpp"
#include "tev/tev.hpp"
#include "tev/tree/parents_of_links.hpp"
#include "tev/tree/retrieve.hpp"

namespace {

using tev_fuzz::byte_reader;
using tev_fuzz::expect;

constexpr std::int32_t vocab = 5;

struct arrays {
  std::vector<tev::node_id> parents, children, siblings;
  std::vector<tev::token_id> tokens;
};

// Small numbers from one byte each, so that damage is often near to a tree; some from four.
arrays read_arrays(byte_reader& in, std::int32_t size, bool wide) {
  arrays a;
  auto const number = [&] {
    return wide && in.byte() < 16 ? in.word() : std::int32_t{in.byte()} - 2;
  };
  for (std::int32_t v = 0; v < size; ++v) {
    a.parents.push_back(number());
    a.tokens.push_back(number());
    a.children.push_back(number());
    a.siblings.push_back(number());
  }
  return a;
}

// Rows that count how many of them a walk visits.
struct counted_rows : tev::mass_rows<std::uint64_t> {
  std::int32_t* visited = nullptr;

  template <class Team>
  void prepare(Team const& team, tev::node_id v) const {
    ++*visited;
    tev::mass_rows<std::uint64_t>::prepare(team, v);
  }
};

// A fault that is found has a name and, if any, a node of the arrays.
bool is_sensible(tev::tree_check const& check, std::int32_t size) {
  return std::string(name(check.fault)) != "" && check.node >= -1 && check.node < size;
}

void walk(arrays const& a, bool sound) {
  auto const size = static_cast<std::int32_t>(a.parents.size());
  tev::tree_view const view{size, a.parents.data(), a.tokens.data(), a.children.data(),
                            a.siblings.data()};
  std::vector<std::uint64_t> masses;
  for (std::int32_t i = 0; i < size * vocab; ++i)
    masses.push_back(static_cast<std::uint64_t>(i * i % 4));
  tev::mass_storage<std::uint64_t> storage;
  std::int32_t visited = 0;
  counted_rows const rows{{storage.rows(masses.data(), size, vocab, vocab)}, &visited};
  // A walk looks at every list once; the draw at its end looks at one list for every token.
  tev_test::counted_tree const counted{view, (2 * size + 2) * (vocab + 2)};
  tev_test::verifier_workspace space(size);
  auto const verify_at = [&](auto const& verifier, std::uint32_t position) {
    counted.taken = 0;
    visited = 0;
    tev::problem<tev_test::counted_tree, counted_rows> const p{counted, rows, 1, position};
    auto const o = verifier(tev::serial_team{}, p, tev::philox{.seed = 1});
    expect(visited <= size, "more than size nodes visited");
    expect(0 <= o.exit_node && o.exit_node < size, "the exit node is no node");
    expect(0 <= o.accepted_length && o.accepted_length < size, "more accepted than there are");
    expect((o.bonus_token == tev::no_token) == (o.state != tev::status::ok), "no status");
    if (sound)
      expect(o.accepted_length == tev::depths(view)[static_cast<std::size_t>(o.exit_node)],
             "the accepted length is not the depth");
  };
  auto const verify = [&](auto const& verifier) {
    for (std::uint32_t position = 0; position < 4; ++position) verify_at(verifier, position);
  };
  verify(tev::greedy{});
  tev_test::for_each_verifier(
      [&](char const*, auto const& make) { verify(make(tev::default_flow_unit, space)); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  byte_reader in{data, size};
  std::int32_t const count = in.byte() % 20;
  std::uint8_t const mode = in.byte();
  arrays a = read_arrays(in, count, (mode & 1) != 0);

  auto const plain = tev::validate({.parents = a.parents, .tokens = a.tokens, .vocab_size = 300});
  expect(is_sensible(plain, count), "validate names no node of the arrays");
  std::vector<tev::node_id> found(a.parents.size());
  (void)tev::parents_of_links(std::span<std::int32_t const>(a.children),
                              std::span<std::int32_t const>(a.siblings), found);
  (void)tev::parents_of_retrieve(std::span<std::int32_t const>(a.children), 1 + mode % 4, found);
  if ((mode & 2) != 0) tev::link_children(a.parents, a.children, a.siblings);
  auto const linked = tev::validate({.parents = a.parents,
                                     .tokens = a.tokens,
                                     .vocab_size = 300,
                                     .check_links = true,
                                     .first_child = a.children,
                                     .next_sibling = a.siblings});
  expect(is_sensible(linked, count), "validate names no node of the arrays");
  expect(!linked.ok() || plain.ok(), "links repair nothing");
  if (plain.ok()) {
    auto const tree = tev::draft_tree::from_parents(a.parents, a.tokens);
    expect(tree.size() == count, "a node was lost");
    expect((mode & 2) == 0 || linked.ok(), "the library's own links are refused");
    (void)tev::ancestor_mask(tree);
    (void)tev::retrieve_table_of(tree);
  }
  if (count > 0) walk(a, linked.ok());
  return 0;
}
