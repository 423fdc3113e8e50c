// Finding out what a model folder holds.
#include "checkpoint_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "llm/error.hpp"
#include "llm/json_file.hpp"
#include "llm/tokenizer.hpp"

namespace cli {
namespace {

/// A tensor that an architecture reads.
struct wanted_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// Adds the tensors of all decoder layers; letters as in llm/config.hpp.
template <class Config>
void add_layers(Config const& c, std::string_view prefix, std::vector<wanted_tensor>& wanted) {
  std::int64_t const h = c.hidden_size, d = c.head_dim, f = c.intermediate_size;
  std::int64_t const queries = c.heads * d, keys = c.kv_heads * d;
  std::vector<wanted_tensor> const layer{
      {"input_layernorm", {h}},           {"self_attn.q_proj", {queries, h}},
      {"self_attn.k_proj", {keys, h}},    {"self_attn.v_proj", {keys, h}},
      {"self_attn.o_proj", {h, queries}}, {"self_attn.q_norm", {d}},
      {"self_attn.k_norm", {d}},          {"post_attention_layernorm", {h}},
      {"mlp.gate_proj", {f, h}},          {"mlp.up_proj", {f, h}},
      {"mlp.down_proj", {h, f}}};
  for (std::int64_t i = 0; i < c.layers; ++i) {
    for (wanted_tensor const& t : layer)
      wanted.push_back({fmt::format("{}layers.{}.{}.weight", prefix, i, t.name), t.shape});
  }
}

std::vector<wanted_tensor> wanted_by(llm::model_config const& c) {
  std::vector<wanted_tensor> wanted{{"model.embed_tokens.weight", {c.vocab_size, c.hidden_size}}};
  add_layers(c, "model.", wanted);
  wanted.push_back({"model.norm.weight", {c.hidden_size}});
  if (!c.tie_word_embeddings) wanted.push_back({"lm_head.weight", {c.vocab_size, c.hidden_size}});
  return wanted;
}

std::vector<wanted_tensor> wanted_by(llm::drafter_config const& c) {
  std::int64_t const h = c.hidden_size;
  auto const taps = static_cast<std::int64_t>(c.target_layer_ids.size());
  std::vector<wanted_tensor> wanted{{"fc.weight", {h, taps * h}}, {"hidden_norm.weight", {h}}};
  add_layers(c, "", wanted);
  wanted.push_back({"norm.weight", {h}});
  return wanted;
}

void check_tensors(llm::checkpoint& file, std::vector<wanted_tensor> const& wanted,
                   checkpoint_summary& summary) {
  for (wanted_tensor const& tensor : wanted) {
    if (!file.has(tensor.name)) {
      summary.missing.push_back(tensor.name);
      continue;
    }
    llm::tensor_view const view = file.get(tensor.name);
    summary.parameters += view.elements();
    if (view.shape != tensor.shape) {
      summary.unusable.push_back(fmt::format("{} has shape [{}], but config.json asks for [{}]",
                                             tensor.name, fmt::join(view.shape, ", "),
                                             fmt::join(tensor.shape, ", ")));
    } else if (view.type == llm::dtype::i64) {
      summary.unusable.push_back(
          fmt::format("{} is I64, but weights are BF16, F16 or F32; convert it", tensor.name));
    }
  }
}

std::vector<dtype_count> count_dtypes(llm::checkpoint& file) {
  std::vector<dtype_count> counts;
  for (std::string const& name : file.names()) {
    llm::tensor_view const view = file.get(name);
    auto found = std::ranges::find(counts, view.type, &dtype_count::type);
    if (found == counts.end()) found = counts.insert(found, {view.type});
    ++found->tensors;
    found->elements += view.elements();
  }
  return counts;
}

std::size_t count_files(std::filesystem::path const& folder) {
  if (std::filesystem::exists(folder / "model.safetensors")) return 1;
  llm::json_file const index =
      llm::json_file::read(folder / "model.safetensors.index.json", {.bytes = 100'000'000});
  llm::json_field const weights = index.root().at("weight_map");
  std::set<std::string> shards;
  for (auto const& [name, shard] : weights.raw().items()) shards.insert(weights.at(name).text());
  return shards.size();
}

tokenizer_summary summarise(llm::tokenizer const& tokenizer) {
  tokenizer_summary summary{tokenizer.size(), tokenizer.id_end(), {}};
  for (tev::token_id id = 0; id < tokenizer.id_end(); ++id) {
    if (tokenizer.is_special(id)) summary.special.push_back({id, std::string(tokenizer.bytes(id))});
  }
  return summary;
}

void read_tokenizer(checkpoint_summary& summary) {
  std::optional<llm::tokenizer> tokenizer;
  if (std::filesystem::exists(summary.folder / "tokenizer.json")) {
    tokenizer = llm::tokenizer::open(summary.folder);
    summary.tokenizer = summarise(*tokenizer);
  }
  if (auto const* target = summary.target()) {
    for (tev::token_id const id : target->stop_ids)
      summary.stops.push_back({id, tokenizer ? std::string(tokenizer->bytes(id)) : ""});
  }
}

}  // namespace

std::vector<std::string> checkpoint_summary::problems() const {
  std::vector<std::string> found;
  if (!missing.empty()) {
    found.push_back(fmt::format(
        "{} of the tensors that config.json asks for are missing; fetch the checkpoint again",
        missing.size()));
  }
  for (std::string const& line : unusable) found.push_back(line);
  auto const* const model = target();
  if (model != nullptr && tokenizer && tokenizer->id_end > model->vocab_size) {
    found.push_back(
        fmt::format("tokenizer.json has ids up to {}, but the embedding has rows 0 to {}; use the "
                    "tokenizer of this checkpoint",
                    tokenizer->id_end - 1, model->vocab_size - 1));
  }
  return found;
}

checkpoint_summary summarise(std::filesystem::path const& folder) {
  if (!std::filesystem::is_directory(folder)) {
    throw llm::make_error("{}: no such folder; a model folder with config.json is needed",
                          folder.string());
  }
  checkpoint_summary summary;
  summary.folder = folder;
  llm::json_file const config = llm::json_file::read(folder / "config.json");
  summary.architecture = config.root().at("architectures").elements(1, 16).front().text();
  if (summary.architecture == "DFlashDraftModel") {
    summary.config = llm::read_drafter_config(folder);
  } else {
    summary.config = llm::read_model_config(folder);
  }

  llm::checkpoint file = llm::checkpoint::open(folder);
  summary.files = count_files(folder);
  summary.bytes = file.total_bytes();
  std::visit([&](auto const& c) { check_tensors(file, wanted_by(c), summary); }, summary.config);
  if (summary.target() != nullptr && summary.target()->tie_word_embeddings)
    file.mark_used("lm_head.weight");
  summary.unused = file.unused();
  summary.dtypes = count_dtypes(file);
  read_tokenizer(summary);
  return summary;
}

}  // namespace cli
