#include "decoder.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "error.hpp"
#include "tev/build/best_first.hpp"
#include "tev/build/chain.hpp"
#include "tev/core/bits.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/commit.hpp"
#include "tev/tree/path.hpp"
#include "tev/verify/finish.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/predraw.hpp"
#include "tev/verify/sequential_residual.hpp"
#include "tev/verify/tree_exit.hpp"

namespace llm {

using tev::token_id;

std::string_view name(method m) {
  switch (m) {
    case method::autoregressive:
      return "autoregressive";
    case method::chain:
      return "chain";
    case method::tree:
      return "tree";
  }
  return "unknown";
}

std::string_view name(verifier v) {
  switch (v) {
    case verifier::tree_exit:
      return "tree_exit";
    case verifier::predraw:
      return "predraw";
    case verifier::sequential_residual:
      return "sequential_residual";
    case verifier::greedy:
      return "greedy";
  }
  return "unknown";
}

std::string_view name(finish f) {
  switch (f) {
    case finish::stop:
      return "stop";
    case finish::length:
      return "length";
    case finish::context:
      return "context";
    case finish::interrupted:
      return "interrupted";
    case finish::failed:
      return "failed";
  }
  return "unknown";
}

double decoded::tau() const {
  std::int64_t tokens = 0;
  for (auto const n : acceptance) tokens += n;
  return acceptance.empty() ? 0.0 : static_cast<double>(tokens) / static_cast<double>(cycles());
}

double decoded::tokens_per_second() const {
  double const total = seconds.total();
  return total > 0 ? static_cast<double>(ids.size()) / total : 0.0;
}

namespace {

// Adds the time from its making to its end to one stage.
class stopwatch {
 public:
  explicit stopwatch(double& stage) : stage_(stage), begin_(std::chrono::steady_clock::now()) {}
  ~stopwatch() {
    stage_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  stopwatch(stopwatch const&) = delete;
  stopwatch& operator=(stopwatch const&) = delete;

 private:
  double& stage_;
  std::chrono::steady_clock::time_point begin_;
};

tev::outcome run_verifier(verifier which,
                          tev::problem<tev::tree_view, tev::softmax_rows<float>> const& problem,
                          std::uint64_t seed) {
  tev::serial_team const team;
  tev::philox const source{seed};
  switch (which) {
    case verifier::tree_exit:
      return tev::tree_exit{}(team, problem, source);
    case verifier::predraw:
      return tev::predraw{}(team, problem, source);
    case verifier::sequential_residual:
      return tev::sequential_residual{}(team, problem, source);
    case verifier::greedy:
      break;
  }
  return tev::greedy{}(team, problem, source);
}

// One text being decoded. Invariant between cycles: the last of `tokens_` is the root of the next
// tree; the target's cache holds the positions before it; `features_` holds those of them that the
// drafter has not read.
class session {
 public:
  session(target const& model, drafter const* draft, decode_options const& options,
          thread_pool& pool, std::function<void(cycle const&)> const& observe)
      : model_(model),
        draft_(options.how == method::autoregressive ? nullptr : draft),
        options_(options),
        pool_(pool),
        observe_(observe),
        vocab_(model.config().vocab_size),
        context_(model.config().max_position),
        cache_(model.make_cache(context_ + options.budget)) {
    if (draft_ == nullptr) return;
    tap_layers_ = draft_->config().target_layer_ids;
    draft_cache_.emplace(draft_->make_cache(context_));
  }

