// Batches: nothing but the request itself decides what becomes of it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "batch/batch_scene.hpp"
#include "tev/batch/thread_executor.hpp"
#include "tev/core/error.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/tree/path.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/predraw.hpp"
#include "tev/verify/sequential_residual.hpp"
#include "tev/verify/tree_exit.hpp"

namespace {

std::atomic<std::int64_t> allocations = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace tev_test;
using tev::status;

template <class Visit>
void for_each_stateless_verifier(Visit&& visit) {
  visit(tev::tree_exit{});
  visit(tev::predraw{});
  visit(tev::sequential_residual{});
  visit(tev::greedy{});
}

rc::Gen<std::vector<request_case>> some_requests() {
  return rc::gen::exec([] {
    auto const vocab = *rc::gen::element(3, 5, 33);
    auto const count = *rc::gen::inRange<std::size_t>(0, 6);
    return *rc::gen::container<std::vector<request_case>>(count, request_cases(vocab));
  });
}

RC_GTEST_PROP(Batch, DecidesARequestAsIfItWereAlone, ()) {
  auto const requests = *some_requests();
  memory_layout const layout{.row_padding = *rc::gen::inRange(0, 3),
                             .node_padding = *rc::gen::inRange(0, 3),
                             .rows_elsewhere = *rc::gen::arbitrary<bool>(),
                             .lists = *rc::gen::arbitrary<bool>(),
                             .width_padding = *rc::gen::inRange(0, 3)};
  for_each_stateless_verifier([&](auto const& verify) {
    std::vector<request_record> expected;
    for (auto const& r : requests)
      expected.push_back(batch_scene<float>({r}, {}).records(verify)[0]);
    batch_scene<float> const scene(requests, layout);
    RC_ASSERT(scene.records(verify) == expected);
    RC_ASSERT(scene.records(verify, tev::thread_executor{2}) == expected);
    RC_ASSERT(scene.records(verify, tev::thread_executor{5}) == expected);
    RC_ASSERT(batch_scene<tev::bfloat16>(requests, layout).records(verify) == expected);
    RC_ASSERT(batch_scene<tev::float16>(requests, layout).records(verify) == expected);

    auto reversed = requests;
    std::ranges::reverse(reversed);
    auto found = batch_scene<float>(reversed, layout).records(verify);
    std::ranges::reverse(found);
    RC_ASSERT(found == expected);
  });
}

// The effective row of a node, as the documentation describes it.
std::vector<float> effective_row(request_case const& r, std::size_t v) {
  std::vector<float> row = r.logits[v];
  for (std::size_t x = 0; x < row.size(); ++x)
    row[x] = r.allowed[v][x] ? row[x] + r.bias[v][x] : -std::numeric_limits<float>::infinity();
  return row;
}

RC_GTEST_PROP(Batch, SaysWhatTheVerifierDecidedAndWhatFollows, ()) {
  auto r = *request_cases(5);
  tev::outcome_storage out(1, 9);
  batch_scene<float> const scene({r}, {});
  auto const in = scene.input();
  std::vector<std::byte> workspace(tev::workspace_size(in));
  tev::verify_batch(tev::tree_exit{}, in, out.view(), workspace);

  bool const bad_parameter = !tev::is_valid(r.sampling);
  auto const check = tev::validate({.parents = r.parents, .tokens = r.tokens, .vocab_size = 5});
  RC_ASSERT((out.state[0] == status::bad_parameter) == bad_parameter);
  if (bad_parameter || !check.ok()) {
    RC_ASSERT(bad_parameter || out.state[0] == status::bad_tree);
    if (!bad_parameter) RC_ASSERT(out.fault[0] == check);
    RC_ASSERT(out.emitted_count[0] == 0 && out.cache_rows[0] == 0 && out.path[0] == tev::no_node);
    return;
  }
  auto const tree = tev::draft_tree::from_parents(r.parents, r.tokens);
  std::vector<float> rows;
  for (std::size_t v = 0; v < r.parents.size(); ++v)
    for (float const x : effective_row(r, v)) rows.push_back(x);
  tev::softmax_storage storage;
  tev::problem const p{tree.view(), storage.rows(rows.data(), tree.size(), 5, 5, r.sampling),
                       r.request, r.position};
  auto const o = tev::tree_exit{}(tev::serial_team{}, p, tev::philox{r.seed});
  RC_ASSERT(out.state[0] == o.state);
  RC_ASSERT(out.exit_node[0] == o.exit_node);
  RC_ASSERT(out.bonus_token[0] == o.bonus_token);
  RC_ASSERT(out.accepted_length[0] == o.accepted_length);

  auto const path = tev::path_to(tree, o.exit_node);
  auto const drafted = tev::tokens_to(tree, o.exit_node);
  auto const end =
      tev::end_of_block(drafted.data(), o.accepted_length, o.bonus_token,
                        {r.stop.data(), static_cast<std::int32_t>(r.stop.size()), r.remaining});
  RC_ASSERT(out.reason[0] == end.reason);
  RC_ASSERT(out.emitted_count[0] == end.emitted);
  RC_ASSERT(out.cache_rows[0] == end.cache_rows);
  for (std::int32_t i = 0; i < 9; ++i) {
    RC_ASSERT(out.path[i] == (i <= o.accepted_length ? path[i] : tev::no_node));
    bool const emitted = i < end.emitted;
    tev::token_id const token = i < o.accepted_length ? drafted[i] : o.bonus_token;
    RC_ASSERT(out.emitted[i] == (emitted ? token : tev::no_token));
    RC_ASSERT(out.emitted_row[i] == (emitted ? path[i] : -1));
    RC_ASSERT(std::isnan(out.log_probability[i]) == !emitted);
    if (!emitted) continue;
    double const share = static_cast<double>(p.target.mass(path[i], token)) /
                         static_cast<double>(p.target.total(path[i]));
    RC_ASSERT(std::fabs(out.log_probability[i] - std::log(share)) <= 1e-6 * (1 - std::log(share)));
  }
  auto const moves = tev::commit_moves(std::span(path).first(end.cache_rows), r.position);
  RC_ASSERT(out.move_count[0] == static_cast<std::int32_t>(moves.size()));
  for (std::size_t i = 0; i < 9; ++i)
    RC_ASSERT(out.moves[i] == (i < moves.size() ? moves[i] : tev::slot_move{-1, -1}));
}

TEST(Batch, GivesTheLogarithmOfTheUnfilteredSoftmaxHoweverSmall) {
  std::vector<float> const logits{0.0f, -60.0f, -1.0f, 3.0f};
  request_case r;
  r.parents = {tev::no_node};
  r.tokens = {tev::no_token};
  r.logits = {logits};
  r.allowed = {{false, true, false, false}};
  r.bias = {{0, 5.0f, 0, 0}};
  r.sampling = {.temperature = 0.3f, .top_k = 2};
  batch_scene<float> const scene({r}, {});
  auto const in = scene.input();
  tev::outcome_storage out(1, 1);
  std::vector<std::byte> workspace(tev::workspace_size(in));
  tev::verify_batch(tev::predraw{}, in, out.view(), workspace);
  double sum = 0;
  for (float const x : logits) sum += std::exp(static_cast<double>(x));
  EXPECT_EQ(out.emitted[0], 1);
  EXPECT_EQ(out.log_probability[0], 0.0f);
  EXPECT_NEAR(out.raw_log_probability[0], -60.0 - std::log(sum), 1e-4);
  EXPECT_EQ(out.margin[0], std::numeric_limits<float>::infinity());
}

TEST(NaturalLog, IsTheLibrarysToTheLastPlaces) {
  std::uint64_t state = 1;
  for (int i = 0; i < 100000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    double const x = std::ldexp(1.0 + static_cast<double>(state >> 12) * 0x1p-52,
                                static_cast<int>(state % 130u) - 65);
    double const expected = std::log(x);
    ASSERT_NEAR(tev::natural_log(x), expected, 4e-16 * std::max(1.0, std::fabs(expected))) << x;
  }
  EXPECT_EQ(tev::natural_log(1.0), 0.0);
}

request_case plain_request(std::int32_t nodes) {
  request_case r;
  for (std::int32_t v = 0; v < nodes; ++v) {
    r.parents.push_back(v - 1);
    r.tokens.push_back(1);
    r.logits.push_back({0, 9, 1});
    r.allowed.push_back({true, true, true});
    r.bias.push_back({0, 0, 0});
  }
  return r;
}

TEST(Batch, WithoutRequestsAndWithLoneRootsIsOrdinary) {
  EXPECT_TRUE(batch_scene<float>({}, {}).records(tev::tree_exit{}).empty());
  tev::batch_input<float> nothing;
  nothing.logits.vocab = 3;
  nothing.logits.stride = 3;
  tev::verify_batch(tev::tree_exit{}, nothing, {}, {});
  auto const found =
      batch_scene<float>({plain_request(1), {}, plain_request(1)}, {}).records(tev::tree_exit{});
  EXPECT_EQ(found[0], found[2]);
  EXPECT_EQ(found[1].numbers[0], static_cast<std::int64_t>(status::bad_tree));
  EXPECT_EQ(found[1].numbers[1], static_cast<std::int64_t>(tev::tree_fault::empty));
}

TEST(Batch, AllocatesNothing) {
  std::vector<request_case> requests(5, plain_request(6));
  requests[1].sampling = {.temperature = 0.6f, .top_k = 2, .top_p = 0.9f, .min_p = 0.1f};
  requests[2].parents[2] = 4;
  requests[3].sampling.temperature = -1;
  batch_scene<float> const scene(requests, {});
  auto const in = scene.input();
  tev::outcome_storage out(5, 8);
  auto const view = out.view();
  std::vector<std::byte> workspace(tev::workspace_size(in));
  for_each_stateless_verifier([&](auto const& verify) {
    std::int64_t const before = allocations;
    tev::verify_batch(verify, in, view, workspace);
    EXPECT_EQ(allocations, before);
  });
}

TEST(Batch, ReadsNothingOfAWorkspaceAndWritesOnlyInsideIt) {
  batch_scene<float> const scene({plain_request(3), plain_request(6)}, {});
  auto const in = scene.input();
  std::size_t const size = tev::workspace_size(in);
  auto const expected = scene.records(tev::predraw{});
  for (std::size_t const offset : {0u, 1u, 13u, 63u}) {
    std::vector<std::byte> memory(size + 128, std::byte{0x5a});
    tev::outcome_storage out(2, 8);
    tev::verify_batch(tev::predraw{}, in, out.view(), std::span(memory).subspan(offset, size));
    EXPECT_EQ(out.exit_node[1], expected[1].numbers[3]);
    for (std::size_t i = 0; i < memory.size(); ++i)
      ASSERT_TRUE((offset <= i && i < offset + size) || memory[i] == std::byte{0x5a}) << i;
  }
}

// Trees that nobody checked: whatever the arrays hold, each request ends inside them.
RC_GTEST_PROP(Batch, OfTrustedButDamagedTreesEndsWithAStatusOrAnOutcome, ()) {
  auto r = *request_cases(5);
  r.sampling = {};
  auto const size = static_cast<std::int32_t>(r.parents.size());
  auto const wild = rc::gen::container<std::vector<tev::node_id>>(
      static_cast<std::size_t>(size), rc::gen::element(-1000, -1, 0, 1, 2, 3, 5, 1 << 30));
  r.parents = *wild;
  r.tokens = *wild;
  batch_scene<float> const scene({r}, {});
  auto const children = *wild, siblings = *wild;
  for (bool const linked : {false, true}) {
    auto in = scene.input();
    in.trees.trusted = true;
    if (linked) {
      in.trees.first_child = children.data();
      in.trees.next_sibling = siblings.data();
    }
    for_each_stateless_verifier([&](auto const& verify) {
      tev::outcome_storage out(1, 7);
      std::vector<std::byte> workspace(tev::workspace_size(in));
      tev::verify_batch(verify, in, out.view(), workspace);
      RC_ASSERT(out.exit_node[0] >= 0 && out.exit_node[0] < size);
      RC_ASSERT(out.accepted_length[0] >= 0 && out.accepted_length[0] < size);
    });
  }
}

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
  expect_refused("trees.node_offset is null",
                 [](auto& in, auto&, auto&) { in.trees.node_offset = nullptr; });
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
