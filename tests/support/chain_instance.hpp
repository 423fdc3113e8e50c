// Chains with rows that depend on what was drafted: what the law tests of chain verifiers are made
// of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "support/enumerating_source.hpp"
#include "support/instance.hpp"
#include "support/interval_law.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/chain.hpp"

namespace tev_test {

using text = std::vector<tev::token_id>;
using text_law = std::map<text, rational>;  ///< Texts of probability 0 are absent.
using rows_after = std::map<text, std::vector<std::uint64_t>>;

/// The rows of target and draft after every text that can be drafted.
struct chain_world {
  std::int32_t vocab = 1;
  std::int32_t length = 0;
  rows_after target;  ///< Texts of up to `length` tokens.
  rows_after draft;   ///< Texts of fewer.

  friend std::ostream& operator<<(std::ostream& out, chain_world const& w) {
    for (auto const* const rows : {&w.target, &w.draft})
      for (auto const& [before, row] : *rows) {
        out << (rows == &w.target ? "target after" : "draft after");
        for (auto const x : before) out << ' ' << x;
        out << ':';
        for (auto const m : row) out << ' ' << m;
        out << '\n';
      }
    return out;
  }
};

inline text prefix(text const& whole, std::size_t count) {
  return {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(count)};
}

inline text extended(text before, tev::token_id x) {
  before.push_back(x);
  return before;
}

/// Probability of a token in a row, from its masses.
inline rational probability(std::vector<std::uint64_t> const& row, tev::token_id x) {
  std::uint64_t total = 0;
  for (auto const m : row) total += m;
  return total == 0 ? rational(0) : rational(row[x]) / rational(total);
}

/// Calls `visit(text, probability)` for every text of `length` tokens that rows can give, in order.
template <class Visit>
void for_each_text(rows_after const& rows, std::int32_t length, Visit&& visit) {
  text_law texts{{{}, rational(1)}};
  for (std::int32_t i = 0; i < length; ++i) {
    text_law longer;
    for (auto const& [before, weight] : texts) {
      auto const& row = rows.at(before);
      for (tev::token_id x = 0; x < static_cast<tev::token_id>(row.size()); ++x)
        if (row[x] != 0) longer[extended(before, x)] = weight * probability(row, x);
    }
    texts = std::move(longer);
  }
  for (auto const& [whole, weight] : texts) visit(whole, weight);
}

using integer_chain = tev::chain_problem<integer_rows>;

/// Owns the arrays of one drafted chain of a world and lends problems over them.
class chain_scene {
 public:
  chain_scene(chain_world const& world, text drafted)
      : vocab_(world.vocab), drafted_(std::move(drafted)) {
    for (std::size_t i = 0; i <= drafted_.size(); ++i) {
      append(target_, world.target.at(prefix(drafted_, i)));
      if (i < drafted_.size()) append(draft_, world.draft.at(prefix(drafted_, i)));
    }
  }

  /// A problem whose rows are not prepared; the one lent before is no longer valid.
  [[nodiscard]] integer_chain problem(std::uint64_t request = 5, std::uint32_t position = 9) {
    auto const length = static_cast<std::int32_t>(drafted_.size());
    return {drafted_.data(),
            length,
            target_storage_.rows(target_.data(), length + 1, vocab_, vocab_),
            draft_storage_.rows(draft_.data(), length, vocab_, vocab_),
            request,
            position};
  }

  [[nodiscard]] text const& drafted() const { return drafted_; }

 private:
  static void append(std::vector<std::uint64_t>& all, std::vector<std::uint64_t> const& row) {
    all.insert(all.end(), row.begin(), row.end());
  }

  std::int32_t vocab_;
  text drafted_;
  std::vector<std::uint64_t> target_, draft_;
  tev::mass_storage<std::uint64_t> target_storage_, draft_storage_;
};

/// The least unit for which every division on the way through a drafted chain is exact, for all
/// chain verifiers: the least common multiple of the denominators of the draft's and the target's
/// probabilities, of the capped joint ratios c_i, and of c_i times the target's probabilities
/// after i tokens. None when it does not fit 63 bits.
inline std::optional<std::uint64_t> exact_chain_unit(chain_world const& world,
                                                     text const& drafted) {
  big_integer unit = 1;
  auto const divides = [&](rational const& r) { unit = lcm(unit, big_integer(denominator(r))); };
  rational ratio = 1;
  for (std::size_t i = 0; i < drafted.size(); ++i) {
    auto const& target = world.target.at(prefix(drafted, i));
    auto const& draft = world.draft.at(prefix(drafted, i));
    for (tev::token_id x = 0; x < world.vocab; ++x) {
      divides(probability(draft, x));
      divides(probability(target, x));
      divides(ratio * probability(target, x));
    }
    rational const there = probability(draft, drafted[i]);
    if (there != 0) ratio *= probability(target, drafted[i]) / there;
    if (ratio > 1) ratio = 1;
    divides(ratio);
  }
  if (unit > big_integer(~std::uint64_t{0} >> 1)) return std::nullopt;
  return static_cast<std::uint64_t>(unit);
}

/// The law of what a chain verifier emits over every draft: accepted tokens and the bonus token,
/// which is absent behind a row without one. `unit_of(drafted)` is the unit for a chain, and
/// `make(unit)` the verifier.
template <class Make, class UnitOf>
[[nodiscard]] text_law block_law(chain_world const& world, Make const& make,
                                 UnitOf const& unit_of) {
  text_law law;
  for_each_text(world.draft, world.length, [&](text const& drafted, rational const& weight) {
    chain_scene scene(world, drafted);
    auto const verifier = make(unit_of(drafted));
    auto const p = scene.problem();
    std::vector<std::uint64_t> answers;
    for_each_interval([&](auto const& source) { return verifier(tev::serial_team{}, p, source); },
                      answers, weight,
                      [&](tev::outcome const& o, rational const& w) {
                        text emitted = prefix(drafted, static_cast<std::size_t>(o.accepted_length));
                        if (o.bonus_token != tev::no_token) emitted.push_back(o.bonus_token);
                        law[emitted] += w;
                      });
  });
  return law;
}

/// The law of texts of length + 1 tokens that go on from a block with target samples.
inline text_law extended_law(chain_world const& world, text_law const& blocks) {
  text_law law;
  for (auto const& [start, weight] : blocks) {
    text_law texts{{start, weight}};
    for (std::size_t i = start.size(); i <= static_cast<std::size_t>(world.length); ++i) {
      text_law longer;
      for (auto const& [before, w] : texts) {
        auto const& row = world.target.at(before);
        for (tev::token_id x = 0; x < world.vocab; ++x)
          if (row[x] != 0) longer[extended(before, x)] += w * probability(row, x);
      }
      texts = std::move(longer);
    }
    for (auto const& [whole, w] : texts) law[whole] += w;
  }
  return law;
}

/// The law of a target text of length + 1 tokens.
inline text_law target_law(chain_world const& world) {
  text_law law;
  for_each_text(world.target, world.length + 1,
                [&](text const& whole, rational const& w) { law[whole] = w; });
  return law;
}

/// Mean number of accepted tokens, for blocks that all have a bonus token.
inline rational mean_accepted(text_law const& blocks) {
  rational mean = 0;
  for (auto const& [block, weight] : blocks) mean += weight * rational(block.size() - 1);
  return mean;
}

}  // namespace tev_test
