// A checkpoint's summary as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint_summary.hpp"
#include "llm/error.hpp"

namespace cli {
namespace {

/// Returns `number` with a comma between groups of three digits.
std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, ",");
  return digits;
}

std::string grouped(std::int64_t number) { return grouped(static_cast<std::uint64_t>(number)); }

/// Returns the first `most` of `names`, and how many more there are.
std::string listed(std::vector<std::string> const& names, std::size_t most = 8) {
  if (names.empty()) return "none";
  auto const shown = std::min(names.size(), most);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string listed(std::vector<named_token> const& tokens) {
  std::vector<std::string> names;
  for (named_token const& token : tokens)
    names.push_back(fmt::format("{}{}{}", token.id, token.text.empty() ? "" : " ", token.text));
  return listed(names, 12);
}

/// Lines of a name and a value, the values aligned.
class table {
 public:
  template <class... Args>
  void row(std::string_view name, fmt::format_string<Args...> format, Args&&... args) {
    std::string const value = fmt::format(format, std::forward<Args>(args)...);
    text_ += fmt::format("  {:<16} {}\n", name, llm::one_line(value));
  }
  [[nodiscard]] std::string const& text() const { return text_; }

 private:
  std::string text_;
};

template <class Config>
void add_shape_rows(Config const& c, table& rows) {
  rows.row("layers", "{}", c.layers);
  rows.row("heads", "{} of queries, {} of keys and values, each {} wide", c.heads, c.kv_heads,
           c.head_dim);
  rows.row("hidden size", "{}", grouped(c.hidden_size));
  rows.row("feed-forward", "{}", grouped(c.intermediate_size));
  rows.row("vocabulary", "{}", c.vocab_size == 0 ? "the target's" : grouped(c.vocab_size));
  rows.row("context", "{}",
           c.max_position == 0 ? "the target's" : grouped(c.max_position) + " positions");
  rows.row("rope theta", "{}", c.rope_theta);
}

void add_role_rows(llm::model_config const& c, table& rows) {
  rows.row("head", "{}", c.tie_word_embeddings ? "the embedding (tied)" : "its own");
}

void add_role_rows(llm::drafter_config const& c, table& rows) {
  rows.row("block size", "{}: the anchor and {} drafted positions", c.block_size, c.block_size - 1);
  rows.row("mask id", "{}", c.mask_token_id);
  rows.row("target layers", "{}{}", fmt::join(c.target_layer_ids, ", "),
           c.num_target_layers == 0 ? "" : fmt::format(" of {}", c.num_target_layers));
}

void add_tokenizer_rows(checkpoint_summary const& s, table& rows) {
  if (s.tokenizer) {
    rows.row("tokenizer", "{} tokens, ids below {}", grouped(s.tokenizer->size),
             grouped(s.tokenizer->id_end));
    rows.row("special tokens", "{}", listed(s.tokenizer->special));
  } else if (s.target() != nullptr) {
    rows.row("tokenizer", "none: there is no tokenizer.json");
  }
  if (s.target() != nullptr) rows.row("stop ids", "{}", listed(s.stops));
}

template <class Config>
void add_shape(Config const& c, nlohmann::ordered_json& object) {
  auto const or_null = [](std::int64_t value) {
    return value == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
  };
  object["layers"] = c.layers;
  object["heads"] = c.heads;
  object["kv_heads"] = c.kv_heads;
  object["head_dim"] = c.head_dim;
  object["hidden_size"] = c.hidden_size;
  object["intermediate_size"] = c.intermediate_size;
  object["vocab_size"] = or_null(c.vocab_size);
  object["max_position"] = or_null(c.max_position);
  object["rope_theta"] = c.rope_theta;
}

nlohmann::ordered_json to_json(std::vector<named_token> const& tokens) {
  auto list = nlohmann::ordered_json::array();
  for (named_token const& token : tokens) list.push_back({{"id", token.id}, {"text", token.text}});
  return list;
}

}  // namespace

std::string to_text(checkpoint_summary const& s) {
  table rows;
  rows.row("architecture", "{}", s.architecture);
  std::visit([&](auto const& c) { add_shape_rows(c, rows); }, s.config);
  std::visit([&](auto const& c) { add_role_rows(c, rows); }, s.config);
  rows.row("parameters", "{}", grouped(s.parameters));
  rows.row("bytes", "{} in {} {}", grouped(s.bytes), s.files, s.files == 1 ? "file" : "shards");
  std::vector<std::string> types;
  for (dtype_count const& count : s.dtypes) {
    types.push_back(fmt::format("{} in {} tensors of {} elements", llm::dtype_name(count.type),
                                count.tensors, grouped(count.elements)));
  }
  rows.row("types", "{}", listed(types));
  rows.row("unused tensors", "{}", listed(s.unused));
  rows.row("missing tensors", "{}", listed(s.missing));
  add_tokenizer_rows(s, rows);
  for (std::string const& line : s.problems()) rows.row("problem", "{}", line);
  return fmt::format("{:<18} {}\n{}", s.target() != nullptr ? "target" : "drafter",
                     llm::one_line(s.folder.string()), rows.text());
}

nlohmann::ordered_json to_json(checkpoint_summary const& s) {
  nlohmann::ordered_json object;
  object["folder"] = s.folder.string();
  object["kind"] = s.target() != nullptr ? "target" : "drafter";
  object["architecture"] = s.architecture;
  std::visit([&](auto const& c) { add_shape(c, object); }, s.config);
  if (auto const* target = s.target()) object["tied"] = target->tie_word_embeddings;
  if (auto const* drafter = s.drafter()) {
    object["block_size"] = drafter->block_size;
    object["mask_token_id"] = drafter->mask_token_id;
    object["target_layer_ids"] = drafter->target_layer_ids;
    if (drafter->num_target_layers != 0) object["num_target_layers"] = drafter->num_target_layers;
  }
  object["parameters"] = s.parameters;
  object["bytes"] = s.bytes;
  object["files"] = s.files;
  object["dtypes"] = nlohmann::ordered_json::object();
  for (dtype_count const& count : s.dtypes) {
    object["dtypes"][std::string(llm::dtype_name(count.type))] = {{"tensors", count.tensors},
                                                                  {"elements", count.elements}};
  }
  object["unused"] = s.unused;
  object["missing"] = s.missing;
  object["tokenizer"] = nullptr;
  if (s.tokenizer) {
    object["tokenizer"] = {{"size", s.tokenizer->size},
                           {"id_end", s.tokenizer->id_end},
                           {"special", to_json(s.tokenizer->special)}};
  }
  if (s.target() != nullptr) object["stops"] = to_json(s.stops);
  object["problems"] = s.problems();
  return object;
}

}  // namespace cli
