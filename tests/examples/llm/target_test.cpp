// Equal bits of the target's rows however they are computed, and what it refuses.

#include "llm/target.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "llm/thread_pool.hpp"
#include "model_support.hpp"
#include "tev/tree/commit.hpp"

namespace {

using llm_test::expect_error;
using llm_test::floats;
using llm_test::indices;
using llm_test::outputs;
using llm_test::run;
using llm_test::tokens;

constexpr std::size_t hidden = 192, taps = 3, vocab = 1056;

/// Row `row` of all outputs of a forward.
outputs output_row(outputs const& all, std::size_t row) {
  auto const cut = [&](floats const& values, std::size_t width) {
    auto const found = llm_test::row_of(values, row, width);
    return floats(found.begin(), found.end());
  };
  return {cut(all.features, taps * hidden), cut(all.hidden, hidden), cut(all.logits, vocab)};
}

/// A tree behind a context, as one forward reads it.
struct random_tree {
  random_tree(std::mt19937& source, std::size_t nodes, std::int32_t root_position)
      : ids(llm_test::random_tokens(source, nodes)), words((nodes + 31) / 32), mask(nodes * words) {
    for (std::size_t v = 0; v < nodes; ++v) {
      auto const parent = v == 0 ? std::size_t{0} : source() % v;
      paths.push_back(v == 0 ? indices{} : paths[parent]);
      paths.back().push_back(static_cast<std::int32_t>(v));
      positions.push_back(root_position + static_cast<std::int32_t>(paths.back().size()) - 1);
      for (std::int32_t const u : paths.back()) {
        mask[v * words + static_cast<std::size_t>(u) / 32] |= 1U << (u % 32);
      }
    }
  }

  tokens ids;
  indices positions;
  std::vector<indices> paths;  // of every node, root first
  std::size_t words;
  std::vector<std::uint32_t> mask;
};

TEST(Target, GivesEveryTreeNodeTheBitsOfItsPath) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  std::mt19937 source(1);
  for (std::size_t nodes : {2, 9, 33, 70}) {
    tokens const context = llm_test::random_tokens(source, 3 + nodes / 3);
    random_tree const tree(source, nodes, static_cast<std::int32_t>(context.size()));
    auto cache = model.make_cache(static_cast<std::int64_t>(context.size() + nodes));
    run(model, context, cache, pool);
    outputs const together = run(model, tree.ids, tree.positions, tree.mask, cache, pool);
    for (std::size_t v = 0; v < nodes; ++v) {
      tokens path = context;
      for (std::int32_t const u : tree.paths[v])
        path.push_back(tree.ids[static_cast<std::size_t>(u)]);
      ASSERT_EQ(output_row(together, v), output_row(run(model, path, pool), path.size() - 1))
          << "node " << v << " of " << nodes;
    }
  }
}

TEST(Target, GivesTheBitsOfAWholeForwardInAnySplit) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  std::mt19937 source(2);
  tokens const ids = llm_test::random_tokens(source, 45);
  outputs const whole = run(model, ids, pool);
  for (int trial = 0; trial < 12; ++trial) {
    auto cache = model.make_cache(45);
    for (std::size_t done = 0; done < ids.size();) {
      std::size_t const step = trial == 0 ? 1 : std::min(1 + source() % 13, ids.size() - done);
      outputs const part = run(model, std::span(ids).subspan(done, step), cache, pool);
      for (std::size_t row = 0; row < step; ++row) {
        ASSERT_EQ(output_row(part, row), output_row(whole, done + row)) << done + row;
      }
      done += step;
    }
  }
}

