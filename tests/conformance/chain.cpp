// chain.json: chains drawn from a known draft -> law of the emitted block, accepted length.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/kinds.hpp"
#include "conformance/observed.hpp"
#include "support/fixed_sources.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/exit_law/flow.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/block.hpp"
#include "tev/verify/chain.hpp"
#include "tev/verify/hierarchical.hpp"
#include "tev/verify/speculative_sampling.hpp"

namespace conformance {

namespace {

using token_path = std::vector<tev::token_id>;
using row = std::vector<rational>;
using row_table = std::map<token_path, row>;
using path_law = std::map<token_path, rational>;

token_path parse_prefix(std::string const& key) {
  token_path path;
  std::istringstream in(key);
  for (tev::token_id token = 0; in >> token;) path.push_back(token);
  if (!in.eof()) throw case_error("\"" + key + "\" is no prefix of ids");
  return path;
}

row_table read_rows(value const& table, std::int32_t vocab) {
  row_table rows;
  fields const prefixes = table.object("prefixes");
  for (auto const& key : prefixes.keys()) {
    value const list = prefixes[key];
    row probabilities;
    for (auto const& p : list.items()) probabilities.push_back(p.exact());
    if (std::ssize(probabilities) != vocab) throw case_error(list.place() + " needs vocab entries");
    if (std::ranges::any_of(probabilities, [](rational const& p) { return p < 0; }))
      throw case_error(list.place() + " has a negative entry");
    rows[parse_prefix(key)] = std::move(probabilities);
  }
  return rows;
}

path_law read_paths(value const& list) {
  path_law law;
  for (auto const& entry : list.items()) {
    auto const parts = entry.items();
    if (parts.size() != 2) throw case_error(entry.place() + " needs tokens and a probability");
    if (!law.try_emplace(parts[0].indices(), parts[1].exact()).second)
      throw case_error(entry.place() + " lists a path again");
  }
  return law;
}

struct chain_case {
  std::int32_t vocab;
  std::int32_t length;
  row_table target, draft;

  // A row that the case does not give belongs to a prefix that it does not reach.
  [[nodiscard]] row at(row_table const& rows, token_path const& prefix) const {
    auto const found = rows.find(prefix);
    return found != rows.end() ? found->second : row(static_cast<std::size_t>(vocab), 0);
  }
};

// Rows as integer masses, each under its own denominator.
class integer_rows {
 public:
  explicit integer_rows(std::vector<row> const& rows) : vocab_(std::ssize(rows.front())) {
    for (auto const& r : rows) {
      big_integer common = 1;
      for (auto const& p : r) common = lcm(common, denominator(p));
      if (common > std::numeric_limits<std::uint64_t>::max())
        throw case_error("a row needs masses of more than 64 bits");
      for (auto const& p : r)
        masses_.push_back(
            static_cast<std::uint64_t>(big_integer(numerator(p) * (common / denominator(p)))));
    }
  }
  integer_rows(integer_rows const&) = delete;
  integer_rows& operator=(integer_rows const&) = delete;

  [[nodiscard]] tev::mass_rows<std::uint64_t> view() {
    auto const count = static_cast<std::int32_t>(std::ssize(masses_) / vocab_);
    return storage_.rows(masses_.data(), count, static_cast<std::int32_t>(vocab_), vocab_);
  }