  decoded run(std::span<token_id const> prompt) {
    tokens_.assign(prompt.begin(), prompt.end());
    limit_ = std::min(options_.max_tokens, context_ - static_cast<std::int64_t>(prompt.size()));
    prefill();
    while (!finished_) run_cycle();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::int64_t root_position() const {
    return static_cast<std::int64_t>(tokens_.size()) - 1;
  }
  [[nodiscard]] std::size_t feature_width() const {
    return tap_layers_.size() * static_cast<std::size_t>(model_.config().hidden_size);
  }

  // The whole prompt in one causal forward; its last row gives the first token.
  void prefill() {
    tev::draft_tree const root;
    std::vector<double> const score{1.0};
    std::int64_t const position = root_position();
    tev::outcome outcome;
    {
      stopwatch const watch(result_.seconds.prefill);
      std::vector<std::int32_t> positions(tokens_.size());
      for (std::size_t i = 0; i < positions.size(); ++i)
        positions[i] = static_cast<std::int32_t>(i);
      forward({tokens_, positions, {}}, 1);
      std::swap(features_, forward_features_);
      outcome = verify(root);
    }
    emit(root, score, outcome, position);
  }

  void run_cycle() {
    ++index_;
    std::int64_t const position = root_position();
    tev::built_tree const built = draft_tree();
    tev::draft_tree const& tree = built.tree;
    {
      stopwatch const watch(result_.seconds.target);
      std::vector<token_id> ids(tree.tokens().begin(), tree.tokens().end());
      ids[0] = tokens_.back();
      auto const positions = tev::positions(tree, static_cast<std::int32_t>(position));
      auto const mask = tev::ancestor_mask(tree);
      forward({ids, positions, mask}, tree.size());
    }
    tev::outcome outcome;
    {
      stopwatch const watch(result_.seconds.verify);
      outcome = verify(tree);
    }
    {
      stopwatch const watch(result_.seconds.commit);
      commit(tev::path_to(tree, outcome.exit_node), position);
    }
    if (outcome.state == tev::status::ok) result_.acceptance.push_back(outcome.accepted_length + 1);
    emit(tree, built.score, outcome, position);
  }

  // Leaves room for the bonus token: no node may lie on the last position of the context.
  tev::built_tree draft_tree() {
    std::int64_t const room = context_ - 2 - root_position();
    if (draft_ == nullptr || room <= 0) return {tev::draft_tree(), {1.0}};
    auto const horizon = static_cast<std::int32_t>(std::min(draft_->config().block_size - 1, room));
    {
      stopwatch const watch(result_.seconds.draft);
      draft_logits_.resize(static_cast<std::size_t>(horizon * vocab_));
      draft_->draft(model_, features_, tokens_.back(), *draft_cache_, draft_logits_, pool_);
      features_.clear();
    }
    stopwatch const watch(result_.seconds.build);
    auto const rows = draft_storage_.rows(draft_logits_.data(), horizon,
                                          static_cast<std::int32_t>(vocab_), vocab_, 1.0f);
    return options_.how == method::chain ? tev::chain{}(rows, horizon, options_.budget)
                                         : tev::best_first{}(rows, horizon, options_.budget);
  }

  // Runs new rows and the head on the last `scored` of them.
  void forward(forward_rows const& rows, std::int32_t scored) {
    std::size_t const n = rows.tokens.size();
    auto const width = static_cast<std::size_t>(model_.config().hidden_size);
    hidden_.resize(n * width);
    forward_features_.resize(n * feature_width());
    model_.forward(rows, cache_, tap_layers_, forward_features_, hidden_, pool_);
    auto const count = static_cast<std::size_t>(scored);
    logits_.resize(count * static_cast<std::size_t>(vocab_));
    model_.head(std::span(hidden_).last(count * width), logits_, pool_);
    rows_ = storage_.rows(logits_.data(), scored, static_cast<std::int32_t>(vocab_), vocab_,
                          options_.sampling);
  }

  tev::outcome verify(tev::draft_tree const& tree) {
    return run_verifier(
        options_.verify,
        {tree.view(), rows_, options_.request, static_cast<std::uint32_t>(root_position())},
        options_.seed);
  }

  // Keeps the rows of the path: in the target's cache, and as the drafter's next features.
  void commit(std::vector<tev::node_id> const& path, std::int64_t base) {
    cache_.gather(tev::commit_moves(path, base), base + static_cast<std::int64_t>(path.size()));
    std::size_t const width = feature_width();
    features_.reserve(features_.size() + path.size() * width);
    for (auto const node : path) {
      auto const row =
          std::span(forward_features_).subspan(static_cast<std::size_t>(node) * width, width);
      features_.insert(features_.end(), row.begin(), row.end());
    }
  }

  void emit(tev::draft_tree const& tree, std::span<double const> score, tev::outcome const& outcome,
            std::int64_t position) {
    auto emitted = tev::tokens_to(tree, outcome.exit_node);
    if (outcome.state == tev::status::ok) emitted.push_back(outcome.bonus_token);
    tokens_.insert(tokens_.end(), emitted.begin(), emitted.end());
    cut(emitted, outcome);
    auto const drafted =
        std::min<std::int64_t>(outcome.accepted_length, static_cast<std::int64_t>(emitted.size()));
    result_.ids.insert(result_.ids.end(), emitted.begin(), emitted.end());
    if (observe_) observe_({index_, position, tree, score, rows_, outcome, emitted, drafted});
  }

  // What follows a stop id or lies beyond the limit is dropped.
  void cut(std::vector<token_id>& emitted, tev::outcome const& outcome) {
    std::int64_t const left = limit_ - static_cast<std::int64_t>(result_.ids.size());
    auto const block = tev::end_of_block(
        emitted.data(), outcome.accepted_length, outcome.bonus_token,
        {options_.stop_ids.data(), static_cast<std::int32_t>(options_.stop_ids.size()), left});
    emitted.resize(static_cast<std::size_t>(block.emitted));
    if (block.reason == tev::finish::stop) {
      end(finish::stop);
    } else if (block.reason == tev::finish::length) {
      end(limit_ < options_.max_tokens ? finish::context : finish::length);
    } else if (outcome.state != tev::status::ok) {
      result_.failure = outcome.state;
      end(finish::failed);
    } else if (options_.interrupt != nullptr && options_.interrupt->load()) {
      end(finish::interrupted);
    }
  }

  void end(finish reason) {
    result_.reason = reason;
    finished_ = true;
  }

  target const& model_;
  drafter const* draft_;
  decode_options const& options_;
  thread_pool& pool_;
  std::function<void(cycle const&)> const& observe_;
  std::int64_t vocab_;
  std::int64_t context_;
  kv_cache cache_;
  std::optional<kv_cache> draft_cache_;
  std::vector<std::int64_t> tap_layers_;

  std::vector<token_id> tokens_;
  std::int64_t limit_ = 0;
  std::int64_t index_ = 0;
  bool finished_ = false;
  decoded result_;

  std::vector<float> hidden_, logits_, draft_logits_, features_, forward_features_;
  tev::softmax_storage storage_, draft_storage_;
  tev::softmax_rows<float> rows_;
};

void check_sampling(tev::sampling_parameters const& s) {
  auto const usable = [](float x) { return tev::is_finite(x) && !tev::is_negative(x); };
  if (!usable(s.temperature))
    throw make_error("temperature is {}: it has to be 0 (greedy) or a positive number",
                     s.temperature);
  if (!usable(s.top_p))
    throw make_error("top-p is {}: it has to be in [0, 1]; 1 filters nothing", s.top_p);
  if (!tev::is_valid(s))
    throw make_error("min-p is {}: it has to be in [0, 1]; 0 filters nothing", s.min_p);
}

void check(target const& model, drafter const* draft, std::span<token_id const> prompt,
           decode_options const& options) {
  auto const& config = model.config();
  if (prompt.empty()) throw make_error("the prompt has no tokens: give at least one");
  if (std::cmp_greater_equal(prompt.size(), config.max_position))
    throw make_error(
        "the prompt has {} tokens and the target's context holds {}: shorten the prompt to at most "
        "{} tokens",
        prompt.size(), config.max_position, config.max_position - 1);
  for (std::size_t i = 0; i < prompt.size(); ++i)
    if (prompt[i] < 0 || prompt[i] >= config.vocab_size)
      throw make_error("prompt token {} is {}: ids have to be in [0, {})", i, prompt[i],
                       config.vocab_size);
  if (options.how != method::autoregressive && draft == nullptr)
    throw make_error("method {} needs a drafter: give its folder, or use autoregressive",
                     name(options.how));
  if (options.budget < 1 || options.budget > budget_limit)
    throw make_error("budget is {}: it has to be in [1, {}]", options.budget, budget_limit);
  check_sampling(options.sampling);
  if (options.max_tokens < 1)
    throw make_error("max tokens is {}: it has to be at least 1", options.max_tokens);
}

}  // namespace

decoded decode(target const& model, drafter const* draft, std::span<token_id const> prompt,
               decode_options const& options, thread_pool& pool,
               std::function<void(cycle const&)> const& observe) {
  check(model, draft, prompt, options);
  return session(model, draft, options, pool, observe).run(prompt);
}

}  // namespace llm