TEST(Target, GoesOnAfterACommittedPathAsFromScratch) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  std::mt19937 source(3);
  for (int trial = 0; trial < 6; ++trial) {
    tokens text = llm_test::random_tokens(source, 11);
    auto const base = static_cast<std::int64_t>(text.size());
    random_tree const tree(source, 40, static_cast<std::int32_t>(base));
    auto cache = model.make_cache(base + 60);
    run(model, text, cache, pool);
    run(model, tree.ids, tree.positions, tree.mask, cache, pool);
    indices const& path = tree.paths[20 + source() % 20];
    cache.gather(tev::commit_moves(path, base), base + static_cast<std::int64_t>(path.size()));
    for (std::int32_t const u : path) text.push_back(tree.ids[static_cast<std::size_t>(u)]);

    tokens const next = llm_test::random_tokens(source, 2);
    outputs const after = run(model, next, cache, pool);
    text.insert(text.end(), next.begin(), next.end());
    outputs const scratch = run(model, text, pool);
    EXPECT_EQ(output_row(after, 0), output_row(scratch, text.size() - 2));
    EXPECT_EQ(output_row(after, 1), output_row(scratch, text.size() - 1));
  }
}

TEST(Target, ForgetsWhatIsCropped) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  std::mt19937 source(4);
  tokens const kept = llm_test::random_tokens(source, 13),
               other = llm_test::random_tokens(source, 9);
  auto cache = model.make_cache(30);
  run(model, kept, cache, pool);
  run(model, other, cache, pool);
  cache.crop(13);
  outputs const after = run(model, {other.data(), 1}, cache, pool);
  tokens whole = kept;
  whole.push_back(other[0]);
  EXPECT_EQ(output_row(after, 0), output_row(run(model, whole, pool), 13));
}

TEST(Target, GivesTheSameBitsOnAnyNumberOfThreads) {
  auto const& model = llm_test::tiny_target();
  std::mt19937 source(5);
  tokens const ids = llm_test::random_tokens(source, 90);
  llm::thread_pool one;
  outputs const expected = run(model, ids, one);
  for (int threads : {2, 3}) {
    llm::thread_pool pool(threads);
    EXPECT_EQ(run(model, ids, pool), expected);
  }
}

TEST(Target, GivesARowTheSameBitsWhateverTheOtherRowsAre) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  std::mt19937 source(6);
  for (std::size_t n = 1; n <= 15; ++n) {
    tokens ids(n, 7);
    indices const positions(n, 20);
    std::vector<std::uint32_t> mask(n);
    for (std::size_t v = 0; v < n; ++v) mask[v] = 1U << v;
    std::size_t const row = source() % n;
    for (std::size_t v = 0; v < n; ++v) {
      if (v != row) ids[v] = static_cast<llm::token_id>(source() % 1000);
    }
    auto cache = model.make_cache(40), alone = model.make_cache(40);
    tokens const context = llm_test::random_tokens(source, 20);
    run(model, context, cache, pool);
    run(model, context, alone, pool);
    EXPECT_EQ(
        output_row(run(model, ids, positions, mask, cache, pool), row),
        run(model, std::span(ids).subspan(row, 1), std::span(positions).first(1), {}, alone, pool))
        << n;
  }
}

TEST(Target, FollowsTheOrderOfTheFeatureLayers) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  tokens const ids{5, 900, 17};
  auto cache = model.make_cache(6);
  outputs const straight = run(model, ids, cache, pool);
  cache.crop(0);
  outputs const turned =
      run(model, ids, llm_test::positions_from(0, 3), {}, cache, pool, {2, 0, 2});
  for (std::size_t row = 0; row < 3; ++row) {
    auto const from = [&](outputs const& o, std::size_t tap) {
      return llm_test::row_of(o.features, row * 3 + tap, hidden);
    };
    EXPECT_TRUE(llm_test::same_bits(from(turned, 0), from(straight, 2)));
    EXPECT_TRUE(llm_test::same_bits(from(turned, 1), from(straight, 0)));
    EXPECT_TRUE(llm_test::same_bits(from(turned, 2), from(straight, 2)));
  }
}

