// What each encoding's arrays say, entry for entry, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "support/refusal.hpp"
#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/encoding/ddtree.hpp"
#include "tev/encoding/link_view.hpp"
#include "tev/encoding/llama_cpp.hpp"
#include "tev/encoding/sglang.hpp"
#include "tev/encoding/tensorrt_llm.hpp"
#include "tev/encoding/xgrammar.hpp"
#include "tev/tree/commit.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/fault.hpp"
#include "tev/tree/parents_of_links.hpp"
#include "tev/tree/retrieve.hpp"
#include "tev/tree/validate.hpp"

namespace {

using tev_test::refusal;
std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using testing::ElementsAre;
using tev::draft_tree;
using tev::node_id;
using tev::token_id;
using tev::tree_check;
using tev::tree_fault;
using nodes = std::vector<node_id>;
using wide = std::vector<std::int64_t>;

constexpr std::int64_t beyond_32_bits = std::int64_t{1} << 32;

TEST(LinkArrays, NeedAscendingSiblingsOnlyWhereTheyAreReadInPlace) {
  wide const tokens{0, 5, 6}, children{2, -1, -1}, siblings{-1, -1, 1};
  tev::sglang::request_arrays const arrays{tokens, children, siblings};
  nodes parents(3), scratch(3);
  EXPECT_EQ(tev::read_parents(arrays, parents, scratch),
            (tree_check{tree_fault::link_mismatch, 2}));
  EXPECT_EQ(tev::read_tree(arrays), draft_tree::from_parents({-1, 0, 0}, {-1, 5, 6}));
}

TEST(LinkArrays, NeverCutWideIdsToOtherOnes) {
  nodes parents(2), scratch(2);
  auto const found = [&](wide const& tokens, wide const& children) {
    return tev::read_parents(tev::sglang::request_arrays{tokens, children, wide{-1, -1}}, parents,
                             scratch, 10);
  };
  EXPECT_TRUE(found({beyond_32_bits, 5}, {1, -1}).ok()) << "the root's token is not looked at";
  EXPECT_EQ(found({0, beyond_32_bits + 5}, {1, -1}), (tree_check{tree_fault::token_range, 1}));
  EXPECT_EQ(found({0, 10}, {1, -1}), (tree_check{tree_fault::token_range, 1}));
  EXPECT_EQ(found({0, 5}, {beyond_32_bits + 1, -1}), (tree_check{tree_fault::node_range, 0}));
  EXPECT_EQ(tev::narrow_id(beyond_32_bits + 5), -1);
  EXPECT_EQ(tev::narrow_id(-beyond_32_bits), -1);
  EXPECT_THROW((void)tev::ddtree::read<std::int64_t>(nodes{-1, 0}, wide{beyond_32_bits + 5}),
               tev::argument_error);
}

TEST(LinkArrays, NameDuplicatesAndShortArrays) {
  wide const tokens{0, 5, 5}, children{1, -1, -1}, siblings{-1, 2, -1};
  tev::sglang::request_arrays arrays{tokens, children, siblings};
  nodes parents(3), scratch(3);
  EXPECT_EQ(tev::read_parents(arrays, parents, scratch),
            (tree_check{tree_fault::duplicate_sibling, 2}));
  EXPECT_EQ(refusal([&] { (void)tev::read_parents(arrays, parents, std::span(scratch).first(2)); }),
            "read_parents: the size of scratch is 2, needs at least 3");
  arrays.tokens = arrays.tokens.first(2);
  EXPECT_EQ(tev::read_parents(arrays, parents, scratch),
            (tree_check{tree_fault::size_mismatch, -1}));
  EXPECT_THROW((void)tev::read_tree(arrays), tev::argument_error);
}

TEST(LinkArrays, AreNotWrittenWhereTheyAreTooShort) {
  auto const t = draft_tree::from_parents({-1, 0, 0}, {-1, 5, 6});
  wide tokens(3, 77), children(3, 77), siblings(3, 77);
  auto const write = [&](std::size_t room, std::size_t links) {
    return refusal([&] {
      tev::write_links(t, 9, std::span(tokens).first(room), std::span(children).first(links),
                       std::span(siblings));
    });
  };
  EXPECT_EQ(write(2, 3), "write_links: the size of tokens is 2, needs at least 3");
  EXPECT_EQ(write(3, 2), "write_links: first_child: the size is 2, needs 3");
  EXPECT_THAT(tokens, testing::Each(77));
  EXPECT_EQ(write(3, 3), "accepted");
  EXPECT_THAT(tokens, ElementsAre(9, 5, 6));
}

TEST(DdTree, NamesWhatIsWrongWithTheLists) {
  EXPECT_EQ(refusal([] { (void)tev::ddtree::read<std::int64_t>(nodes{-1, 0, 0}, wide{5}); }),
            "ddtree: the size of node_token_ids is 1, needs one less than parents: 3");
  using maps = std::vector<std::map<token_id, node_id>>;
  nodes parents(3), tokens(3);
  auto const found = [&](maps const& children) {
    return tev::ddtree::read_child_maps(children, parents, tokens);
  };
  EXPECT_TRUE(found({{{5, 1}, {6, 2}}, {}, {}}).ok());
  EXPECT_EQ(tokens, (nodes{-1, 5, 6}));
  EXPECT_EQ(found({{{5, 1}}, {}, {}}), (tree_check{tree_fault::unreached, 2}));
  EXPECT_EQ(found({{{5, 1}, {6, 2}}, {}}), (tree_check{tree_fault::size_mismatch, -1}));
  EXPECT_EQ(tev::ddtree::read_child_maps(maps(3), parents, std::span(tokens).first(2)),
            (tree_check{tree_fault::size_mismatch, -1}));
  EXPECT_EQ(tev::ddtree::read_child_maps(maps{}, std::span<node_id>{}, std::span<token_id>{}),
            (tree_check{tree_fault::empty, -1}));
}

TEST(Sglang, ChecksTheShapeOfABatch) {
  wide const six(6, -1), five(5, -1);
  tev::sglang::batch_arrays arrays{2, 3, six, {}, six, six};
  EXPECT_EQ(arrays.request(1).first_child.size(), 3u);
  EXPECT_EQ(arrays.request(1, 2).tokens.data(), six.data() + 3);
  EXPECT_EQ(refusal([&] { (void)arrays.request(2); }), "sglang: request is 2, needs [0, 2)");
  EXPECT_THROW((void)arrays.request(-1), tev::argument_error);
  EXPECT_EQ(refusal([&] { (void)arrays.request(0, 4); }),
            "sglang: the size of the tree is 4, needs [0, 3]");
  EXPECT_THROW((void)arrays.request(0, -1), tev::argument_error);
  EXPECT_THROW((void)arrays.wrong_row(0), tev::argument_error);
  arrays.retrive_index = five;
  EXPECT_THROW((void)arrays.request(0), tev::argument_error);
  wide const index{0, 1, 2, 3, 4, 4};
  arrays.retrive_index = index;
  EXPECT_EQ(arrays.wrong_row(0), -1);
  EXPECT_EQ(arrays.wrong_row(1), 2);
}

auto const example = draft_tree::from_parents({-1, 0, 0, 1, 2}, {-1, 5, 6, 7, 8});

TEST(Checks, AllocateNothing) {
  auto const links = example.view();
  std::span const children(links.children, 5), siblings(links.siblings, 5);
  auto const table = tev::retrieve_table_of(example);
  auto const rows = tev::llama_cpp::write(example, 9, 20);
  nodes const path{0, 2, 4};
  nodes parents(5), scratch(10), last(2);
  std::vector<tev::slot_move> moves(2);
  tev::tree_arrays const arrays{.parents = example.parents(),
                                .tokens = example.tokens(),
                                .check_links = true,
                                .first_child = children,
                                .next_sibling = siblings};
  tev::tensorrt_llm::packed_request_arrays const packed{example.tokens(), children, siblings};
  std::vector<std::int32_t> accept_index(4), accept_token(4);
  std::int32_t accepted = 0;

  std::size_t const before = allocations;
  bool const good =
      tev::validate(arrays, scratch).ok() &&
      tev::parents_of_links(children, siblings, parents).ok() &&
      tev::parents_of_retrieve(table.nodes, static_cast<std::size_t>(table.length), parents).ok() &&
      tev::read_parents(packed, parents, scratch).ok() &&
      tev::llama_cpp::read_parents(rows.positions, rows.offsets, rows.sequences, last, parents)
          .ok() &&
      tev::commit_moves(path, 3, 3, tev::flat_slots{}, moves).moves == 2;
  tev::tensorrt_llm::write_accepted(example, path, 3, std::span(accept_index),
                                    std::span(accept_token), accepted);
  std::size_t const after = allocations;
  EXPECT_TRUE(good);
  EXPECT_GT(before, 0u);
  EXPECT_EQ(after, before);
}

TEST(Sglang, GetsItsOutputsPadded) {
  std::vector<std::int32_t> predicts(12, 77), accept_index(4, 77);
  std::int32_t accepted = 77;
  tev::sglang::write_accepted(example, nodes{0, 2, 4}, 3, 1, 6, predicts, accept_index, accepted);
  EXPECT_THAT(predicts, ElementsAre(77, 77, 77, 77, 77, 77, 6, 0, 8, 0, 3, 0));
  EXPECT_THAT(accept_index, ElementsAre(6, 8, 10, -1));
  EXPECT_EQ(accepted, 2);
  auto const refused = [&](nodes const& path, std::int32_t b, std::size_t room) {
    EXPECT_THROW(tev::sglang::write_accepted(example, path, 3, b, 6, predicts,
                                             std::span(accept_index).first(room), accepted),
                 tev::argument_error);
  };
  refused({}, 1, 4);
  refused({0, 2, 4}, 1, 2);
  refused({0, 5}, 1, 4);
  refused({0, -1}, 1, 4);
  refused({0, 2}, 2, 4);
  refused({0, 2}, -1, 4);
  auto const message = [&](nodes const& path, std::int32_t b, std::int32_t rows) {
    return refusal([&] {
      tev::sglang::write_accepted(example, path, 3, b, rows, predicts, accept_index, accepted);
    });
  };
  EXPECT_EQ(message({0, 9}, 1, 6), "sglang: a node of the path is 9, needs [0, 5)");
  EXPECT_EQ(message({0, 2, 4, 4, 4}, 1, 6), "sglang: the length of the path is 5, needs [1, 4]");
  EXPECT_EQ(message({0, 2}, 1, 4), "sglang: predicts needs the rows of the request");
  EXPECT_EQ(message({0, 2}, 400000000, 6), "sglang: the batch has more rows than int32 names");
  EXPECT_THAT(accept_index, ElementsAre(6, 8, 10, -1)) << "nothing was written";
}

TEST(TensorRtLlm, GetsItsOutputsContiguous) {
  wide accept_index(4, 77), accept_token(4, 77);
  std::int64_t accepted = 77;
  tev::tensorrt_llm::write_accepted(example, nodes{0, 2, 4}, 3, std::span(accept_index),
                                    std::span(accept_token), accepted);
  EXPECT_THAT(accept_index, ElementsAre(0, 2, 4, 0));
  EXPECT_THAT(accept_token, ElementsAre(6, 8, 3, 0));
  EXPECT_EQ(accepted, 2);
}

TEST(XGrammar, FillsEachAdmittedNodeFromItsOwnState) {
  // Admits everything but token 6; a row's content is the path that leads to it.
  std::vector<token_id> state;
  std::vector<std::vector<token_id>> filled(5, {99});
  nodes order;
  tev::xgrammar::traverse(
      example,
      [&](node_id v) {
        order.push_back(v);
        filled[v] = state;
      },
      [&](node_id, token_id token) {
        if (token != 6) state.push_back(token);
        return token != 6;
      },
      [&] { state.pop_back(); });
  EXPECT_THAT(order, ElementsAre(0, 1, 3));
  EXPECT_THAT(filled, ElementsAre(ElementsAre(), ElementsAre(5), ElementsAre(99), ElementsAre(5, 7),
                                  ElementsAre(99)));
  EXPECT_TRUE(state.empty());
}

TEST(LlamaCpp, SharesRowsBetweenSequences) {
  auto const rows = tev::llama_cpp::write(example, 9, 20, 4);
  EXPECT_THAT(rows.tokens, ElementsAre(9, 5, 6, 7, 8));
  EXPECT_THAT(rows.positions, ElementsAre(20, 21, 21, 22, 22));
  EXPECT_THAT(rows.offsets, ElementsAre(0, 2, 3, 4, 5, 6));
  EXPECT_THAT(rows.sequences, ElementsAre(4, 5, 4, 5, 4, 5));

  // The members of llama_batch.
  struct {
    std::int32_t n_tokens = 0;
    std::int32_t token[5], pos[5], n_seq_id[5], *seq_id[5];
    std::int8_t logits[5] = {};
  } batch;
  std::int32_t ids[5][2];
  for (int v = 0; v < 5; ++v) batch.seq_id[v] = ids[v];
  EXPECT_EQ(refusal([&] { tev::llama_cpp::fill(rows, 4, 2, batch); }),
            "llama_cpp: the number of rows is 5, needs at most 4");
  EXPECT_EQ(refusal([&] { tev::llama_cpp::fill(rows, 5, 1, batch); }),
            "llama_cpp: the number of sequences of rows[0] is 2, needs at most 1");
  EXPECT_EQ(batch.n_tokens, 0);
  tev::llama_cpp::fill(rows, 5, 2, batch);
  EXPECT_EQ(batch.n_tokens, 5);
  EXPECT_THAT(batch.pos, ElementsAre(20, 21, 21, 22, 22));
  EXPECT_THAT(batch.n_seq_id, ElementsAre(2, 1, 1, 1, 1));
  EXPECT_THAT(ids[0], ElementsAre(4, 5));
  EXPECT_EQ(ids[4][0], 5);
  EXPECT_THAT(batch.logits, ElementsAre(1, 1, 1, 1, 1));
}

TEST(LlamaCpp, NamesWhatIsWrongWithTheRows) {
  using ids = std::vector<std::int32_t>;
  nodes parents(3), last(2);
  auto const found = [&](ids const& positions, ids const& offsets, ids const& sequences) {
    return tev::llama_cpp::read_parents(positions, offsets, sequences, last, parents);
  };
  ids const offsets{0, 2, 3, 4}, sequences{0, 1, 0, 1};
  EXPECT_TRUE(found({4, 5, 5}, offsets, sequences).ok());
  EXPECT_EQ(parents, (nodes{-1, 0, 0}));
  EXPECT_EQ(found({4, 5, 6}, offsets, sequences), (tree_check{tree_fault::parent_order, 2}));
  EXPECT_EQ(found({4, 5}, offsets, sequences), (tree_check{tree_fault::size_mismatch, -1}));
  EXPECT_EQ(found({4, 5, 5}, {0, 2, 3}, sequences), (tree_check{tree_fault::size_mismatch, -1}));
  EXPECT_EQ(found({4, 5, 5}, {1, 2, 3, 4}, sequences), (tree_check{tree_fault::size_mismatch, -1}));
  EXPECT_EQ(tev::llama_cpp::read_parents({}, ids{0}, {}, last, {}),
            (tree_check{tree_fault::empty, -1}));
  EXPECT_EQ(found({4, 5, 5}, offsets, {0, 1, 0, -1}), (tree_check{tree_fault::node_range, 2}));
  EXPECT_EQ(found({4, 5, 5}, {0, 3, 2, 4}, sequences), (tree_check{tree_fault::size_mismatch, 1}));
  EXPECT_EQ(found({4, 5, 5}, {0, 2, 2, 4}, sequences), (tree_check{tree_fault::unreached, 1}));
  EXPECT_EQ(found({4, 5, 5}, offsets, {0, 1, 0, 2}), (tree_check{tree_fault::node_range, 2}));
  EXPECT_EQ(found({4, 5, 5}, offsets, {0, 0, 0, 1}), (tree_check{tree_fault::two_parents, 0}));
  EXPECT_EQ(found({4, 5, 6}, {0, 1, 2, 3}, {0, 1, 0}), (tree_check{tree_fault::second_root, 1}));
  EXPECT_EQ(found({4, 5, 6}, {0, 2, 3, 5}, {0, 1, 0, 0, 1}),
            (tree_check{tree_fault::two_parents, 2}));
}

}  // namespace
