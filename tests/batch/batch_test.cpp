// Batches: nothing but the request itself decides what becomes of it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
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

}  // namespace
