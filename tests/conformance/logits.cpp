// logits.json: logits, temperature, filters, mask -> support and probabilities; trees of such rows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/kinds.hpp"
#include "conformance/laws.hpp"
#include "conformance/requests.hpp"
#include "conformance/verifiers.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/validate.hpp"

namespace conformance {

namespace {

constexpr tev::serial_team team;

// Owns the flat arrays and the summaries of a table, and lends prepared rows.
class prepared_rows {
 public:
  prepared_rows(logit_table const& table, tev::sampling_parameters const& parameters)
      : logits_(flattened(table.rows, table.vocab, 0.0f)),
        masks_(flattened(table.masks, tev::bitmask_words(table.vocab), 0u)),
        rows_(storage_.rows(source(table), static_cast<std::int32_t>(table.rows.size()),
                            parameters)) {
    tev::prepare_all(team, rows_, static_cast<std::int32_t>(table.rows.size()));
  }
  prepared_rows(prepared_rows const&) = delete;
  prepared_rows& operator=(prepared_rows const&) = delete;

  [[nodiscard]] tev::softmax_rows<float> const& get() const { return rows_; }

 private:
  [[nodiscard]] tev::logit_rows<float> source(logit_table const& table) const {
    tev::logit_rows<float> rows{
        .logits = logits_.data(), .stride = table.vocab, .vocab = table.vocab};
    if (!masks_.empty()) rows.allowed = {masks_.data(), tev::bitmask_words(table.vocab)};
    return rows;
  }

  std::vector<float> logits_;
  std::vector<std::uint32_t> masks_;
  tev::softmax_storage storage_;
  tev::softmax_rows<float> rows_;
};

// A row answers draws with tokens of its support alone, each for as many numbers as it has mass.
void check_draws(tev::softmax_rows<float> const& row, checker& check) {
  std::uint64_t const total = row.total(0);
  std::uint64_t running = 0;
  auto const drawn = [&](std::uint64_t r) { return row.draw(team, 0, r, tev::no_tokens{}); };
  for (tev::token_id x = 0; x < row.vocab_size(); ++x) {
    std::uint64_t const mass = row.mass(0, x);
    if (mass == 0) continue;
    check.equal("token drawn at the first number of token " + text(x), x, drawn(running));
    running += mass;
    check.equal("token drawn at the last number of token " + text(x), x, drawn(running - 1));
  }
  check.equal("sum of the masses", total, running);
  check.equal("token drawn behind all mass", tev::no_token, drawn(total));
}

void check_row(fields const& the_case, fields const& expect, checker& check) {
  logit_table table{the_case["vocab"].index(), {the_case["logits"].singles()}, {}};
  if (auto const mask = the_case.find("mask")) table.masks.push_back(mask->words());
  require_lengths(table);
  prepared_rows const rows(table, read_parameters(the_case));
  auto const& row = rows.get();
  check.equal("expect.status", expect["status"].text(), std::string(name(row.row_status(0))));

  auto const support = expect["support"].indices();
  auto const probabilities = expect["prob"].numbers();
  if (support.size() != probabilities.size()) throw case_error("support and prob differ in length");
  std::vector<rational> got(static_cast<std::size_t>(table.vocab), 0);
  for (tev::token_id x = 0; x < table.vocab; ++x)
    if (row.mass(0, x) > 0) got[x] = rational(row.mass(0, x), row.total(0));
  std::vector<bool> listed(got.size(), false);
  for (std::size_t i = 0; i < support.size(); ++i) {
    tev::token_id const x = support[i];
    if (x < 0 || x >= table.vocab || listed[x]) throw case_error("support lists " + text(x));
    listed[x] = true;
    check.agrees("expect.prob of token " + text(x), probabilities[i], got[x]);
    if (got[x] == 0 && probabilities[i].rounded >= negligible)
      check.fail("expect.support", "token " + text(x), "no mass");
  }
  for (tev::token_id x = 0; x < table.vocab; ++x)
    if (!listed[x] && got[x] != 0)
      check.fail("expect.support", "no mass for token " + text(x), text(to_double(got[x])));
  check_draws(row, check);
}

struct tree_results {
  tev::exit_law<rational> exits;
  outcome_law law;
  tev::status state;
};

void compare(fields const& expect, tree_results const& got, logit_table const& table,
             checker& check) {
  check.equal("expect.status", expect["status"].text(), std::string(name(got.state)));
  check.agree("expect.reach", expect["reach"].numbers(), got.exits.reach);
  check.agree("expect.exit", expect["exit"].numbers(), got.exits.exit);
  check.agrees("expect.coverage", expect["coverage"].number(), got.exits.coverage);
  compare_law(check, "expect.law", read_law(expect["law"]), got.law,
              [&](tev::node_id v, tev::token_id x) { return table.impossible(v, x); });
}

void check_tree(fields const& the_case, fields const& expect, checker& check) {
  auto const parents = the_case["parent"].indices(), tokens = the_case["token"].indices();
  logit_table const table = read_tree_logits(the_case, the_case["vocab"].index());
  auto const parameters = read_parameters(the_case);
  bool const good =
      tev::validate({.parents = parents, .tokens = tokens, .vocab_size = table.vocab}).ok();
  if (!good) {
    auto const state =
        tev::is_valid(parameters) ? tev::status::bad_tree : tev::status::bad_parameter;
    return compare(expect, {nothing_reached(parents.size()), nothing_accepted(), state}, table,
                   check);
  }
  if (table.rows.size() != parents.size()) throw case_error("logits needs one row per node");
  auto const tree = tev::draft_tree::from_parents(parents, tokens);
  prepared_rows const rows(table, parameters);
  tev::problem const p{tree.view(), rows.get(), 5, 9};
  auto const law = tev_test::expected_law(p);
  compare(expect,
          {tev::exit_law_of<rational>(p.tree, p.target), law, request_status(law, p.target)}, table,
          check);
  verifier_check(check, p, law).run();
}

}  // namespace

void check_logits(fields const& the_case, checker& check) {
  std::string const kind = the_case["kind"].text();
  fields const expect = the_case["expect"].object("expect");
  if (kind == "row") return check_row(the_case, expect, check);
  if (kind == "tree") return check_tree(the_case, expect, check);
  throw unknown_kind("kind is \"" + kind + "\", which logits.json does not have");
}

}  // namespace conformance
