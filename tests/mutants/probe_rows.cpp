// Draws from softmax rows of several chunks, and the random numbers behind them.
#include <cstdint>
#include <vector>

#include "probe.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/draft_tree.hpp"

namespace {

using namespace probe;
using tev::node_id;
using tev::token_id;

void check_random() {
  using block = tev::philox::block;
  check(tev::philox::rounds({0, 0, 0, 0}, 0, 0) ==
            block{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u},
        "Philox known answer, zeros");
  check(
      tev::philox::rounds({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, 0xa4093822u,
                          0x299f31d0u) == block{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u},
      "Philox known answer, pi");
  // The same number as the last, asked for by its decision; words 3 and 2 are its upper half.
  tev::decision const d{0x85a308d3243f6a88u, 0x13198a2eu, static_cast<tev::purpose>(3), 0x707344u};
  tev::philox const source{0x299f31d0a4093822u};
  check(source.below(d, std::uint64_t{1} << 62) == 0x24126ea15001e420u >> 2,
        "layout of a decision");
  check(source.below(d, 3) == 0, "floor(u n) of a small range");
  check(tev::scale_fraction(~0ull, ~0ull, 1000) == 999, "the largest fraction stays below n");
  check(tev::scale_fraction(0x5555555555555555u, 0x8000000000000000u, 3) == 1,
        "the lower half carries");
}

void check_softmax() {
  constexpr int vocab = 2 * tev::chunk_size + 300;
  constexpr float octave = 0.6931472f;
  std::vector<float> logits(2 * vocab, -80.0f);
  generator g{11};
  for (int x = 0; x < vocab; x += 1 + g.below(30))
    logits[x] = -0.25f * static_cast<float>(g.below(60));
  for (int const x : {0, 1023, 1024, 2047, 2048, vocab - 1}) logits[x] = -1.0f;
  // The second row's first chunk has nothing but tokens of mass 1, 40 octaves below the largest.
  for (int const x : {5, 70, 900}) logits[vocab + x] = -39.5f * octave;
  logits[vocab + 1500] = logits[vocab + 1600] = 0.0f;
  tev::softmax_storage storage;
  auto const target = storage.rows(logits.data(), 2, vocab, vocab, 1.0f);
  auto const tree = tev::draft_tree::from_parents({-1, 0, 0, 0, 0}, {-1, 1023, 1024, 3, vocab - 1});
  tev::child_tokens<tev::draft_tree> const children{tree, 0};
  tev::serial_team const team;
  for (node_id v = 0; v < 2; ++v) {
    target.prepare(team, v);
    std::uint64_t total = 0, left = 0;
    for (int x = 0; x < vocab; ++x) {
      std::uint64_t const m = target.mass(v, x);
      if (m > 0) {
        check(target.draw(team, v, total, tev::no_tokens{}) == x, "first number of a token");
        check(target.draw(team, v, total + m - 1, tev::no_tokens{}) == x, "last number of a token");
      }
      total += m;
      if (m == 0 || tev::contains(children, x)) continue;
      check(target.draw(team, v, left, children) == x, "first number of a token of a residual");
      check(target.draw(team, v, left + m - 1, children) == x,
            "last number of a token of a residual");
      left += m;
    }
    check(total == target.total(v), "total is the sum of masses");
    check(target.draw(team, v, total, tev::no_tokens{}) == -1, "nothing beyond the total");
    check(target.draw(team, v, left, children) == -1, "nothing beyond the residual");
  }
  check(target.mass(1, 70) == 1, "mass 1 forty octaves below");
  check(target.best(team, 1) == 1500, "lowest token of the largest logit");
  auto const cold = storage.rows(logits.data(), 2, vocab, vocab, 0.0f);
  cold.prepare(team, 1);
  check(cold.best(team, 1) == 1500 && cold.mass(1, 1500) == cold.total(1), "temperature 0");
  check(cold.draw(team, 1, cold.total(1) - 1, tev::no_tokens{}) == 1500, "draw at temperature 0");
}

}  // namespace

int main() {
  check_random();
  check_softmax();
  return finish();
}
