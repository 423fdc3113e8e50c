// law.json: integer masses -> reach, local exit, exit law, coverage, law, greedy walk.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "conformance/kinds.hpp"
#include "conformance/laws.hpp"
#include "conformance/verifiers.hpp"
#include "support/instance.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/tree/path.hpp"
#include "tev/tree/validate.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/sequential_residual.hpp"

namespace conformance {

namespace {

using tev_test::instance;
using tev_test::integer_scene;

instance read_instance(fields const& the_case) {
  instance i{
      the_case["parent"].indices(), the_case["token"].indices(), the_case["vocab"].index(), {}};
  auto const rows = the_case["mass"].items();
  if (rows.size() != i.parents.size()) throw case_error("mass needs one row per node");
  for (auto const& row : rows) {
    auto const masses = row.items();
    if (static_cast<std::int64_t>(masses.size()) != i.vocab)
      throw case_error(row.place() + " needs vocab masses");
    for (auto const& mass : masses) i.masses.push_back(mass.mass());
  }
  return i;
}

// Depth first, siblings from last to first: entry k is the node that becomes node k.
std::vector<tev::node_id> mirrored_order(tev::draft_tree const& tree) {
  std::vector<tev::node_id> order, open{0};
  while (!open.empty()) {
    tev::node_id const v = open.back();
    open.pop_back();
    order.push_back(v);
    tev::for_each_child(tree, v, [&](tev::node_id child) { open.push_back(child); });
  }
  return order;
}

instance reordered(instance const& i, std::vector<tev::node_id> const& order) {
  instance other{{}, {}, i.vocab, {}};
  for (tev::node_id const v : order) {
    auto const above = std::ranges::find(order, i.parents[v]);
    other.parents.push_back(v == 0 ? tev::no_node
                                   : static_cast<tev::node_id>(above - order.begin()));
    other.tokens.push_back(i.tokens[v]);
    auto const row = i.masses.begin() + std::ptrdiff_t{v} * i.vocab;
    other.masses.insert(other.masses.end(), row, row + i.vocab);
  }
  return other;
}

// No order of siblings, and no numbering, may change what the sequential rule does.
void check_other_order(instance const& i, outcome_law const& law, checker& check) {
  auto const order = mirrored_order(tev::draft_tree::from_parents(i.parents, i.tokens));
  integer_scene scene(reordered(i, order));
  auto const p = scene.prepared();
  outcome_law there;
  for (auto const& [pair, probability] : law) {
    auto const place = std::ranges::find(order, pair.first) - order.begin();
    there[{static_cast<tev::node_id>(place), pair.second}] = probability;
  }
  check.equal("law with siblings in another order", true, tev_test::expected_law(p) == there);
  verifier_check one(check, p, there);
  if (auto const got = one.law_of(tev::sequential_residual{}))
    check.equal("law of sequential_residual with siblings in another order", true, *got == there);
}

struct law_results {
  tev::exit_law<rational> exits;
  std::vector<bool> has_rho;  // Empty where nothing is said about local exits.
  outcome_law law;
  tev::status state;
  std::vector<tev::node_id> greedy_path;
  tev::token_id greedy_bonus;
};

void compare(fields const& expect, law_results const& got, checker& check) {
  check.equal("expect.status", expect["status"].text(), std::string(name(got.state)));
  check.agree("expect.reach", expect["reach"].numbers(), got.exits.reach);
  check.agree("expect.exit", expect["exit"].numbers(), got.exits.exit);
  check.agrees("expect.coverage", expect["coverage"].number(), got.exits.coverage);
  auto const rho = expect["rho"].items();
  check.equal("expect.rho", got.exits.local_exit.size(), rho.size());
  for (std::size_t v = 0; v < std::min(rho.size(), got.exits.local_exit.size()); ++v)
    if (got.has_rho.empty())
      continue;
    else if (rho[v].is_null() || !got.has_rho[v])
      check.equal(rho[v].place(), std::string(rho[v].is_null() ? "null" : "a number"),
                  std::string(got.has_rho[v] ? "a number" : "null"));
    else
      check.agrees(rho[v].place(), rho[v].number(), got.exits.local_exit[v]);
  compare_law(check, "expect.law", read_law(expect["law"]), got.law);
  fields const greedy = expect["greedy"].object("greedy");
  check.equal("expect.greedy.path", greedy["path"].indices(), got.greedy_path);
  check.equal("expect.greedy.bonus", greedy["bonus"].index(), got.greedy_bonus);

  // The local exits of nodes that are never reached may count or not.
  std::int64_t least = bits(got.exits.coverage);
  for (auto const& [pair, probability] : got.law) least = std::max(least, bits(probability));
  for (auto const& x : got.exits.exit) least = std::max(least, bits(x));
  std::int64_t most = least;
  for (auto const& x : got.exits.reach) most = std::max(most, bits(x));
  for (auto const& x : got.exits.local_exit) most = std::max(most, bits(x));
  std::int64_t const stated = expect["bits"].integer();
  if (stated < least || stated > most) check.fail("expect.bits", text(stated), text(least));
}

}  // namespace

void check_law(fields const& the_case, checker& check) {
  instance const i = read_instance(the_case);
  fields const expect = the_case["expect"].object("expect");
  if (!tev::validate({.parents = i.parents, .tokens = i.tokens, .vocab_size = i.vocab}).ok()) {
    std::size_t const size = i.parents.size();
    return compare(
        expect,
        {nothing_reached(size), {}, nothing_accepted(), tev::status::bad_tree, {0}, tev::no_token},
        check);
  }
  integer_scene scene(i);
  auto const p = scene.prepared();
  auto const law = tev_test::expected_law(p);
  tev::outcome const greedy = tev::greedy{}(tev::serial_team{}, p, tev_test::end_source{});
  std::vector<bool> has_rho;
  for (tev::node_id v = 0; v < p.tree.size(); ++v)
    has_rho.push_back(p.target.row_status(v) != tev::status::no_mass);
  compare(
      expect,
      {tev::exit_law_of<rational>(p.tree, p.target), has_rho, law, request_status(law, p.target),
       tev::path_to(p.tree, greedy.exit_node), greedy.bonus_token},
      check);
  verifier_check(check, p, law).run();
  check_other_order(i, law, check);
}

}  // namespace conformance
