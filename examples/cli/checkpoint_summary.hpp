// checkpoint_summary: what a model folder holds, found out from its configuration and headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "llm/config.hpp"
#include "llm/safetensors.hpp"
#include "tev/core/types.hpp"

namespace cli {

/// How many tensors and elements of a checkpoint have one type.
struct dtype_count {
  llm::dtype type;
  std::size_t tensors = 0;
  std::uint64_t elements = 0;
};

/// A token with a name of its own; `text` is empty for an id without a token.
struct named_token {
  tev::token_id id = tev::no_token;
  std::string text;
};

/// What inspect says about a tokenizer.
struct tokenizer_summary {
  std::int64_t size = 0;    ///< Number of tokens.
  std::int64_t id_end = 0;  ///< One more than the largest id.
  std::vector<named_token> special;
};

/// A target or a drafter, with what speaks against using it.
struct checkpoint_summary {
  std::filesystem::path folder;
  std::string architecture;
  std::variant<llm::model_config, llm::drafter_config> config;
  std::size_t files = 0;         ///< Safetensors files: 1, or the number of shards.
  std::uint64_t bytes = 0;       ///< Of all tensors.
  std::uint64_t parameters = 0;  ///< Elements of the tensors that the architecture uses.
  std::vector<dtype_count> dtypes;
  std::vector<std::string> unused;             ///< Tensors that nothing reads, ascending.
  std::vector<std::string> missing;            ///< Tensors that config.json asks for, in its order.
  std::vector<std::string> unusable;           ///< A line for each tensor of a wrong shape or type.
  std::optional<tokenizer_summary> tokenizer;  ///< None where there is no tokenizer.json.
  std::vector<named_token> stops;              ///< What ends a text; of a target only.

  /// The target's configuration, null for a drafter; and the other way round.
  [[nodiscard]] llm::model_config const* target() const {
    return std::get_if<llm::model_config>(&config);
  }
  [[nodiscard]] llm::drafter_config const* drafter() const {
    return std::get_if<llm::drafter_config>(&config);
  }

  /// Why this checkpoint can't be used: one line each, none when it can.
  [[nodiscard]] std::vector<std::string> problems() const;
};

/// Summarises `folder`; its config.json decides whether it is a target or a drafter. Throws
/// `llm::error` as the readers of configuration, checkpoint and tokenizer do; a tensor that is
/// missing or has a wrong shape is noted instead. Linear in the headers: no weight is read.
[[nodiscard]] checkpoint_summary summarise(std::filesystem::path const& folder);

/// Returns aligned lines for people, each ended by a line feed.
[[nodiscard]] std::string to_text(checkpoint_summary const& summary);

/// Returns all of it as one object.
[[nodiscard]] nlohmann::ordered_json to_json(checkpoint_summary const& summary);

}  // namespace cli
