// A batch of two requests, by hand.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "probe.hpp"
#include "tev/batch/outcome_storage.hpp"
#include "tev/batch/verify_batch.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/predraw.hpp"

namespace {

using namespace probe;

// Request 0: a root with the children 0, 1, 2; below 2 a child 1. Request 1: a chain of two.
struct scene {
  std::vector<std::int32_t> offsets{1, 6, 9}, counts{5, 2}, stop_offset{0, 0, 1};
  std::vector<tev::node_id> parents{9, -1, 0, 0, 0, 3, -1, 0, 9};
  std::vector<tev::token_id> tokens{9, -1, 0, 1, 2, 1, -1, 2, 9}, stop{2};
  std::vector<std::int64_t> rows{2, 0}, remaining{9, 9};
  std::vector<float> temperature{0.0f, 0.0f};
  std::vector<std::uint64_t> seed{1, 1}, request{4, 5};
  std::vector<std::uint32_t> position{100, 7};
  std::vector<float> logits;

  scene() {
    float const nan = std::numeric_limits<float>::quiet_NaN();
    // Rows 0 and 1 are request 1's, 2 to 6 request 0's; a fourth column is padding.
    for (int row = 0; row < 7; ++row)
      for (float const x : {0.0f, row == 5 ? 5.0f : 1.0f, row == 6 ? 0.5f : 2.0f, nan})
        logits.push_back(x);
  }

  tev::batch_input<float> input() const {
    tev::batch_input<float> in;
    in.trees.requests = 2;
    in.trees.node_offset = offsets.data();
    in.trees.node_count = counts.data();
    in.trees.parents = parents.data();
    in.trees.tokens = tokens.data();
    in.trees.row_offset = rows.data();
    in.logits = {logits.data(), 4, 3};
    in.row_count = 7;
    in.parameters.temperature = temperature.data();
    in.parameters.seed = seed.data();
    in.parameters.request = request.data();
    in.parameters.position = position.data();
    in.parameters.remaining = remaining.data();
    in.parameters.stop_offset = stop_offset.data();
    in.parameters.stop = stop.data();
    return in;
  }
};

void check_outcomes(scene const& s) {
  auto const in = s.input();
  tev::outcome_storage out(2, 4);
  std::vector<std::byte> workspace(tev::workspace_size(in), std::byte{0xff});
  tev::verify_batch(tev::greedy{}, in, out.view(), workspace);
  using nodes = std::vector<tev::node_id>;
  check(out.state[0] == tev::status::ok && out.state[1] == tev::status::ok, "states");
  check(out.exit_node == nodes{4, 1} && out.accepted_length == nodes{2, 1}, "exit nodes");
  check(out.path == nodes{0, 3, 4, -1, 0, 1, -1, -1}, "paths");
  check(out.emitted == nodes{2, 1, 1, -1, 2, -1, -1, -1}, "emitted tokens");
  check(out.emitted_count == nodes{3, 1} && out.cache_rows == nodes{3, 2}, "counts");
  check(out.emitted_row == std::vector<std::int64_t>{2, 5, 6, -1, 0, -1, -1, -1}, "rows");
  check(out.reason[0] == tev::finish::none && out.reason[1] == tev::finish::stop, "reasons");
  check(out.move_count == nodes{2, 0}, "numbers of moves");
  check(out.moves[0] == tev::slot_move{103, 101} && out.moves[1] == tev::slot_move{104, 102} &&
            out.moves[2] == tev::slot_move{-1, -1},
        "moves");
  check(out.margin[0] == 1.0f && out.margin[1] == 3.0f && out.margin[2] == 0.5f, "margins");
  check(out.log_probability[0] == 0.0f, "log-probability at temperature 0");
  float const raw = out.raw_log_probability[0];
  check(raw > -0.40761f && raw < -0.40760f, "raw log-probability");
  check(out.log_probability[3] != out.log_probability[3], "padding of floats");
}

void check_refusals(scene s) {
  s.parents[4] = 4;
  s.temperature[1] = -1.0f;
  auto const in = s.input();
  tev::outcome_storage out(2, 4);
  std::vector<std::byte> workspace(tev::workspace_size(in), std::byte{0xff});
  tev::verify_batch(tev::predraw{}, in, out.view(), workspace);
  check(out.state[0] == tev::status::bad_tree && out.state[1] == tev::status::bad_parameter,
        "refused");
  check(out.fault[0] == tev::tree_check{tev::tree_fault::cycle, 3}, "fault");
  for (int i = 0; i < 8; ++i)
    check(out.path[i] == -1 && out.emitted[i] == -1, "nothing of a refused request");
  check(out.cache_rows[0] == 0 && out.emitted_count[1] == 0, "no rows of a refused request");
}

void check_limit(scene s) {
  s.remaining[0] = 1;
  s.parents[7] = 3;
  s.temperature[1] = -1.0f;
  auto const in = s.input();
  tev::outcome_storage out(2, 4);
  std::vector<std::byte> workspace(tev::workspace_size(in));
  tev::verify_batch(tev::greedy{}, in, out.view(), workspace);
  check(out.reason[0] == tev::finish::length && out.cache_rows[0] == 2, "one token is left");
  check(out.move_count[0] == 1 && out.moves[1] == tev::slot_move{-1, -1}, "one row moves");
  check(out.state[1] == tev::status::bad_parameter, "parameters are judged first");
}

void check_seeds(scene s) {
  s.temperature = {1.0f, 1.0f};
  auto const decided = [&] {
    auto const in = s.input();
    tev::outcome_storage out(2, 4);
    std::vector<std::byte> workspace(tev::workspace_size(in));
    tev::verify_batch(tev::predraw{}, in, out.view(), workspace);
    auto numbers = out.emitted;
    numbers.insert(numbers.end(), out.exit_node.begin(), out.exit_node.end());
    return numbers;
  };
  bool seeds = false, requests = false, positions = false;
  auto const first = decided();
  for (int i = 0; i < 20; ++i) {
    auto other = s;
    ++s.seed[0];
    seeds |= decided() != first;
    s.seed = other.seed;
    s.request[0] += 1 + static_cast<std::uint64_t>(i);
    requests |= decided() != first;
    s.request = other.request;
    s.position[0] += 1 + static_cast<std::uint32_t>(i);
    positions |= decided() != first;
    s.position = other.position;
    s.seed[0] = other.seed[0];
  }
  check(requests && positions, "request and position name the numbers");
  for (std::uint64_t seed = 2; seed < 20; ++seed) {
    s.seed[0] = seed;
    seeds |= decided() != first;
  }
  check(seeds, "the seed names the numbers");
  s.seed = {2, 5};
  auto const before = decided();
  s.seed[1] = 6;
  for (int i = 0; i < 3; ++i)
    check(decided()[i] == before[i], "a neighbour's seed changes nothing");
}

}  // namespace

int main() {
  check_outcomes(scene{});
  check_refusals(scene{});
  check_limit(scene{});
  check_seeds(scene{});
  return finish();
}
