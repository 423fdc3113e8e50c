#include "tev/build/chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/core/error.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/distribution/softmax_rows.hpp"

namespace {

using testing::ElementsAre;
using masses = std::vector<std::uint64_t>;

static_assert(tev::builder<tev::chain, tev::softmax_rows<float>>);

tev::built_tree chain_of(masses const& m, std::int32_t horizon, std::int32_t vocab,
                         std::int32_t budget) {
  tev::mass_storage<std::uint64_t> storage;
  return tev::chain{}(storage.rows(m.data(), horizon, vocab, vocab), horizon, budget);
}

masses const rows{1, 3, 4, 2, 2, 0, 0, 5, 5};

TEST(Chain, TakesTheBestTokenOfEveryRow) {
  auto const built = chain_of(rows, 3, 3, 10);
  EXPECT_THAT(built.tree.parents(), ElementsAre(-1, 0, 1, 2));
  EXPECT_THAT(built.tree.tokens(), ElementsAre(-1, 2, 0, 1)) << "the lower token on ties";
  EXPECT_THAT(built.score, ElementsAre(1.0, 0.5, 0.25, 0.125));
}

TEST(Chain, StopsAtTheBudget) {
  EXPECT_EQ(chain_of(rows, 3, 3, 3).tree.size(), 4);
  EXPECT_EQ(chain_of(rows, 3, 3, 2).tree.size(), 3);
  EXPECT_EQ(chain_of(rows, 3, 3, 0).tree.size(), 1);
  EXPECT_EQ(chain_of({}, 0, 3, 5).tree.size(), 1);
}

TEST(Chain, EndsAboveARowThatIsNotOk) {
  EXPECT_EQ(chain_of({1, 2, 0, 0, 1, 1}, 3, 2, 5).tree.size(), 2);
  EXPECT_EQ(chain_of({0, 0, 1, 1}, 2, 2, 5).tree.size(), 1);
}

TEST(Chain, RefusesANegativeBudgetOrHorizon) {
  EXPECT_THROW((void)chain_of(rows, 3, 3, -1), tev::argument_error);
  tev::mass_storage<std::uint64_t> storage;
  auto const draft = storage.rows(rows.data(), 3, 3, 3);
  EXPECT_THROW((void)tev::chain{}(draft, -1, 3), tev::argument_error);
}

}  // namespace
