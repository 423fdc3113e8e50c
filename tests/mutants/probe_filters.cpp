// Filters, bitmask and bias against a row that is filtered token by token.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "probe.hpp"
#include "tev/distribution/log_probability.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/team/serial_team.hpp"

namespace {

using namespace probe;
using tev::token_id;

constexpr tev::serial_team alone;
constexpr int vocab = 2 * tev::chunk_size + 40;
constexpr float inf = std::numeric_limits<float>::infinity();
using row = std::vector<float>;

// ceil(k / 64 * n)
std::uint64_t share_of(int k, std::uint64_t n) {
  return static_cast<std::uint64_t>((static_cast<tev::uint128>(n) * static_cast<unsigned>(k) + 63) /
                                    64);
}

// Sorts; shares are in 64ths, 64 is off for top_p and 0 for min_p.
std::vector<std::uint64_t> naive(row const& r, float temperature, int k, int top_p, int min_p) {
  float maximum = -inf;
  for (float const x : r) maximum = maximum < x ? x : maximum;
  auto const scale = tev::octave_scale_of(temperature);
  auto const mass = [&](int x) {
    if (r[x] == maximum) return tev::top_mass;
    return r[x] == -inf ? 0 : tev::mass_of_octaves(tev::octaves_below(maximum, r[x], scale));
  };
  std::vector<int> order(r.size());
  for (int x = 0; x < vocab; ++x) order[x] = x;
  std::sort(order.begin(), order.end(),
            [&](int x, int y) { return r[x] != r[y] ? r[x] > r[y] : x < y; });
  if (k > 0 && k < vocab) order.resize(static_cast<std::size_t>(k));
  std::uint64_t total = 0, running = 0;
  for (int const x : order) total += mass(x);
  std::uint64_t const wanted = top_p == 64 ? total : share_of(top_p, total);
  std::vector<std::uint64_t> left(r.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    int const x = order[i];
    bool const stays = (i == 0 || running < wanted) && mass(x) >= share_of(min_p, tev::top_mass) &&
                       (min_p < 64 || r[x] == maximum);
    if (stays) left[x] = mass(x);
    running += mass(x);
  }
  return left;
}

template <class Rows>
void expect(Rows const& rows, std::vector<std::uint64_t> const& expected, char const* what) {
  rows.prepare(alone, 0);
  std::uint64_t total = 0;
  bool same = true;
  for (int x = 0; x < vocab; ++x) {
    same &= rows.mass(0, x) == expected[x];
    if (expected[x] != 0)
      same &= rows.draw(alone, 0, total + expected[x] - 1, tev::no_tokens{}) == x;
    total += expected[x];
  }
  check(same && rows.total(0) == total, what);
}

row some_row(generator& g, int kind) {
  row r(vocab);
  for (auto& x : r)
    x = kind == 0   ? 0.25f * static_cast<float>(g.below(64))
        : kind == 1 ? -0.001f * static_cast<float>(g.below(60000))
                    : 2.0f;
  if (kind == 1) r[1500] = 8.0f;
  return r;
}

void check_filters() {
  generator g{3};
  for (int kind = 0; kind < 3; ++kind) {
    auto const r = some_row(g, kind);
    struct {
      int k, top_p, min_p;
    } const filters[] = {{20, 64, 0}, {1, 64, 0}, {300, 61, 0}, {0, 61, 0},
                         {0, 0, 0},   {0, 20, 3}, {50, 64, 64}, {0, 64, 16}};
    for (auto const& f : filters)
      for (int const capacity : {0, tev::default_cut_capacity}) {
        tev::softmax_storage storage;
        auto rows =
            storage.rows(r.data(), 1, vocab, vocab,
                         tev::sampling_parameters{3.0f, f.k, static_cast<float>(f.top_p) / 64,
                                                  static_cast<float>(f.min_p) / 64});
        if (capacity == 0) rows.space = {};
        expect(rows, naive(r, 3.0f, f.k, f.top_p, f.min_p), "a filter keeps what it should");
      }
  }
}

void check_mask_and_bias() {
  generator g{8};
  row const r = some_row(g, 1);
  row effective = r;
  row bias(vocab, 0.0f);
  std::vector<std::uint32_t> words(tev::bitmask_words(vocab) + 1, ~0u);
  std::vector<token_id> tokens;
  std::vector<float> values;
  for (int x = 0; x < vocab; ++x) {
    if (x % 7 == 3) effective[x] += bias[x] = 0.5f;
    if (x % 11 == 4) {
      tokens.push_back(x);
      values.push_back(1.25f);
      effective[x] += 1.25f;
    }
    if (x % 5 != 2) continue;
    words[x / 32] &= ~(1u << (x % 32));
    effective[x] = -inf;
  }
  std::int64_t const offsets[] = {0, static_cast<std::int64_t>(tokens.size())};
  tev::logit_rows<float> source{r.data(), vocab, vocab};
  source.allowed = {words.data(), tev::bitmask_words(vocab)};
  source.bias = {bias.data(), vocab, offsets, tokens.data(), values.data()};
  tev::softmax_storage storage;
  expect(storage.rows(source, 1, tev::sampling_parameters{2.0f, 100}),
         naive(effective, 2.0f, 100, 64, 0), "bitmask and bias");
  row sorted = effective;
  float first = -inf, second = -inf;
  for (float const x : sorted) {
    if (x > first)
      second = first, first = x;
    else if (x > second)
      second = x;
  }
  auto const rows = storage.rows(source, 1, tev::sampling_parameters{});
  rows.prepare(alone, 0);
  check(rows.margin(alone, 0) == first - second, "margin");
}

void check_parameters() {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  auto const good = [](float t, float p, float m) { return tev::is_valid({t, 0, p, m}); };
  check(good(0.0f, 0.0f, 1.0f) && good(1.0f, 1e30f, 0.0f), "parameters in range");
  check(!good(-1.0f, 1.0f, 0.0f) && !good(nan, 1.0f, 0.0f) && !good(inf, 1.0f, 0.0f),
        "temperature");
  check(!good(1.0f, -1.0f, 0.0f) && !good(1.0f, inf, 0.0f), "top_p");
  check(!good(1.0f, 1.0f, -1.0f) && !good(1.0f, 1.0f, 1.5f), "min_p");
  row const neighbours{8.0f, 7.9999995f};
  tev::softmax_storage storage;
  auto const rows =
      storage.rows(neighbours.data(), 1, 2, 2, tev::sampling_parameters{1e6f, 0, 1.0f, 1.0f});
  rows.prepare(alone, 0);
  check(rows.mass(0, 0) == tev::top_mass && rows.mass(0, 1) == 0, "min_p 1 looks at logits");
  check(tev::ceil_share(0.5f, 3) == 2 && tev::ceil_share(0x1p-149f, 5) == 1 &&
            tev::ceil_share(0.25f, 8) == 2 && tev::ceil_share(0x1p-127f, ~0ull) == 1,
        "ceil_share");
  check(tev::to_float(tev::float16{0x3c00}) == 1.0f &&
            tev::to_float(tev::float16{0x0001}) == 0x1p-24f &&
            tev::to_float(tev::float16{0xfbff}) == -65504.0f,
        "binary16");
  double const ln = tev::natural_log(10.0);
  check(ln > 2.302585092994045 && ln < 2.302585092994047, "natural_log");
}

}  // namespace

int main() {
  check_filters();
  check_mask_and_bias();
  check_parameters();
  return finish();
}
