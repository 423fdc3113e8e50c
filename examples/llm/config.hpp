// The shapes and constants of a target and of a drafter, read from the config.json of each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tev/core/types.hpp"

namespace llm {

/// A Qwen3 dense target: everything its forward pass needs besides the weights.
///
/// Letters used in the shapes of this folder: h hidden_size, L layers, Hq heads, Hk kv_heads,
/// d head_dim, f intermediate_size, V vocab_size. Every size is positive and bounded, Hq is a
/// multiple of Hk and d is even. Hq * d may differ from h.
struct model_config {
  std::int64_t hidden_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate_size = 0;
  /// Rows of the embedding table, which may exceed the ids the tokenizer knows. Below 2^24.
  std::int64_t vocab_size = 0;
  /// The most positions a sequence may have: positions are in [0, max_position).
  std::int64_t max_position = 0;
  double rope_theta = 0;
  float rms_norm_eps = 0;
  /// Whether the output head is the embedding table. The flag decides, not what the file holds.
  bool tie_word_embeddings = false;
  /// Ids that end a text, in the order of generation_config.json. Distinct, each in [0, V).
  /// Empty when neither file names one.
  std::vector<tev::token_id> stop_ids;
};

/// A DFlash drafter: a short Qwen3-shaped stack that fills a block of masked positions from
/// features of the target. It has no embedding and no head: both are the target's.
///
/// Letters as in `model_config`; F = target_layer_ids.size(), B = block_size.
struct drafter_config {
  std::int64_t hidden_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t vocab_size = 0;
  std::int64_t max_position = 0;
  double rope_theta = 0;
  float rms_norm_eps = 0;
  /// Positions of a block: the anchor and block_size - 1 masked ones. In [2, 256].
  std::int64_t block_size = 0;
  /// The id fed at the masked positions; its embedding is a row of the target's table.
  tev::token_id mask_token_id = 0;
  /// Decoder layers of the target, from 0, whose outputs are the features, in the order in which
  /// they are concatenated. Never empty.
  std::vector<std::int64_t> target_layer_ids;
  /// Layers of the target that the drafter was trained for; 0 when the file does not say.
  std::int64_t num_target_layers = 0;
};

/// Reads `folder`/config.json and, where present, `folder`/generation_config.json of a target.
///
/// Throws `error` for a missing or malformed file, a field that is missing, of the wrong type or
/// out of range, and for every switch that changes the forward pass and is not supported.
[[nodiscard]] model_config read_model_config(std::filesystem::path const& folder);

/// Reads `folder`/config.json of a drafter. `block_size` may stand inside `dflash_config` and
/// `rope_theta` inside `rope_parameters`; missing layer ids follow `default_layer_ids`.
///
/// Throws `error` as `read_model_config` does.
[[nodiscard]] drafter_config read_drafter_config(std::filesystem::path const& folder);

/// Returns the layer ids of a drafter whose file gives none: [L/2] for one drafter layer,
/// otherwise round(1 + i (L - 4) / (n - 1)) for i in [0, n), ties to even. L = `target_layers`,
/// n = `drafter_layers`, both positive.
[[nodiscard]] std::vector<std::int64_t> default_layer_ids(std::int64_t target_layers,
                                                          std::int64_t drafter_layers);

/// Returns why `drafter` cannot draft for `target`: one line for each misfit, none when it fits.
///
/// A fit needs: equal hidden_size and vocab_size, mask_token_id in [0, V), distinct layer ids in
/// [0, L - 1), num_target_layers equal to L where given, and a block that fits the positions. The
/// id L - 1 is a misfit: trainers disagree on whether its features carry the final norm.
[[nodiscard]] std::vector<std::string> misfits(drafter_config const& drafter,
                                               model_config const& target);

/// Throws `error` with the first of `misfits` (and how many more there are) unless `drafter` fits
/// `target`.
void check_fit(drafter_config const& drafter, model_config const& target);

}  // namespace llm
