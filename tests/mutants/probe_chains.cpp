// Verifiers of chains, by enumeration over every draft and every number; and replayed numbers.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "probe.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/random/concept.hpp"
#include "tev/random/replay.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/block.hpp"
#include "tev/verify/chain.hpp"
#include "tev/verify/hierarchical.hpp"
#include "tev/verify/speculative_sampling.hpp"

namespace {

using namespace probe;
using tev::decision;
using tev::outcome;
using tev::purpose;
using tev::status;
using tev::token_id;
using text = std::vector<token_id>;
using law = std::map<text, fraction>;
using rows = tev::mass_rows<std::uint64_t>;
using masses = std::vector<std::uint64_t>;

// Every value of every number; no decision may be asked twice.
struct every_number {
  struct choice {
    decision what;
    std::uint64_t n, value;
  };
  mutable std::vector<choice> choices;
  mutable std::size_t asked = 0;

  std::uint64_t below(decision d, std::uint64_t n) const {
    check(n > 0, "a number below 0 was asked for");
    if (n == 0) return 0;
    if (asked == choices.size()) {
      for (auto const& c : choices) check(!(c.what == d), "a decision asked twice");
      choices.push_back({d, n, 0});
    }
    return choices[asked++].value;
  }
  [[nodiscard]] fraction weight() const {
    fraction w(1);
    for (auto const& c : choices) w = w * fraction(1, c.n);
    return w;
  }
  bool next() {
    asked = 0;
    for (; !choices.empty(); choices.pop_back())
      if (++choices.back().value < choices.back().n) return true;
    return false;
  }
};

struct chosen_end {
  bool high = false;
  mutable std::vector<decision> asked{};

  std::uint64_t below(decision d, std::uint64_t n) const {
    asked.push_back(d);
    return high ? n - 1 : 0;
  }
};

struct scene {
  text drafted;
  int vocab;
  masses target, draft;
  tev::mass_storage<std::uint64_t> target_rows{}, draft_rows{};

  tev::chain_problem<rows> lend() {
    auto const length = static_cast<std::int32_t>(drafted.size());
    return {drafted.data(),
            length,
            target_rows.rows(target.data(), length + 1, vocab, vocab),
            draft_rows.rows(draft.data(), length, vocab, vocab),
            1,
            20};
  }
};

// Two tokens, rows of up to two positions that depend on the first token.
struct world {
  std::map<text, masses> target, draft;

