// batch.json: ragged batches -> law or greedy result per request.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/batch_run.hpp"
#include "conformance/element_offset.hpp"
#include "conformance/kinds.hpp"
#include "conformance/laws.hpp"
#include "conformance/verifiers.hpp"
#include "support/instance.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/tree/validate.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/predraw.hpp"

namespace conformance {

namespace {

// A batch case, and what is known of each request once it has been looked at.
struct batch_case {
  std::int32_t vocab = 0;
  std::int64_t stride = 0;
  bool from_masses = false;
  float pad = 0.0f;
  std::vector<std::uint64_t> masses{};  // [rows, stride], where the input is masses.
  std::vector<batch_request> requests{};
};

struct request_law {
  outcome_law law = nothing_accepted();
  rational coverage = 0;
  tev::status state = tev::status::bad_tree;
};

// Masses as logits, as far as logits can say it.
std::vector<float> logarithms(std::vector<std::uint64_t> const& masses) {
  double const largest = static_cast<double>(*std::ranges::max_element(masses));
  std::vector<float> row;
  for (std::uint64_t const mass : masses)
    row.push_back(mass == 0 ? -std::numeric_limits<float>::infinity()
                            : static_cast<float>(std::log(static_cast<double>(mass) / largest)));
  return row;
}

void read_masses(fields const& from, std::uint64_t pad, batch_case& batch, batch_request& request) {
  request.logits.vocab = batch.vocab;
  for (auto const& list : from["mass"].items()) {
    std::vector<std::uint64_t> row;
    for (auto const& mass : list.items()) row.push_back(mass.mass());
    if (std::ssize(row) != batch.vocab) throw case_error(list.place() + " needs vocab masses");
    request.logits.rows.push_back(logarithms(row));
    row.resize(static_cast<std::size_t>(batch.stride), pad);
    batch.masses.insert(batch.masses.end(), row.begin(), row.end());
  }
}

batch_case read_batch(fields const& the_case) {
  batch_case batch{.vocab = the_case["vocab"].index(), .stride = the_case["stride"].integer()};
  if (batch.vocab < 1 || batch.stride < batch.vocab)
    throw case_error("stride needs to be at least vocab, and that at least 1");
  std::string const input = the_case["input"].text();
  batch.from_masses = input == "mass";
  if (!batch.from_masses && input != "logits")
    throw case_error("input is \"" + input + "\", which is unknown");
  value const pad = the_case["pad"];
  batch.pad = pad.single();
  for (auto const& item : the_case["requests"].items()) {
    fields const from = item.object("request");
    batch_request request{from["parent"].indices(), from["token"].indices(), {}, {}};
    if (batch.from_masses) {
      read_masses(from, pad.mass(), batch, request);
    } else {
      request.logits = read_tree_logits(from, batch.vocab);
      request.parameters = read_parameters(from);
    }
    if (request.tokens.size() != request.parents.size() ||
        request.logits.rows.size() != request.parents.size())
      throw case_error(item.place() + ": parent, token and rows differ in length");
    batch.requests.push_back(std::move(request));
  }
  return batch;
}

// Looks at every request from inside a batch: rows, parameters and masks are those that the batch
// hands to a verifier.
struct looking_verifier {
  std::vector<request_law>* laws;
  checker* check;
  bool with_verifiers;

