// A small random target whose sizes fill no lane and no panel, against the definition in double.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "llm/target.hpp"
#include "llm/thread_pool.hpp"
#include "model_support.hpp"

namespace {

using llm_test::floats;
using row = std::vector<double>;

constexpr std::size_t h = 20, layers = 2, heads = 5, kv_heads = 1, d = 6, f = 18, vocab = 37;
constexpr double theta = 1000, eps = 1e-5;

/// The checkpoint in memory: names to shapes and values.
struct model {
  explicit model(std::mt19937& source) {
    add(source, "model.embed_tokens.weight", {vocab, h});
    add(source, "lm_head.weight", {vocab, h});
    add(source, "model.norm.weight", {h});
    for (std::size_t i = 0; i < layers; ++i) {
      std::string const p = "model.layers." + std::to_string(i) + ".";
      add(source, p + "input_layernorm.weight", {h});
      add(source, p + "post_attention_layernorm.weight", {h});
      add(source, p + "self_attn.q_norm.weight", {d});
      add(source, p + "self_attn.k_norm.weight", {d});
      add(source, p + "self_attn.q_proj.weight", {heads * d, h});
      add(source, p + "self_attn.k_proj.weight", {kv_heads * d, h});
      add(source, p + "self_attn.v_proj.weight", {kv_heads * d, h});
      add(source, p + "self_attn.o_proj.weight", {h, heads * d});
      add(source, p + "mlp.gate_proj.weight", {f, h});
      add(source, p + "mlp.up_proj.weight", {f, h});
      add(source, p + "mlp.down_proj.weight", {h, f});
    }
  }

  void add(std::mt19937& source, std::string const& name, std::vector<std::size_t> const& shape) {
    std::size_t count = 1;
    for (std::size_t extent : shape) count *= extent;
    values[name] = llm_test::random_floats(source, count, 0.7F);
    stored[name] = {"F32", {shape.begin(), shape.end()}, llm_test::bytes_of(values[name])};
  }

  [[nodiscard]] row product(std::string const& name, row const& x) const {
    floats const& w = values.at(name);
    row y(w.size() / x.size());
    for (std::size_t out = 0; out < y.size(); ++out) {
      for (std::size_t k = 0; k < x.size(); ++k) y[out] += w[out * x.size() + k] * x[k];
    }
    return y;
  }

  [[nodiscard]] row norm(std::string const& name, row x) const {
    double squares = 0;
    for (double v : x) squares += v * v;
    double const scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + eps);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= scale * values.at(name)[i];
    return x;
  }

  std::map<std::string, floats> values;
  llm_test::stored_checkpoint stored;
};

/// Head `index` of `x`, normed and rotated to `position`.
row rotated(model const& m, std::string const& norm, row const& x, std::size_t index,
            double position) {
  auto const first = x.begin() + static_cast<std::ptrdiff_t>(index * d);
  row const head = m.norm(norm, row(first, first + d));
  row out(d);
  for (std::size_t i = 0; i < d / 2; ++i) {
    double const angle =
        position * std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(d));
    out[i] = head[i] * std::cos(angle) - head[i + d / 2] * std::sin(angle);
    out[i + d / 2] = head[i + d / 2] * std::cos(angle) + head[i] * std::sin(angle);
  }
  return out;
}

/// Causal logits of `ids` by the definition.
floats by_definition(model const& m, llm_test::tokens const& ids) {
  std::vector<row> x;
  for (auto id : ids) {
    auto const& table = m.values.at("model.embed_tokens.weight");
    auto const first =
        table.begin() + static_cast<std::ptrdiff_t>(id) * static_cast<std::ptrdiff_t>(h);
    x.emplace_back(first, first + h);
  }
  for (std::size_t layer = 0; layer < layers; ++layer) {
    std::string const p = "model.layers." + std::to_string(layer) + ".";
    std::vector<row> keys, values;
    for (std::size_t t = 0; t < x.size(); ++t) {
      row const xn = m.norm(p + "input_layernorm.weight", x[t]);
      keys.push_back(rotated(m, p + "self_attn.k_norm.weight",
                             m.product(p + "self_attn.k_proj.weight", xn), 0,
                             static_cast<double>(t)));
      values.push_back(m.product(p + "self_attn.v_proj.weight", xn));
      row const queries = m.product(p + "self_attn.q_proj.weight", xn);
      row mixed(heads * d);
      for (std::size_t head = 0; head < heads; ++head) {
        row const q =
            rotated(m, p + "self_attn.q_norm.weight", queries, head, static_cast<double>(t));
        double total = 0;
        row sum(d);
        for (std::size_t s = 0; s <= t; ++s) {
          double score = 0;
          for (std::size_t i = 0; i < d; ++i) score += q[i] * keys[s][i];
          double const weight = std::exp(score / std::sqrt(static_cast<double>(d)));
          total += weight;
          for (std::size_t i = 0; i < d; ++i) sum[i] += weight * values[s][i];
        }
        for (std::size_t i = 0; i < d; ++i) mixed[head * d + i] = sum[i] / total;
      }
      row const attended = m.product(p + "self_attn.o_proj.weight", mixed);
      for (std::size_t i = 0; i < h; ++i) x[t][i] += attended[i];
      row const y = m.norm(p + "post_attention_layernorm.weight", x[t]);
      row gate = m.product(p + "mlp.gate_proj.weight", y);
      row const up = m.product(p + "mlp.up_proj.weight", y);
      for (std::size_t i = 0; i < f; ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
      row const down = m.product(p + "mlp.down_proj.weight", gate);
      for (std::size_t i = 0; i < h; ++i) x[t][i] += down[i];
    }
  }
  floats logits;
  for (row const& state : x) {
    for (double v : m.product("lm_head.weight", m.norm("model.norm.weight", state))) {
      logits.push_back(static_cast<float>(v));
    }
  }
  return logits;
}

TEST(OddModel, FollowsTheDefinition) {
  std::mt19937 source(1);
  model const m(source);
  auto config = llm_test::read_json(llm_test::tiny_models() / "tiny-qwen3/config.json");
  config.update({{"hidden_size", h},
                 {"num_hidden_layers", layers},
                 {"num_attention_heads", heads},
                 {"num_key_value_heads", kv_heads},
                 {"head_dim", d},
                 {"intermediate_size", f},
                 {"vocab_size", vocab},
                 {"rope_theta", theta},
                 {"rms_norm_eps", eps},
                 {"max_window_layers", layers},
                 {"tie_word_embeddings", false},
                 {"bos_token_id", 1},
                 {"eos_token_id", 2}});
  llm_test::scratch_folder const folder;
  llm_test::write_model(folder, m.stored, config);
  auto const loaded = llm::target::load(folder.path());
  llm::thread_pool pool;
  auto const ids = llm_test::random_tokens(source, 23, vocab);
  floats const expected = by_definition(m, ids);

  auto cache = loaded.make_cache(23);
  auto const whole =
      llm_test::run(loaded, ids, llm_test::positions_from(0, 23), {}, cache, pool, {});
  EXPECT_LT(llm_test::largest_difference(whole.logits, expected), 2e-5);

  cache.crop(0);
  for (std::size_t t = 0; t < ids.size(); ++t) {
    auto const one = llm_test::run(loaded, std::span(ids).subspan(t, 1),
                                   llm_test::positions_from(static_cast<std::int64_t>(t), 1), {},
                                   cache, pool, {});
    EXPECT_TRUE(llm_test::same_bits(one.logits, llm_test::row_of(whole.logits, t, vocab))) << t;
  }
}

}  // namespace