  static fraction share(masses const& row, token_id x) {
    return {row[static_cast<std::size_t>(x)], row[0] + row[1]};
  }
  [[nodiscard]] scene after(text const& drafted) const {
    scene s{drafted, 2, {}, {}};
    for (std::size_t i = 0; i <= drafted.size(); ++i) {
      text const before(drafted.begin(), drafted.begin() + static_cast<std::ptrdiff_t>(i));
      s.target.insert(s.target.end(), target.at(before).begin(), target.at(before).end());
      if (i < drafted.size())
        s.draft.insert(s.draft.end(), draft.at(before).begin(), draft.at(before).end());
    }
    return s;
  }
  // Continues a text with target samples until it has three tokens.
  void extend(text const& so_far, fraction weight, law& all) const {
    if (so_far.size() >= 3) {
      all[so_far] += weight;
      return;
    }
    for (token_id x = 0; x < 2; ++x) {
      auto const& row = target.at(so_far);
      if (row[static_cast<std::size_t>(x)] == 0) continue;
      text longer = so_far;
      longer.push_back(x);
      extend(longer, weight * share(row, x), all);
    }
  }
};

struct result {
  law texts;
  fraction accepted;
};

template <class Verifier>
result judge(world const& w, Verifier const& verifier) {
  result r;
  for (token_id a = 0; a < 2; ++a)
    for (token_id b = 0; b < 2; ++b) {
      auto const drafting = world::share(w.draft.at({}), a) * world::share(w.draft.at({a}), b);
      if (drafting == fraction(0)) continue;
      scene s = w.after({a, b});
      auto const p = s.lend();
      every_number source;
      do {
        auto const o = verifier(tev::serial_team{}, p, source);
        auto const weight = drafting * source.weight();
        check(o.state == status::ok, "a chain without a token");
        if (failed) return r;
        text emitted(s.drafted.begin(), s.drafted.begin() + o.accepted_length);
        emitted.push_back(o.bonus_token);
        w.extend(emitted, weight, r.texts);
        r.accepted += weight * fraction(static_cast<std::uint64_t>(o.accepted_length));
      } while (source.next());
    }
  return r;
}

void check_laws() {
  // The over-drafted token 0 twice; by token 10 / 9 are accepted, by block 11 / 9.
  masses const even{1, 1}, target{1, 2}, draft{2, 1};
  world w{{{{}, target}, {{0}, target}, {{1}, target}}, {{{}, draft}, {{0}, draft}, {{1}, draft}}};
  for (token_id a = 0; a < 2; ++a)
    for (token_id b = 0; b < 2; ++b) w.target[{a, b}] = even;
  auto const by_token = judge(w, tev::speculative_sampling{36});
  auto const by_block = judge(w, tev::block{36});
  law expected;
  w.extend({}, fraction(1), expected);
  check(by_token.texts == expected, "law of speculative_sampling");
  check(by_token.accepted == fraction(10, 9), "tokens accepted by speculative_sampling");
  check(by_block.texts == expected, "law of block");
  check(by_block.accepted == fraction(11, 9), "tokens accepted by block");
  auto const hierarchical = judge(w, tev::hierarchical{36});
  check(hierarchical.texts == expected && hierarchical.accepted == fraction(11, 9),
        "law of hierarchical");
  // Rows that differ, one that forbids a token, one that draft and target share.
  w.target[{0}] = {0, 3};
  w.draft[{0}] = {1, 1};
  w.target[{1}] = {1, 3};
  w.draft[{}] = {1, 1};
  w.target[{1, 1}] = {3, 1};
  expected.clear();
  w.extend({}, fraction(1), expected);
  check(judge(w, tev::speculative_sampling{12}).texts == expected,
        "law over unlike rows, by token");
  check(judge(w, tev::block{24}).texts == expected, "law over unlike rows, by block");
}

template <class Verifier>
outcome end_of(Verifier const& verifier, scene s, bool high, std::size_t* asked = nullptr) {
  chosen_end const source{high};
  auto const o = verifier(tev::serial_team{}, s.lend(), source);
  for (std::size_t i = 0; i < source.asked.size(); ++i) {
    bool const bonus = source.asked[i].what == purpose::residual;
    check(bonus || source.asked[i].what == purpose::sibling, "purposes of a chain");
    check(source.asked[i].request == 1, "the request of a chain");
    check(bonus || source.asked[i].position <= 20 + s.drafted.size(), "the position of a test");
    if (bonus)
      check(source.asked[i].position == 21u + static_cast<std::uint32_t>(o.accepted_length),
            "the position of a bonus token");
  }
  if (asked != nullptr) *asked = source.asked.size();
  return o;
}

template <class Verifier>
void check_ends(Verifier verifier, Verifier const& no_unit) {
  scene const plain{{0, 1}, 2, {1, 2, 2, 1, 1, 3}, {2, 1, 1, 2}};
  std::size_t asked = 0;
  check(end_of(verifier, plain, false) == outcome{2, 0, 2, status::ok}, "the low end");
  check(end_of(verifier, plain, true) == outcome{0, 1, 0, status::ok}, "the high end");
  check(end_of(no_unit, plain, true) == outcome{0, -1, 0, status::bad_parameter}, "no unit");
  scene one = plain;
  one.target[2] = one.target[3] = 0;
  check(end_of(verifier, one, true) == outcome{0, 1, 0, status::ok}, "one token, the high end");
  scene equal = plain;
  equal.draft = {2, 4, 2, 1};
  check(end_of(verifier, equal, true, &asked) == outcome{2, 1, 2, status::ok} && asked == 1,
        "a draft that is the target");
  // Wherever a row or a token is not usable, the tokens before it stand.
  for (std::size_t at = 0; at < 3; ++at)
    for (int kind = 0; kind < 3; ++kind) {
      if (at == 2 && kind > 0) continue;
      scene bad = plain;
      if (kind == 0) bad.target[2 * at] = bad.target[2 * at + 1] = 0;
      if (kind == 1) bad.draft[2 * at] = bad.draft[2 * at + 1] = 0;
      if (kind == 2) bad.drafted[at] = 7;
      auto const accepted = static_cast<std::int32_t>(at);
      outcome const expected{accepted, -1, accepted,
                             kind == 2 ? status::bad_tree : status::no_mass};
      check(end_of(verifier, bad, false) == expected, "a chain that is cut");
    }
  // Shares that round to nothing, and a token that the target forbids behind one it does not.
  scene const tiny{{0, 0}, 2, {0, 1, 1, 1, 1, 1}, {1, std::uint64_t{1} << 63, 1, 1}};
  scene const forbidden{{1, 0}, 2, {1, 1, 0, 1, 1, 1}, {1, 1, 1, 1}};
  for (bool const high : {false, true}) {
    check(end_of(verifier, tiny, high) == outcome{0, 1, 0, status::ok}, "shares of nothing");
    auto const o = end_of(verifier, forbidden, high);
    check(o == outcome{1, 1, 1, status::ok}, "a forbidden token");
  }
}

void check_replay() {
  using limits = std::numeric_limits<float>;
  std::uint64_t const n = std::uint64_t{1} << 62;
  auto const of = [&](auto u, std::uint64_t m) {
    return tev::replay<decltype(u)>{.numbers = &u, .count = 1}.below({0, 1, purpose::token, 0}, m);
  };
  check(of(0.0f, n) == 0 && of(-0.0f, n) == 0 && of(-1.0f, n) == 0 && of(-1.0, n) == 0 &&
            of(limits::quiet_NaN(), n) == 0 && of(static_cast<double>(limits::quiet_NaN()), n) == 0,
        "numbers that are nothing");
  check(of(1.0f, n) == n - 1 && of(1.0, n) == n - 1 && of(limits::infinity(), n) == n - 1 &&
            of(5.0, n) == n - 1,
        "numbers beyond the end");
  check(of(0.75f, 8) == 6 && of(0.75, n) == n / 4 * 3 && of(0.3125f, 16) == 5 &&
            of(0x1.8p-40, n) == std::uint64_t{3} << 21 &&
            of(0x1.8p-40f, n) == std::uint64_t{3} << 21,
        "numbers inside");
  check(of(~std::uint64_t{0}, n) == n - 1 && of(std::uint64_t{1} << 62, 8) == 2, "fixed point");
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t k = 0; k < 6; ++k) numbers.push_back(k << 60);
  tev::replay<std::uint64_t> const source{numbers.data(), 6, std::uint64_t{9} << 60, 20, 2, {5}};
  auto const at = [&](std::uint32_t position, purpose what, std::uint32_t index) {
    return source.below({1, position, what, index}, 16);
  };
  check(at(20, purpose::exit, 0) == 0 && at(21, purpose::sibling, 1) == 1 &&
            at(22, purpose::token, 0) == 2 && at(23, purpose::sibling, 1) == 5 &&
            at(77, purpose::residual, 0) == 9,
        "which number answers");
  for (decision const d :
       {decision{1, 24, purpose::sibling, 0}, decision{1, 21, purpose::sibling, 2},
        decision{1, 20, purpose::token, 0}, decision{1, 19, purpose::token, 0},
        decision{1, 21, purpose::exit, 0}, decision{1, 21, purpose::drafter, 0}})
    check(source.below(d, n) == tev::philox{5}.below(d, n), "what has no number");
}

}  // namespace

int main() {
  check_laws();
  check_ends(tev::speculative_sampling{}, tev::speculative_sampling{0});
  check_ends(tev::block{}, tev::block{0});
  check_ends(tev::hierarchical{}, tev::hierarchical{0});
  check_replay();
  return finish();
}