  template <class Team, class Problem, class Source>
  tev::outcome operator()(Team const& team, Problem const& p, Source const& source) const {
    tev::prepare_all(team, p.target, p.tree.size());
    auto& found = (*laws)[p.request];
    found.law = tev_test::expected_law(p);
    found.coverage = tev::exit_law_of<rational>(p.tree, p.target).coverage;
    found.state = request_status(found.law, p.target);
    if (with_verifiers) verifier_check(*check, p, found.law).run();
    return tev::predraw{}(team, p, source);
  }
};

batch_layout as_given(batch_case const& batch) {
  batch_layout layout{.stride = batch.stride, .pad = batch.pad};
  layout.order.resize(batch.requests.size());
  std::iota(layout.order.begin(), layout.order.end(), std::size_t{0});
  return layout;
}

// What the library's batch makes of each request.
std::vector<request_law> laws_in_batch(batch_case const& batch, checker& check) {
  std::vector<request_law> laws(batch.requests.size());
  batch_run run(batch.requests, batch.vocab, as_given(batch), 1);
  run.name_requests();
  auto const outcomes = run.run(looking_verifier{&laws, &check, !batch.from_masses});
  for (std::size_t i = 0; i < laws.size(); ++i)
    if (outcomes[i].state == tev::status::bad_parameter ||
        outcomes[i].state == tev::status::bad_tree)
      laws[i] = {.state = outcomes[i].state};
  return laws;
}

// The exact laws of masses that lie in the batch's own rows.
std::vector<request_law> laws_of_masses(batch_case const& batch, checker& check) {
  std::vector<request_law> laws;
  std::int64_t row = 0;
  for (auto const& request : batch.requests) {
    request_law found;
    auto const size = static_cast<std::int32_t>(request.parents.size());
    if (tev::validate({request.parents, request.tokens, batch.vocab}).ok()) {
      auto const tree = tev::draft_tree::from_parents(request.parents, request.tokens);
      tev::mass_storage<std::uint64_t> storage;
      tev::problem const p{tree.view(), storage.rows(batch.masses.data() + row * batch.stride, size,
                                                     batch.vocab, batch.stride)};
      tev::prepare_all(tev::serial_team{}, p.target, size);
      found.law = tev_test::expected_law(p);
      found.coverage = tev::exit_law_of<rational>(p.tree, p.target).coverage;
      found.state = request_status(found.law, p.target);
      verifier_check(check, p, found.law).run();
    }
    laws.push_back(found);
    row += size;
  }
  return laws;
}

// Runs whose outcomes have to be those of `base`, request by request.
template <class Verifier>
void check_layouts(batch_case const& batch, std::string const& name, Verifier const& verifier,
                   std::uint64_t seed, std::vector<batch_outcome> const& base, checker& check) {
  auto const compare = [&](batch_layout const& layout, std::string const& what) {
    auto const outcomes = batch_run(batch.requests, batch.vocab, layout, seed).run(verifier);
    for (std::size_t slot = 0; slot < outcomes.size(); ++slot)
      if (!(outcomes[slot] == base[layout.order[slot]]))
        check.fail(name + ", request " + text(layout.order[slot]) + " " + what,
                   "the outcome in the batch as given", "another");
  };
  auto layout = as_given(batch);
  layout.scratch = std::byte{0xff};
  compare(layout, "over other scratch");
  std::ranges::reverse(layout.order);
  layout.stride += 5;
  layout.pad = std::numeric_limits<float>::quiet_NaN();
  compare(layout, "in a reversed batch with padded rows");
  if (name != "predraw_eager") {  // Its workspace belongs to one thread.
    layout.threads = 3;
    compare(layout, "with three threads");
  }
  for (std::size_t i = 0; i < batch.requests.size(); ++i)
    compare({.order = {i}, .stride = batch.vocab}, "alone");
}

std::vector<std::vector<std::int32_t>> read_groups(std::optional<value> const& list) {
  std::vector<std::vector<std::int32_t>> groups;
  if (list)
    for (auto const& group : list->items()) groups.push_back(group.indices());
  return groups;
}

void check_groups(std::vector<std::vector<std::int32_t>> const& groups, std::string const& name,
                  std::vector<batch_outcome> const& outcomes, checker& check) {
  for (auto const& group : groups)
    for (std::int32_t const i : group) {
      if (i < 0 || i >= std::ssize(outcomes))
        throw case_error("identical names request " + text(i));
      if (!(outcomes[i] == outcomes[group[0]]))
        check.fail("identical, " + name, "the outcome of request " + text(group[0]),
                   "another for request " + text(i));
    }
}

void check_outcomes(batch_case const& batch, std::vector<request_law> const& laws,
                    std::vector<std::vector<std::int32_t>> const& groups, checker& check) {
  std::int32_t largest = 1;
  for (auto const& r : batch.requests)
    largest = std::max(largest, static_cast<std::int32_t>(r.parents.size()));
  tev_test::for_each_verifier([&](char const* name, auto&& make) {
    tev_test::verifier_workspace space(largest);
    auto const verifier = make(tev::default_flow_unit, space);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      auto const base = batch_run(batch.requests, batch.vocab, as_given(batch), seed).run(verifier);
      for (std::size_t i = 0; i < base.size(); ++i)
        if (!laws[i].law.contains({base[i].exit_node, base[i].bonus_token}))
          check.fail(std::string(name) + ", request " + text(i), "nothing outside its law",
                     "[" + text(base[i].exit_node) + ", " + text(base[i].bonus_token) + "]");
      check_groups(groups, name, base, check);
      check_layouts(batch, name, verifier, seed, base, check);
    }
  });
}

void compare_request(value const& item, request_law const& law, batch_outcome const& greedy,
                     logit_table const& logits, checker& check) {
  fields const expect = item.object("result");
  check.equal(item.place() + ".status", expect["status"].text(), std::string(name(law.state)));
  check.agrees(item.place() + ".coverage", expect["coverage"].number(), law.coverage);
  compare_law(check, item.place() + ".law", read_law(expect["law"]), law.law,
              [&](tev::node_id v, tev::token_id x) { return logits.impossible(v, x); });
  // A bad tree has no path: its outcome stands at the root.
  auto const path = greedy.path.empty() ? std::vector<tev::node_id>{0} : greedy.path;
  if (auto const wanted = expect.find("path"))
    check.equal(item.place() + ".path", wanted->indices(), path);
  if (auto const wanted = expect.find("bonus"))
    check.equal(item.place() + ".bonus", wanted->index(), greedy.bonus_token);
  auto const reason = expect.find("reason");
  if (reason || law.state == tev::status::bad_tree)
    check.equal(item.place() + ".reason",
                reason ? reason->text() : std::string("none, which a bad_tree needs"),
                std::string(name(greedy.fault.fault)));
}

void check_batch_case(fields const& the_case, fields const& expect, checker& check) {
  batch_case const batch = read_batch(the_case);
  auto const groups = read_groups(the_case.find("identical"));
  batch_run const run(batch.requests, batch.vocab, as_given(batch), 1);
  check.equal("expect.rows", expect["rows"].index(), run.rows());
  check.equal("expect.row_offset", expect["row_offset"].indices(), run.row_offsets());

  auto laws = laws_in_batch(batch, check);
  if (batch.from_masses) {
    auto const exact = laws_of_masses(batch, check);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      check.equal("status of request " + text(i) + " as logits", std::string(name(exact[i].state)),
                  std::string(name(laws[i].state)));
      rational const off = variation(exact[i].law, laws[i].law);
      if (to_double(off) > 1e-5)
        check.fail("law of request " + text(i) + " as logits", "that of its masses",
                   "another, " + text(to_double(off)) + " away in total variation");
    }
    laws = exact;
  }
  auto const greedy = run.run(tev::greedy{});
  auto const expected = expect["requests"].items();
  check.equal("expect.requests", expected.size(), laws.size());
  for (std::size_t i = 0; i < std::min(expected.size(), laws.size()); ++i)
    compare_request(expected[i], laws[i], greedy[i], batch.requests[i].logits, check);
  check_outcomes(batch, laws, groups, check);
}

}  // namespace

void check_batch(fields const& the_case, checker& check) {
  std::string const kind = the_case["kind"].text();
  fields const expect = the_case["expect"].object("expect");
  if (kind == "batch") return check_batch_case(the_case, expect, check);
  if (kind == "offset") return check_element_offset(the_case, expect, check);
  throw unknown_kind("kind is \"" + kind + "\", which batch.json does not have");
}

}  // namespace conformance