 private:
  std::int64_t vocab_;
  std::vector<std::uint64_t> masses_;
  tev::mass_storage<std::uint64_t> storage_;
};

// One drafted chain with the rows along it.
struct drafted_chain {
  token_path tokens;
  rational probability;
  std::vector<row> target, draft;
};

void add_chains(chain_case const& c, drafted_chain const& above, std::vector<drafted_chain>& all) {
  drafted_chain here = above;
  here.target.push_back(c.at(c.target, here.tokens));
  if (std::ssize(here.tokens) == c.length) {
    all.push_back(here);
    return;
  }
  here.draft.push_back(c.at(c.draft, here.tokens));
  for (tev::token_id x = 0; x < c.vocab; ++x) {
    rational const p = here.draft.back()[x];
    if (p == 0) continue;
    drafted_chain next = here;
    next.tokens.push_back(x);
    next.probability *= p;
    add_chains(c, next, all);
  }
}

// The least unit in which every share of a chain is whole, for capped joint ratios or for ratios of
// single tokens; none where it does not fit.
std::optional<std::uint64_t> exact_unit(drafted_chain const& chain, bool joint) {
  big_integer unit = 1;
  rational ratio = 1;
  for (std::size_t t = 0; t < chain.draft.size(); ++t) {
    unit = lcm(unit, denominator(ratio));
    for (std::size_t x = 0; x < chain.draft[t].size(); ++x) {
      unit = lcm(unit, denominator(chain.draft[t][x]));
      unit = lcm(unit, denominator(rational(ratio * chain.target[t][x])));
    }
    auto const x = static_cast<std::size_t>(chain.tokens[t]);
    if (joint)
      ratio = std::min(rational(1), rational(ratio * chain.target[t][x] / chain.draft[t][x]));
    if (ratio == 0) break;
  }
  unit = lcm(unit, denominator(ratio));
  if (unit > tev::default_flow_unit) return std::nullopt;
  return static_cast<std::uint64_t>(unit);
}

// What a verifier makes of all chains.
struct rule_law {
  path_law blocks;
  std::vector<rational> accepted;
  rational accept_length = 0;
  rational slack = 0;  // How far rounding may have moved the law.
};

template <class Verifier>
void check_ends(std::string const& name, Verifier const& verifier, auto const& problem,
                tev_test::outcome_law const& law, checker& check) {
  for (auto const side : {tev_test::end::low, tev_test::end::high}) {
    auto const o = verifier(tev::serial_team{}, problem, tev_test::end_source{side});
    if (!law.contains({o.exit_node, o.bonus_token}))
      check.fail(name + " at an end of the random range", "nothing outside its law",
                 "[" + text(o.exit_node) + ", " + text(o.bonus_token) + "]");
  }
}

template <class Verifier>
rule_law law_of(std::string const& name, chain_case const& c, bool joint, checker& check) {
  rule_law law;
  law.accepted.assign(static_cast<std::size_t>(c.length) + 1, 0);
  std::vector<drafted_chain> chains;
  add_chains(c, {{}, 1, {}, {}}, chains);
  for (auto const& chain : chains) {
    integer_rows target(chain.target);
    integer_rows draft(chain.draft.empty() ? std::vector(1, row(chain.target[0])) : chain.draft);
    tev::chain_problem const problem{chain.tokens.data(), c.length, target.view(), draft.view()};
    auto const exact = exact_unit(chain, joint);
    Verifier const verifier{exact.value_or(tev::default_flow_unit)};
    if (!exact)
      law.slack += chain.probability * rational(std::int64_t{c.length} * (c.length + 3) * c.vocab,
                                                tev::default_flow_unit);
    auto const given = halving(verifier, problem, 1'000'000).law();
    if (!given) throw case_error("is too large for " + name);
    for (auto const& [end, probability] : *given) {
      token_path block(chain.tokens.begin(), chain.tokens.begin() + end.first);
      block.push_back(end.second);
      law.blocks[block] += chain.probability * probability;
      law.accepted[static_cast<std::size_t>(end.first)] += chain.probability * probability;
      law.accept_length += chain.probability * probability * end.first;
    }
    check_ends(name, verifier, problem, *given, check);
    check_ends(name, Verifier{}, problem, *given, check);
  }
  return law;
}

// Adds to `law` what target samples make of a prefix, up to `size` tokens or a row that is not
// given.
void extend(chain_case const& c, token_path const& prefix, rational const& weight, std::size_t size,
            path_law& law) {
  auto const found = c.target.find(prefix);
  if (prefix.size() >= size || found == c.target.end()) {
    law[prefix] += weight;
    return;
  }
  for (tev::token_id x = 0; x < c.vocab; ++x) {
    if (found->second[x] == 0) continue;
    token_path next = prefix;
    next.push_back(x);
    extend(c, next, weight * found->second[x], size, law);
  }
}

std::string name_of(std::string const& place, token_path const& path) {
  return place + " of " + text(path);
}

void compare_paths(std::string const& place, path_law const& expected, path_law const& got,
                   rational const& slack, checker& check) {
  for (auto const& [path, probability] : expected) {
    auto const found = got.find(path);
    rational const there = found == got.end() ? rational(0) : found->second;
    if (abs(rational(there - probability)) > slack)
      check.fail(name_of(place, path), text(probability), text(there));
  }
  for (auto const& [path, probability] : got)
    if (!expected.contains(path) && probability != 0)
      check.fail(name_of(place, path), "nothing", text(probability));
}

void compare_number(value const& expected, rational const& got, rational const& slack,
                    checker& check) {
  rational const wanted = expected.exact();
  if (abs(rational(got - wanted)) > slack) check.fail(expected.place(), text(wanted), text(got));
}

void compare_rule(value const& expected, chain_case const& c, rule_law const& got, checker& check) {
  fields const rule = expected.object("rule");
  compare_number(rule["accept_length"], got.accept_length, got.slack * c.length, check);
  auto const accepted = rule["accepted"].items();
  check.equal(expected.place() + ".accepted", accepted.size(), got.accepted.size());
  for (std::size_t i = 0; i < std::min(accepted.size(), got.accepted.size()); ++i)
    compare_number(accepted[i], got.accepted[i], got.slack, check);
  compare_paths(expected.place() + ".blocks", read_paths(rule["blocks"]), got.blocks, got.slack,
                check);
}

void check_extended(std::string const& name, chain_case const& c, path_law const& target,
                    rule_law const& rule, checker& check) {
  path_law extended;
  for (auto const& [block, probability] : rule.blocks)
    extend(c, block, probability, static_cast<std::size_t>(c.length) + 1, extended);
  compare_paths("law of the text with " + name, target, extended, rule.slack, check);
}

}  // namespace

void check_chain(fields const& the_case, checker& check) {
  chain_case c{the_case["vocab"].index(), the_case["length"].index(), {}, {}};
  if (c.vocab < 1 || c.length < 0) throw case_error("vocab or length is too small");
  c.target = read_rows(the_case["target"], c.vocab);
  c.draft = read_rows(the_case["draft"], c.vocab);
  fields const expect = the_case["expect"].object("expect");

  auto const standard = law_of<tev::speculative_sampling>("speculative_sampling", c, false, check);
  auto const capped = law_of<tev::hierarchical>("hierarchical", c, true, check);
  auto const block = law_of<tev::block>("block", c, true, check);
  compare_rule(expect["standard"], c, standard, check);
  compare_rule(expect["capped"], c, capped, check);
  if (block.accept_length + block.slack * c.length < standard.accept_length)
    check.fail("accepted length of block",
               "at least that of speculative_sampling, " + text(standard.accept_length),
               text(block.accept_length));

  path_law target;
  extend(c, {}, 1, static_cast<std::size_t>(c.length) + 1, target);
  if (auto const listed = expect.find("sequence_law"))
    compare_paths("expect.sequence_law", read_paths(*listed), target, 0, check);
  check_extended("speculative_sampling", c, target, standard, check);
  check_extended("hierarchical", c, target, capped, check);
  check_extended("block", c, target, block, check);
}

}  // namespace conformance
