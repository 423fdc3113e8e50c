// The speculative decoder: draft a block, build a tree, score it, verify it, commit the path.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "drafter.hpp"
#include "target.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/sampling_parameters.hpp"
#include "tev/distribution/softmax_rows.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/verify/concept.hpp"
#include "thread_pool.hpp"

namespace llm {

/// Where the drafted nodes of a cycle come from.
enum class method {
  autoregressive,  ///< Nothing is drafted: one token a cycle.
  chain,           ///< The most probable token of each block row.
  tree             ///< The best tree of the budget (tev::best_first).
};

/// Which of tev's verifiers decides.
enum class verifier { tree_exit, predraw, sequential_residual, greedy };

inline constexpr std::array all_methods{method::autoregressive, method::chain, method::tree};
inline constexpr std::array all_verifiers{verifier::tree_exit, verifier::predraw,
                                          verifier::sequential_residual, verifier::greedy};

[[nodiscard]] std::string_view name(method m);
[[nodiscard]] std::string_view name(verifier v);

/// Largest number of drafted nodes in a tree.
inline constexpr std::int32_t budget_limit = 1024;

/// Everything that a decoded text depends on, beside the models and the prompt.
struct decode_options {
  method how = method::tree;
  verifier verify = verifier::tree_exit;
  std::int32_t budget = 32;  ///< Drafted nodes a cycle, the root not counted: [1, budget_limit].
  tev::sampling_parameters sampling{.temperature = 0.0f};  ///< Temperature 0 is greedy.
  std::uint64_t seed = 0;         ///< With `request` and the position it fixes every random number.
  std::uint64_t request = 0;      ///< Tells apart texts that share a seed.
  std::int64_t max_tokens = 256;  ///< New tokens at most, >= 1.
  std::vector<tev::token_id> stop_ids;           ///< End the text; kept as its last token.
  std::atomic<bool> const* interrupt = nullptr;  ///< Ends the text after the cycle that sees it.
};

/// Seconds spent, by stage.
struct stage_seconds {
  double prefill = 0, draft = 0, build = 0, target = 0, verify = 0, commit = 0;

  [[nodiscard]] double total() const { return prefill + draft + build + target + verify + commit; }
};

/// One cycle as an observer sees it; the references are valid during the call only.
struct cycle {
  std::int64_t index = 0;          ///< 0 is the prompt's own forward pass: a lone root.
  std::int64_t root_position = 0;  ///< Position of the last committed token.
  tev::draft_tree const& tree;
  std::span<double const> score;           ///< [size] draft probability of each node's path.
  tev::softmax_rows<float> const& rows;    ///< Target rows; `prepare` before reading one.
  tev::outcome outcome;                    ///< Before any stop or length cut.
  std::span<tev::token_id const> emitted;  ///< What the text gets of it, after the cuts.
  std::int64_t drafted = 0;                ///< How many of `emitted` were drafted.
};

/// Why a text ended.
enum class finish { stop, length, context, interrupted, failed };

[[nodiscard]] std::string_view name(finish f);

/// A decoded text and what it took.
struct decoded {
  std::vector<tev::token_id> ids;        ///< New tokens, a stop id included.
  std::vector<std::int64_t> acceptance;  ///< Tokens committed per cycle, before any cut; the
                                         ///< token of the prompt's own pass is not counted.
  finish reason = finish::length;
  tev::status failure = tev::status::ok;  ///< The row's status where `reason` is `failed`.
  stage_seconds seconds;

  [[nodiscard]] std::int64_t cycles() const { return static_cast<std::int64_t>(acceptance.size()); }
  /// Block length: mean tokens per cycle, 0 without a cycle.
  [[nodiscard]] double tau() const;
  /// New tokens over all seconds, the prompt's pass included.
  [[nodiscard]] double tokens_per_second() const;
};

/// Decodes one text. `draft` may be null for `method::autoregressive`.
///
/// Depends on models, prompt and options alone, never on the number of threads. A text is a prefix
/// of the text with a larger `max_tokens`: trees are cut by the context, not by the limit.
/// @throws llm::error for an empty prompt, one as long as the context, an id or an option out of
/// range, or a missing drafter
[[nodiscard]] decoded decode(target const& model, drafter const* draft,
                             std::span<tev::token_id const> prompt, decode_options const& options,
                             thread_pool& pool,
                             std::function<void(cycle const&)> const& observe = {});

}  // namespace llm
