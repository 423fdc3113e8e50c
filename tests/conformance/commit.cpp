// commit.json: accepted path -> moves of cache slots, length, feature rows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/kinds.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/commit.hpp"

namespace conformance {

namespace {

std::vector<std::vector<std::int64_t>> as_pairs(std::vector<tev::slot_move> const& moves) {
  std::vector<std::vector<std::int64_t>> pairs;
  for (auto const& move : moves) pairs.push_back({move.from, move.to});
  return pairs;
}

std::string& at(std::vector<std::string>& cache, std::int64_t slot) {
  if (slot < 0 || slot >= std::ssize(cache))
    throw case_error("cache has no slot " + std::to_string(slot));
  return cache[static_cast<std::size_t>(slot)];
}

// The labels of the logical slots after the moves, one by one or all at once.
template <class Slots>
std::vector<std::string> labels_after(std::vector<std::string> cache, tev::commit_plan const& plan,
                                      Slots const& slots, bool at_once) {
  auto before = cache;
  for (auto const& move : plan.moves) at(cache, move.to) = at(at_once ? before : cache, move.from);
  std::vector<std::string> labels;
  for (std::int64_t s = 0; s < plan.length; ++s) labels.push_back(at(cache, slots.slot(s)));
  return labels;
}

struct commit_input {
  std::vector<tev::node_id> path;
  std::int64_t base;
  std::int64_t keep;
};

template <class Slots>
void check_slots(fields const& the_case, fields const& expect, commit_input const& input,
                 Slots const& slots, checker& check) {
  auto const plan = tev::plan_commit(input.path, input.base, input.keep, slots);
  std::vector<std::vector<std::int64_t>> moves;
  for (auto const& move : expect["moves"].items()) moves.push_back(move.integers());
  check.equal("expect.moves", moves, as_pairs(plan.moves));
  check.equal("expect.length", expect["length"].integer(), plan.length);
  check.equal("expect.pages_used", expect["pages_used"].integer(), plan.pages_used);
  check.equal("expect.overlap", expect["overlap"].flag(), plan.overlap);
  if (auto const cache = the_case.find("cache")) {
    auto const committed = expect["committed"].texts();
    check.equal("expect.committed", committed,
                labels_after(cache->texts(), plan, slots, /*at_once=*/false));
    check.equal("expect.committed, moved at once", committed,
                labels_after(cache->texts(), plan, slots, /*at_once=*/true));
  }
}

void check_features(value const& list, fields const& expect, commit_input const& input,
                    std::int32_t nodes, checker& check) {
  std::vector<double> features;
  std::size_t width = 0;
  auto const rows = list.items();
  if (std::ssize(rows) != nodes) throw case_error("features needs one row per node");
  for (auto const& row : rows) {
    auto const entries = row.items();
    width = entries.size();
    for (auto const& entry : entries) features.push_back(entry.real());
  }
  if (features.size() != rows.size() * width) throw case_error("rows of features differ in length");
  auto const kept = std::span(input.path).first(static_cast<std::size_t>(input.keep));
  std::vector<double> got(kept.size() * width);
  tev::gather_rows(std::span<double const>(features), width, kept, std::span(got));
  auto const expected = expect["features"].items();
  check.equal("expect.features", expected.size(), kept.size());
  for (std::size_t i = 0; i < std::min(expected.size(), kept.size()); ++i) {
    std::vector<double> row;
    for (auto const& entry : expected[i].items()) row.push_back(entry.real());
    check.equal(expected[i].place(), row,
                std::vector(got.begin() + static_cast<std::ptrdiff_t>(i * width),
                            got.begin() + static_cast<std::ptrdiff_t>((i + 1) * width)));
  }
}

}  // namespace

void check_commit(fields const& the_case, checker& check) {
  commit_input input{the_case["path"].indices(), the_case["base"].integer(), 0};
  auto const keep = the_case.find("keep");
  input.keep = keep ? keep->integer() : std::ssize(input.path);
  std::int32_t const nodes = the_case["nodes"].index();
  for (tev::node_id const v : input.path)
    if (v < 0 || v >= nodes) throw case_error("path names node " + std::to_string(v));

  fields const expect = the_case["expect"].object("expect");
  std::int64_t const page_size = the_case["page_size"].integer();
  if (auto const list = the_case.find("pages")) {
    auto const pages = list->integers();
    tev::paged_slots<std::int64_t> const slots{pages.data(), std::ssize(pages), page_size};
    check_slots(the_case, expect, input, slots, check);
  } else {
    check_slots(the_case, expect, input, tev::flat_slots{page_size}, check);
  }
  if (auto const features = the_case.find("features"))
    check_features(*features, expect, input, nodes, check);
}

}  // namespace conformance
