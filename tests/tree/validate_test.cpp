#include "tev/tree/validate.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/links.hpp"
#include "tree/random_tree.hpp"

namespace {

using tev::node_id;
using tev::token_id;
using tev::tree_arrays;
using tev::tree_check;
using tev::tree_fault;
using tev::validate;

using ids = std::vector<std::int32_t>;

tree_check check(ids const& parents, ids const& tokens) {
  return validate({.parents = parents, .tokens = tokens, .vocab_size = 10});
}

tree_check check_with_links(ids const& parents, ids const& children, ids const& siblings) {
  ids tokens;
  for (std::size_t v = 0; v < parents.size(); ++v) tokens.push_back(static_cast<token_id>(v));
  return validate({.parents = parents,
                   .tokens = tokens,
                   .check_links = true,
                   .first_child = children,
                   .next_sibling = siblings});
}

TEST(Validate, AcceptsALoneRootAndNeverReadsItsToken) {
  EXPECT_TRUE(check({-1}, {-1}).ok());
  EXPECT_TRUE(check({-1}, {std::numeric_limits<token_id>::max()}).ok());
  EXPECT_TRUE(check({-1, 0}, {3, 3}).ok());
}

TEST(Validate, AcceptsAnyOrderThatPutsParentsFirst) {
  EXPECT_TRUE(check({-1, 0, 1, 0, 2, 1}, {0, 1, 2, 3, 4, 5}).ok());
}

TEST(Validate, AcceptsOneTokenUnderDifferentParents) {
  EXPECT_TRUE(check({-1, 0, 0, 1, 2}, {0, 1, 2, 7, 7}).ok());
  EXPECT_TRUE(check({-1, 0, 1, 2}, {0, 4, 4, 4}).ok());
}

TEST(Validate, FindsTheArraysThatDifferInLength) {
  tree_check const expected{tree_fault::size_mismatch, -1};
  EXPECT_EQ(check({-1, 0}, {0}), expected);
  EXPECT_EQ(check({}, {0}), expected);
  EXPECT_EQ(check_with_links({-1, 0}, {1, -1}, {-1}), expected);
  EXPECT_EQ(check_with_links({-1, 0}, {1}, {-1, -1}), expected);
  EXPECT_EQ(check_with_links({-1, 0}, {}, {}), expected);
}

TEST(Validate, FindsTheMissingRoot) {
  EXPECT_EQ(check({}, {}), (tree_check{tree_fault::empty, -1}));
}

TEST(Validate, FindsARootWithAParent) {
  for (std::int32_t const parent : {0, 1, 5, -2}) {
    auto const found = check({parent, 0}, {0, 1});
    EXPECT_EQ(found, (tree_check{tree_fault::bad_root, 0})) << parent;
    EXPECT_NE(found, (tree_check{tree_fault::bad_root, 1})) << "the node counts";
    EXPECT_NE(found, (tree_check{tree_fault::second_root, 0})) << "the fault counts";
  }
}

TEST(Validate, FindsASecondRoot) {
  EXPECT_EQ(check({-1, 0, -1, -1}, {0, 1, 2, 3}), (tree_check{tree_fault::second_root, 2}));
}

TEST(Validate, FindsAParentOutsideTheTree) {
  for (std::int32_t const parent :
       {3, 4, -2, std::numeric_limits<node_id>::max(), std::numeric_limits<node_id>::min()}) {
    EXPECT_EQ(check({-1, 0, parent}, {0, 1, 2}), (tree_check{tree_fault::parent_range, 2}))
        << parent;
  }
}

TEST(Validate, FindsACycle) {
  EXPECT_EQ(check({-1, 0, 2}, {0, 1, 2}), (tree_check{tree_fault::cycle, 2})) << "own parent";
  EXPECT_EQ(check({-1, 2, 1}, {0, 1, 2}), (tree_check{tree_fault::cycle, 1}));
  EXPECT_EQ(check({-1, 0, 4, 2, 3}, {0, 1, 2, 3, 4}), (tree_check{tree_fault::cycle, 2}));
}

TEST(Validate, FindsAParentBehindItsChild) {
  EXPECT_EQ(check({-1, 2, 0}, {0, 1, 2}), (tree_check{tree_fault::parent_order, 1}));
  EXPECT_EQ(check({-1, 0, 4, 0, 3}, {0, 1, 2, 3, 4}), (tree_check{tree_fault::parent_order, 2}));
}

TEST(Validate, CountsDraftedNodesAgainstTheBudget) {
  ids const parents{-1, 0, 1, 1}, tokens{0, 1, 2, 3};
  auto const with_budget = [&](std::int32_t budget) {
    return validate({.parents = parents, .tokens = tokens, .budget = budget});
  };
  EXPECT_TRUE(with_budget(3).ok());
  EXPECT_EQ(with_budget(2), (tree_check{tree_fault::over_budget, 3}));
  EXPECT_EQ(with_budget(0), (tree_check{tree_fault::over_budget, 1}));
  EXPECT_EQ(with_budget(-5), (tree_check{tree_fault::over_budget, 1}));
}

TEST(Validate, AcceptsALoneRootWithBudgetZero) {
  ids const parents{-1}, tokens{0};
  EXPECT_TRUE(validate({.parents = parents, .tokens = tokens, .budget = 0}).ok());
}

TEST(Validate, FindsATokenOutsideTheVocabulary) {
  for (std::int32_t const token : {10, -1, std::numeric_limits<token_id>::min()}) {
    EXPECT_EQ(check({-1, 0, 1}, {0, 1, token}), (tree_check{tree_fault::token_range, 2})) << token;
  }
  EXPECT_TRUE(check({-1, 0}, {0, 9}).ok());
  EXPECT_TRUE(check({-1, 0}, {0, 0}).ok());
}

TEST(Validate, NamesTheFirstDuplicateSibling) {
  EXPECT_EQ(check({-1, 0, 0}, {0, 4, 4}), (tree_check{tree_fault::duplicate_sibling, 2}));
  EXPECT_EQ(check({-1, 0, 0, 1, 0, 1, 0}, {0, 9, 2, 5, 2, 5, 9}),
            (tree_check{tree_fault::duplicate_sibling, 4}))
      << "the lowest node whose token an earlier sibling has";
  EXPECT_EQ(check({-1, 0, 0, 1, 1, 0}, {0, 5, 6, 7, 7, 5}),
            (tree_check{tree_fault::duplicate_sibling, 4}))
      << "also when a later one has the lower parent";
  EXPECT_EQ(check({-1, 0, 0, 0, 0}, {0, 4, 4, 4, 4}),
            (tree_check{tree_fault::duplicate_sibling, 2}));
}

TEST(Validate, FindsLinksThatContradictTheParents) {
  ids const parents{-1, 0, 0, 1};
  EXPECT_TRUE(check_with_links(parents, {1, 3, -1, -1}, {-1, 2, -1, -1}).ok());
  auto const mismatch = [](node_id v) { return tree_check{tree_fault::link_mismatch, v}; };
  EXPECT_EQ(check_with_links(parents, {2, 3, -1, -1}, {-1, -1, 1, -1}), mismatch(0)) << "order";
  EXPECT_EQ(check_with_links(parents, {1, 3, -1, -1}, {-1, -1, -1, -1}), mismatch(1)) << "lost";
  EXPECT_EQ(check_with_links(parents, {1, 3, -1, -1}, {-1, 2, 1, -1}), mismatch(2)) << "loop";
  EXPECT_EQ(check_with_links(parents, {1, 3, -1, 1000000}, {-1, 2, -1, -1}), mismatch(3));
}

TEST(Validate, LooksAtParentsBeforeBudgetTokensAndLinks) {
  ids const parents{-1, 5, 0}, tokens{0, 99, 99}, links{7, 7, 7};
  tree_arrays const arrays{.parents = parents,
                           .tokens = tokens,
                           .vocab_size = 10,
                           .budget = 0,
                           .check_links = true,
                           .first_child = links,
                           .next_sibling = links};
  EXPECT_EQ(validate(arrays), (tree_check{tree_fault::parent_range, 1}));
}

TEST(Validate, EveryFaultHasItsOwnWord) {
  std::vector<std::string> words;
  for (std::int32_t f = 0; f <= static_cast<std::int32_t>(tree_fault::unreached); ++f)
    words.emplace_back(name(static_cast<tree_fault>(f)));
  EXPECT_EQ(words, (std::vector<std::string>{
                       "ok", "size_mismatch", "empty", "bad_root", "second_root", "parent_range",
                       "cycle", "parent_order", "over_budget", "token_range", "duplicate_sibling",
                       "link_mismatch", "node_range", "two_parents", "unreached"}));
}

TEST(Validate, TakesScratchOfTheCallersAndNeedsTwoEntriesANode) {
  ids const parents{-1, 0, 0, 1, 1}, tokens{9, 2, 1, 4, 4};
  ids scratch(tev::validate_scratch(5), 77);
  EXPECT_EQ(scratch.size(), 10u);
  EXPECT_EQ(validate({.parents = parents, .tokens = tokens}, scratch),
            (tree_check{tree_fault::duplicate_sibling, 4}));
  scratch.pop_back();
  try {
    (void)validate({.parents = parents, .tokens = tokens}, scratch);
    ADD_FAILURE() << "accepted";
  } catch (tev::argument_error const& e) {
    EXPECT_STREQ(e.what(), "validate: the size of scratch is 9, needs at least 10");
  }
  EXPECT_EQ(validate(tree_arrays{}, std::span<node_id>{}), (tree_check{tree_fault::empty, -1}));
}

// The definition, word for word: quadratic, and blind to how `validate` works.
bool is_tree(ids const& parents, ids const& tokens, std::int32_t vocab) {
  if (parents.empty() || parents.size() != tokens.size() || parents[0] != -1) return false;
  for (std::size_t v = 1; v < parents.size(); ++v) {
    if (parents[v] < 0 || parents[v] >= static_cast<std::int32_t>(v)) return false;
    if (tokens[v] < 0 || tokens[v] >= vocab) return false;
    for (std::size_t u = 1; u < v; ++u)
      if (parents[u] == parents[v] && tokens[u] == tokens[v]) return false;
  }
  return true;
}

RC_GTEST_PROP(Validate, AgreesWithTheDefinitionOnArraysThatAreNearlyTrees, ()) {
  auto const size = *rc::gen::inRange<std::size_t>(0, 8);
  auto parents = *rc::gen::container<ids>(size, rc::gen::inRange(-1, 8));
  if (!parents.empty() && *rc::gen::inRange(0, 4) != 0) parents[0] = -1;
  auto const tokens = *rc::gen::container<ids>(size, rc::gen::inRange(-1, 6));
  auto const found = validate({.parents = parents, .tokens = tokens, .vocab_size = 5});
  RC_ASSERT(found.ok() == is_tree(parents, tokens, 5));
  RC_ASSERT(found.node >= -1 && found.node < static_cast<node_id>(std::max<std::size_t>(size, 1)));
}

RC_GTEST_PROP(Validate, EndsAndStaysInsideTheArraysForAnyNumbers, ()) {
  auto const parents = *rc::gen::arbitrary<ids>();
  auto const tokens = *rc::gen::arbitrary<ids>();
  auto const children = *rc::gen::arbitrary<ids>();
  auto const siblings = *rc::gen::arbitrary<ids>();
  auto const found = validate({.parents = parents,
                               .tokens = tokens,
                               .vocab_size = *rc::gen::arbitrary<std::int32_t>(),
                               .budget = *rc::gen::arbitrary<std::int32_t>(),
                               .check_links = *rc::gen::arbitrary<bool>(),
                               .first_child = children,
                               .next_sibling = siblings});
  RC_ASSERT(found.node < static_cast<node_id>(std::max<std::size_t>(parents.size(), 1)));
}

RC_GTEST_PROP(Validate, AcceptsEveryGeneratedTreeWithItsLinks, ()) {
  auto const t = tev_test::random_tree(40, 6);
  ids children(t.size()), siblings(t.size());
  tev::link_children(t.parents(), children, siblings);
  RC_ASSERT(validate({.parents = t.parents(),
                      .tokens = t.tokens(),
                      .vocab_size = 6,
                      .budget = t.size() - 1,
                      .check_links = true,
                      .first_child = children,
                      .next_sibling = siblings})
                .ok());
}

}  // namespace