TEST(Target, DoesWithoutOutputsAndRows) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  tokens const ids{5, 900, 17};
  auto cache = model.make_cache(6);
  model.forward({ids, llm_test::positions_from(0, 3), {}}, cache, {}, {}, {}, pool);
  EXPECT_EQ(cache.length(), 3);
  model.forward({}, cache, {}, {}, {}, pool);
  EXPECT_EQ(cache.length(), 3);
  model.head({}, {}, pool);
  tokens const next{8};
  outputs const after = run(model, next, cache, pool);
  EXPECT_EQ(output_row(after, 0), output_row(run(model, tokens{5, 900, 17, 8}, pool), 3));
}

TEST(Target, DependsOnPositionTokenAndMask) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  auto const logits = [&](tokens const& ids, indices const& positions,
                          std::vector<std::uint32_t> const& mask) {
    auto cache = model.make_cache(8);
    return output_row(run(model, ids, positions, mask, cache, pool), 2).logits;
  };
  floats const plain = logits({5, 900, 17}, {0, 1, 2}, {});
  EXPECT_EQ(plain, logits({5, 900, 17}, {0, 1, 2}, {1, 3, 7}));
  EXPECT_GT(llm_test::largest_difference(plain, logits({5, 900, 17}, {0, 1, 3}, {})), 1e-2);
  EXPECT_GT(llm_test::largest_difference(plain, logits({5, 901, 17}, {0, 1, 2}, {})), 1e-2);
  EXPECT_GT(llm_test::largest_difference(plain, logits({5, 900, 17}, {0, 1, 2}, {1, 3, 5})), 1e-2);
}

TEST(Target, RefusesWhatDoesNotFitAndLeavesTheCacheAlone) {
  auto const& model = llm_test::tiny_target();
  llm::thread_pool pool;
  auto cache = model.make_cache(4);
  floats state(2 * hidden), feature(2 * hidden);
  std::vector<std::int64_t> const layer{0}, past{4}, negative{-1};
  indices const positions{0, 1};
  auto const forward = [&](tokens const& ids, indices const& at,
                           std::vector<std::uint32_t> const& mask = {}) {
    model.forward({ids, at, mask}, cache, {}, {}, state, pool);
  };
  tokens const good{1, 2};
  expect_error([&] { forward({1, 1056}, positions); }, {"1056", "[0, 1056)"});
  expect_error([&] { forward({-1, 2}, positions); }, {"-1"});
  expect_error([&] { forward(good, {0}); }, {"positions", "1", "2"});
  expect_error([&] { forward(good, {0, -1}); }, {"position -1"});
  expect_error([&] { forward(good, {0, 1 << 24}); }, {"16777216"});
  expect_error([&] { forward(good, positions, {1}); }, {"mask", "1", "2"});
  expect_error([&] { forward(good, positions, {1, 1}); }, {"mask", "row 1"});
  expect_error([&] { model.forward({good, positions, {}}, cache, layer, {}, state, pool); },
               {"features", "0", "384"});
  expect_error([&] { model.forward({good, positions, {}}, cache, past, feature, state, pool); },
               {"layer 4", "3"});
  expect_error([&] { model.forward({good, positions, {}}, cache, negative, feature, state, pool); },
               {"layer -1"});
  expect_error(
      [&] {
        model.forward({good, positions, {}}, cache, {}, {}, std::span(state).first(hidden), pool);
      },
      {"hidden", "192", "384"});
  expect_error([&] { forward({1, 2, 3, 4, 5}, {0, 1, 2, 3, 4}); }, {"hidden"});
  expect_error(
      [&] {
        tokens const five(5);
        model.forward({five, llm_test::positions_from(0, 5), {}}, cache, {}, {}, {}, pool);
      },
      {"capacity", "4"});
  llm::kv_cache other(4, 2, 16, 8);
  expect_error([&] { model.forward({good, positions, {}}, other, {}, {}, state, pool); },
               {"cache", "another model"});
  EXPECT_EQ(cache.length(), 0);
  EXPECT_EQ(other.length(), 0);
  floats logits(vocab);
  expect_error([&] { model.head(std::span(state).first(hidden + 1), logits, pool); }, {"hidden"});
  expect_error([&] { model.head(state, logits, pool); }, {"logits", "1056", "2112"});
  expect_error([&] { model.embed(good, std::span(state).first(hidden)); }, {"192", "384"});
  expect_error([&] { static_cast<void>(model.make_cache(0)); }, {"capacity"});
}

