// What a batch has to bring: calls that contradict themselves are refused, and nothing is written.
#include "tev/batch/batch_input.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "batch/batch_scene.hpp"
#include "tev/batch/outcome_batch.hpp"
#include "tev/batch/outcome_storage.hpp"
#include "tev/batch/verify_batch.hpp"
#include "tev/core/error.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/tree_exit.hpp"

namespace {

using namespace tev_test;
using tev::status;

using change = std::function<void(tev::batch_input<float>&, tev::outcome_batch&, std::size_t&)>;

void expect_refused(std::string const& text, change const& spoil) {
  batch_scene<float> const scene({plain_request(2), plain_request(3)}, {});
  auto in = scene.input();
  tev::outcome_storage out(2, 4);
  out.state.assign(2, status::no_mass);
  out.emitted.assign(8, 77);
  auto view = out.view();
  std::vector<std::byte> workspace(tev::workspace_size(in));
  std::size_t size = workspace.size();
  spoil(in, view, size);
  try {
    tev::verify_batch(tev::tree_exit{}, in, view, std::span(workspace).first(size));
    FAIL() << "accepted: " << text;
  } catch (tev::argument_error const& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
  EXPECT_EQ(out.state, std::vector(2, status::no_mass));
  EXPECT_EQ(out.emitted, std::vector<tev::token_id>(8, 77));
}

TEST(Batch, RefusesACallThatContradictsItselfBeforeAnythingIsWritten) {
  static constexpr std::int32_t falling[] = {0, 3, 2}, negative[] = {-1, 2, 5};
  static constexpr std::int32_t too_many[] = {3, 3};
  static constexpr std::int64_t far_rows[] = {0, 3};
  static constexpr tev::node_id links[5] = {};
  expect_refused("trees.requests is -1, needs at least 0",
                 [](auto& in, auto&, auto&) { in.trees.requests = -1; });
  expect_refused("trees.node_offset is null", [](auto& in, auto&, auto&) {
    in.trees.node_offset = nullptr;
    EXPECT_GT(tev::workspace_size(in), 0u);
  });
  expect_refused("trees.node_offset[2] is 2, needs at least the offset before it, 3",
                 [](auto& in, auto&, auto&) { in.trees.node_offset = falling; });
  expect_refused("trees.node_offset[0] is -1",
                 [](auto& in, auto&, auto&) { in.trees.node_offset = negative; });
  expect_refused("trees.node_count[0] is 3, needs [0, 2]",
                 [](auto& in, auto&, auto&) { in.trees.node_count = too_many; });
  expect_refused("trees.parents is null",
                 [](auto& in, auto&, auto&) { in.trees.parents = nullptr; });
  expect_refused("trees.tokens is null", [](auto& in, auto&, auto&) { in.trees.tokens = nullptr; });
  expect_refused("trees.next_sibling is null",
                 [](auto& in, auto&, auto&) { in.trees.first_child = links; });
  expect_refused("trees.first_child is null",
                 [](auto& in, auto&, auto&) { in.trees.next_sibling = links; });
  expect_refused(
      "the first logits row of request[1] is 3, needs its 3 rows inside [0, row_count = 5)",
      [](auto& in, auto&, auto&) { in.trees.row_offset = far_rows; });
  expect_refused("the first logits row of request[1] is 2",
                 [](auto& in, auto&, auto&) { in.row_count = 4; });
  expect_refused("the number of rows is -1", [](auto& in, auto&, auto&) { in.row_count = -1; });
  expect_refused("vocab is 0, needs [1, 2^24)",
                 [](auto& in, auto&, auto&) { in.logits.vocab = 0; });
  expect_refused("vocab is 16777216", [](auto& in, auto&, auto&) { in.logits.vocab = 1 << 24; });
  expect_refused("stride is 2, needs at least vocab = 3",
                 [](auto& in, auto&, auto&) { in.logits.stride = 2; });
  expect_refused("logits is null", [](auto& in, auto&, auto&) { in.logits.logits = nullptr; });
  expect_refused("bitmask stride is 0, needs at least the 1 words of vocab = 3",
                 [](auto& in, auto&, auto&) { in.logits.allowed.stride = 0; });
  expect_refused("bias stride is 2", [](auto& in, auto&, auto&) { in.logits.bias.stride = 2; });
  expect_refused("parameters.seed is null",
                 [](auto& in, auto&, auto&) { in.parameters.seed = nullptr; });
  expect_refused("parameters.position is null",
                 [](auto& in, auto&, auto&) { in.parameters.position = nullptr; });
  expect_refused("parameters.stop_offset[2] is 2",
                 [](auto& in, auto&, auto&) { in.parameters.stop_offset = falling; });
  expect_refused("outcomes.state is null", [](auto&, auto& out, auto&) { out.state = nullptr; });
  expect_refused("outcomes.width is 2, needs at least 3, 1 + the depth of the deepest tree",
                 [](auto&, auto& out, auto&) { out.width = 2; });
  expect_refused("the size of workspace is", [](auto&, auto&, auto& size) { --size; });
  static constexpr std::int64_t lists[] = {0, 1, 0, 0, 0, 0};
  expect_refused("bias offsets[2] is 0, needs at least the offset before it, 1",
                 [](auto& in, auto&, auto&) { in.logits.bias = {.offsets = lists}; });
  static constexpr std::int64_t good_lists[] = {0, 1, 1, 1, 1, 1};
  expect_refused("bias tokens is null",
                 [](auto& in, auto&, auto&) { in.logits.bias = {.offsets = good_lists}; });
}

TEST(Batch, MakesABiasListOutOfOrderTheRequestsStatus) {
  batch_scene<float> const scene({plain_request(1), plain_request(1)}, {});
  auto in = scene.input();
  std::int64_t const offsets[] = {0, 2, 4};
  float const values[] = {1, 1, 1, 1};
  for (auto const& tokens :
       {std::vector<tev::token_id>{2, 1, 0, 1}, {0, 0, 0, 1}, {0, 3, 0, 1}, {-1, 1, 0, 1}}) {
    in.logits.bias = {.offsets = offsets, .tokens = tokens.data(), .values = values};
    tev::outcome_storage out(2, 1);
    std::vector<std::byte> workspace(tev::workspace_size(in));
    tev::verify_batch(tev::greedy{}, in, out.view(), workspace);
    EXPECT_EQ(out.state, (std::vector{status::bad_parameter, status::ok}));
  }
}

template <class Verifier>
tev::outcome_storage outcomes_of(Verifier const& verify, tev::batch_input<float> const& in,
                                 std::int32_t width) {
  tev::outcome_storage out(in.trees.requests, width);
  std::vector<std::byte> workspace(tev::workspace_size(in));
  tev::verify_batch(verify, in, out.view(), workspace);
  return out;
}

TEST(Batch, TakesTheDefaultsForParameterArraysThatAreNull) {
  std::vector<request_case> requests(2, plain_request(4));
  requests[0].request = requests[1].request = 0;
  requests[1].parents[2] = 0;
  requests[1].tokens[2] = 2;
  batch_scene<float> const scene(requests, {});
  auto const in = scene.input();
  auto bare = in;
  bare.parameters = {.seed = in.parameters.seed, .position = in.parameters.position};
  auto const written = outcomes_of(tev::tree_exit{}, in, 4);
  auto const left_out = outcomes_of(tev::tree_exit{}, bare, 4);
  EXPECT_EQ(left_out.state, std::vector(2, status::ok));
  EXPECT_EQ(left_out.path, written.path);
  EXPECT_EQ(left_out.emitted, written.emitted);
  EXPECT_EQ(left_out.reason, written.reason);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(left_out.log_probability[0]),
            std::bit_cast<std::uint32_t>(written.log_probability[0]));
}

TEST(Batch, WritesOnlyTheOutcomesThatAreWanted) {
  batch_scene<float> const scene({plain_request(4), plain_request(2)}, {});
  auto const in = scene.input();
  auto const all = outcomes_of(tev::greedy{}, in, 4);
  std::vector<std::byte> workspace(tev::workspace_size(in));
  auto const with = [&](auto wanted) {
    std::vector<status> state(2, status::no_mass);
    tev::outcome_batch out{.width = 4, .state = state.data()};
    wanted(out);
    tev::verify_batch(tev::greedy{}, in, out, workspace);
    EXPECT_EQ(state, all.state);
  };
  with([](tev::outcome_batch&) {});
  std::vector<float> margin(8);
  with([&](tev::outcome_batch& out) { out.margin = margin.data(); });
  EXPECT_EQ(margin[0], 8.0f);
  std::vector<float> raw(8);
  with([&](tev::outcome_batch& out) { out.raw_log_probability = raw.data(); });
  EXPECT_EQ(raw[0], all.raw_log_probability[0]);
  std::vector<std::int32_t> count(2, -5);
  with([&](tev::outcome_batch& out) { out.move_count = count.data(); });
  EXPECT_EQ(count, all.move_count);
  std::vector<tev::slot_move> moves(8);
  with([&](tev::outcome_batch& out) { out.moves = moves.data(); });
  EXPECT_EQ(moves, all.moves);
}

TEST(Batch, OfEmptyTreesNeedsNoTreeArrays) {
  batch_scene<float> const scene({{}, {}}, {});
  auto in = scene.input();
  in.trees.parents = nullptr;
  in.trees.tokens = nullptr;
  auto const found = outcomes_of(tev::tree_exit{}, in, 1);
  EXPECT_EQ(found.state, std::vector(2, status::bad_tree));
  EXPECT_EQ(found.fault[1].fault, tev::tree_fault::empty);
}

// The links lead one step further down than the parents that the width was measured by.
TEST(Batch, MakesAWalkLongerThanTheWidthOfATrustedTreeTheRequestsStatus) {
  auto r = plain_request(3);
  r.parents = {tev::no_node, 0, 0};
  batch_scene<float> const scene({r}, {});
  auto in = scene.input();
  static constexpr tev::node_id children[] = {1, 2, -1}, siblings[] = {-1, -1, -1};
  in.trees.trusted = true;
  in.trees.first_child = children;
  in.trees.next_sibling = siblings;
  auto const found = outcomes_of(tev::greedy{}, in, 2);
  EXPECT_EQ(found.state[0], status::bad_tree);
  EXPECT_EQ(found.fault[0].fault, tev::tree_fault::link_mismatch);
  EXPECT_EQ(found.emitted_count[0], 0);
}

TEST(Batch, RefusesCountsAndRowsBelowZero) {
  static constexpr std::int32_t counts[] = {2, -1};
  static constexpr std::int64_t rows[] = {0, -1};
  expect_refused("trees.node_count[1] is -1, needs [0, 3]",
                 [](auto& in, auto&, auto&) { in.trees.node_count = counts; });
  expect_refused("the first logits row of request[1] is -1",
                 [](auto& in, auto&, auto&) { in.trees.row_offset = rows; });
}

}  // namespace