/// The bundled target with an alteration.
struct altered {
  llm_test::scratch_folder folder;
  llm_test::stored_checkpoint tensors =
      llm_test::read_checkpoint(llm_test::tiny_models() / "tiny-qwen3");
  nlohmann::json config = llm_test::read_json(llm_test::tiny_models() / "tiny-qwen3/config.json");

  [[nodiscard]] llm::target load() const {
    llm_test::write_model(folder, tensors, config);
    return llm::target::load(folder.path());
  }
};

TEST(TargetLoad, GivesTheSameBitsFromSinglePrecisionWeights) {
  altered files;
  for (auto& [name, tensor] : files.tensors) tensor = llm_test::widened(tensor);
  llm::thread_pool pool;
  tokens const ids{1020, 425, 198, 43, 544, 438, 220};
  EXPECT_EQ(run(files.load(), ids, pool), run(llm_test::tiny_target(), ids, pool));
}

TEST(TargetLoad, LetsTheFlagDecideWhetherTheHeadIsTied) {
  altered files;
  auto head = llm_test::widened(files.tensors.at("model.embed_tokens.weight"));
  for (std::size_t i = 3; i < head.bytes.size(); i += 4) head.bytes[i] ^= '\x80';
  files.tensors["lm_head.weight"] = head;
  llm::thread_pool pool;
  tokens const ids{1020, 425, 198};
  outputs expected = run(llm_test::tiny_target(), ids, pool);
  auto const tied = files.load();
  EXPECT_TRUE(tied.unused_tensors().empty());
  EXPECT_EQ(run(tied, ids, pool), expected);

  files.config["tie_word_embeddings"] = false;
  for (float& logit : expected.logits) logit = -logit;
  EXPECT_EQ(run(files.load(), ids, pool), expected);

  files.tensors.erase("lm_head.weight");
  expect_error([&] { static_cast<void>(files.load()); }, {"lm_head.weight"});
}

TEST(TargetLoad, ListsTensorsItHasNoUseFor) {
  altered files;
  EXPECT_TRUE(llm_test::tiny_target().unused_tensors().empty());
  files.tensors["model.layers.9.mlp.gate.weight"] = {"F32", {1}, std::string(4, '\0')};
  files.tensors["surplus"] = {"I64", {1}, std::string(8, '\0')};
  EXPECT_EQ(files.load().unused_tensors(),
            (std::vector<std::string>{"model.layers.9.mlp.gate.weight", "surplus"}));
}

TEST(TargetLoad, NamesATensorThatIsMissingOrHasAnotherShapeOrType) {
  altered const original;
  for (auto const& [name, tensor] : original.tensors) {
    altered files;
    files.tensors.erase(name);
    expect_error([&] { static_cast<void>(files.load()); }, {name});

    files.tensors[name] = tensor;
    files.tensors[name].shape.insert(files.tensors[name].shape.begin(), 1);
    expect_error([&] { static_cast<void>(files.load()); }, {name});

    std::size_t elements = tensor.bytes.size() / 2;
    files.tensors[name] = {"I64", tensor.shape, std::string(elements * 8, '\0')};
    expect_error([&] { static_cast<void>(files.load()); }, {name, "I64"});
    if (name.find("layers.1") != std::string::npos) break;
  }
}

TEST(TargetLoad, NamesAFolderThatIsNotThere) {
  expect_error([] { static_cast<void>(llm::target::load("no/such/folder")); }, {"no/such/folder"});
}

}  // namespace
