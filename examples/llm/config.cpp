// Reading and checking config.json of a target and of a drafter.
#include "config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error.hpp"
#include "json_file.hpp"
#include "rotary.hpp"

namespace llm {
namespace {

// Bounds far above every published model and far below anything that overflows a product of two.
constexpr std::int64_t most_width = 1 << 20;
constexpr std::int64_t most_layers = 1024;
constexpr std::int64_t most_heads = 4096;
constexpr std::int64_t most_head_dim = 4096;
constexpr std::int64_t most_block = 256;
constexpr std::int64_t most_features = 64;

void require_architecture(json_field const& root, std::string_view wanted, std::string_view what) {
  json_field const field = root.at("architectures");
  std::string const supported = fmt::format("[\"{}\"] ({}) is what is supported", wanted, what);
  auto const names = field.elements(1, 16);
  for (json_field const& name : names) {
    if (name.text() == wanted) return;
    if (name.text() == "DFlashDraftModel") name.refuse(supported + "; pass a drafter as a drafter");
  }
  names.front().refuse(supported);
}

/// Refuses each of `keys` that is there and neither null, false, 0 nor 0.0: switches whose
/// presence changes the forward pass.
void require_off(json_field const& root, std::initializer_list<std::string_view> keys) {
  for (std::string_view const key : keys) {
    auto const field = root.find(key);
    if (!field) continue;
    auto const& value = field->raw();
    bool const off = (value.is_boolean() && !value.get<bool>()) ||
                     (value.is_number() && value.get<double>() == 0.0);
    if (!off) field->refuse("it is supported only when absent, null, false or 0");
  }
}

void require_plain_rope(json_field const& rope) {
  for (std::string_view const key : {"rope_type", "type"}) {
    auto const kind = rope.find(key);
    if (kind && kind->text() != "default") {
      kind->refuse("only \"default\" (no scaling of rotary angles) is supported");
    }
  }
  auto const partial = rope.find("partial_rotary_factor");
  if (partial && partial->number(0, 1) != 1.0) partial->refuse("only 1 is supported");
}

double read_rope_theta(json_field const& root) {
  if (auto const scaling = root.find("rope_scaling")) {
    if (!scaling->is_object() || !(scaling->find("rope_type") || scaling->find("type"))) {
      scaling->refuse("only null or the type \"default\" is supported");
    }
    require_plain_rope(*scaling);
  }
  require_plain_rope(root);
  std::optional<double> theta;
  if (auto const plain = root.find("rope_theta")) theta = plain->number(1, 1e12);
  if (auto const nested = root.find("rope_parameters")) {
    require_plain_rope(*nested);
    if (auto const inner = nested->find("rope_theta")) {
      double const value = inner->number(1, 1e12);
      if (theta && *theta != value) {
        inner->refuse(fmt::format("field rope_theta is {}; make them agree", *theta));
      }
      theta = value;
    }
  }
  if (!theta) {
    throw make_error("{}: field rope_theta is missing, also as rope_parameters.rope_theta; add it",
                     root.file());
  }
  return *theta;
}

/// Refuses attention windows: `layer_types` decides where it is there, `use_sliding_window`
/// otherwise.
void require_full_attention(json_field const& root, std::int64_t layers) {
  auto const types = root.find("layer_types");
  if (!types) {
    require_off(root, {"use_sliding_window"});
    return;
  }
  auto const count = static_cast<std::size_t>(layers);
  for (json_field const& type : types->elements(count, count)) {
    if (type.text() != "full_attention") type.refuse("only \"full_attention\" is supported");
  }
}

/// Fills what a target and a drafter have in common and refuses what neither supports.
template <class Config>
void read_stack(json_field const& root, Config& config) {
  if (auto const type = root.find("model_type"); type && type->text() != "qwen3") {
    type->refuse("only \"qwen3\" (dense) is supported");
  }
  if (auto const act = root.find("hidden_act"); act && act->text() != "silu") {
    act->refuse("only \"silu\" is supported");
  }
  require_off(root, {"attention_bias", "mlp_bias", "num_experts", "num_local_experts",
                     "n_routed_experts", "quantization_config", "final_logit_softcapping",
                     "attn_logit_softcapping", "query_pre_attn_scalar"});
  config.hidden_size = root.at("hidden_size").integer(1, most_width);
  config.layers = root.at("num_hidden_layers").integer(1, most_layers);
  config.heads = root.at("num_attention_heads").integer(1, most_heads);
  json_field const kv_heads = root.at("num_key_value_heads");
  config.kv_heads = kv_heads.integer(1, most_heads);
  if (config.heads % config.kv_heads != 0) {
    kv_heads.refuse(fmt::format("it must divide num_attention_heads, which is {}", config.heads));
  }
  json_field const head_dim = root.at("head_dim");
  config.head_dim = head_dim.integer(2, most_head_dim);
  if (config.head_dim % 2 != 0) head_dim.refuse("an even number is needed to pair rotary angles");
  config.intermediate_size = root.at("intermediate_size").integer(1, most_width);
  json_field const epsilon = root.at("rms_norm_eps");
  config.rms_norm_eps = static_cast<float>(epsilon.number(0, 1));
  if (!(config.rms_norm_eps > 0)) epsilon.refuse("a number above 0 is needed");
  config.rope_theta = read_rope_theta(root);
  require_full_attention(root, config.layers);
}

/// Returns the ids of `eos_token_id`, a number or an array of them, without repetitions.
std::vector<tev::token_id> read_ids(json_field const& field, std::int64_t vocab_size) {
  std::vector<json_field> const fields =
      field.is_array() ? field.elements(0, 256) : std::vector<json_field>{field};
  std::vector<tev::token_id> ids;
  for (json_field const& element : fields) {
    auto const id = static_cast<tev::token_id>(element.integer(0, vocab_size - 1));
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

std::vector<tev::token_id> read_stop_ids(std::filesystem::path const& folder,
                                         json_field const& root, std::int64_t vocab_size) {
  std::filesystem::path const file = folder / "generation_config.json";
  if (std::filesystem::exists(file)) {
    json_file const generation = json_file::read(file);
    if (auto const eos = generation.root().find("eos_token_id")) return read_ids(*eos, vocab_size);
  }
  if (auto const eos = root.find("eos_token_id")) return read_ids(*eos, vocab_size);
  return {};
}

json_file read_config_file(std::filesystem::path const& folder) {
  if (!std::filesystem::is_directory(folder)) {
    throw make_error("{}: no such folder; a model folder with config.json is needed",
                     folder.string());
  }
  return json_file::read(folder / "config.json");
}

/// Refuses the variants of DFlash: whatever `dflash_config` holds beyond the published fields may
/// change what the drafter computes.
void require_plain_dflash(json_field const& dflash) {
  constexpr std::array<std::string_view, 3> known{"block_size", "mask_token_id",
                                                  "target_layer_ids"};
  for (std::string const& key : dflash.keys()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    require_off(dflash, {key});
  }
}

/// Returns the field `key` of `inner` or of `root`; where both have it they must be equal.
json_field one_of(json_field const& root, json_field const& inner, std::string_view key) {
  auto const nested = inner.find(key);
  auto const plain = root.find(key);
  if (nested && plain && nested->raw() != plain->raw()) {
    nested->refuse(fmt::format("the outer field {} differs; make them agree", key));
  }
  if (plain) return *plain;
  return inner.at(key);
}

std::vector<std::int64_t> read_layer_ids(json_field const& dflash, json_field const& root,
                                         drafter_config const& config) {
  auto const listed = dflash.find("target_layer_ids");
  if (!listed) {
    if (config.num_target_layers == 0) {
      throw make_error(
          "{}: field dflash_config.target_layer_ids is missing and num_target_layers,"
          " which would give its default, is too; add one of them",
          root.file());
    }
    return default_layer_ids(config.num_target_layers, config.layers);
  }
  std::vector<std::int64_t> ids;
  for (json_field const& id : listed->elements(1, most_features)) {
    ids.push_back(id.integer(0, most_layers - 1));
  }
  return ids;
}

void append_layer_misfits(drafter_config const& drafter, model_config const& target,
                          std::vector<std::string>& found) {
  std::vector<std::int64_t> seen;
  for (std::int64_t const id : drafter.target_layer_ids) {
    if (std::find(seen.begin(), seen.end(), id) != seen.end()) {
      found.push_back(fmt::format("target_layer_ids holds {} twice; give distinct layers", id));
    } else if (id < 0 || id >= target.layers) {
      found.push_back(fmt::format("target_layer_ids holds {}, but the target has layers 0 to {}",
                                  id, target.layers - 1));
    } else if (id == target.layers - 1) {
      found.push_back(
          fmt::format("target_layer_ids holds {}, the target's last layer, whose "
                      "features some trainers take before and some after the final "
                      "norm; use a drafter of earlier layers",
                      id));
    }
    seen.push_back(id);
  }
}

}  // namespace

model_config read_model_config(std::filesystem::path const& folder) {
  json_file const file = read_config_file(folder);
  json_field const root = file.root();
  require_architecture(root, "Qwen3ForCausalLM", "Qwen3 dense");
  model_config config;
  read_stack(root, config);
  config.vocab_size = root.at("vocab_size").integer(1, tev::vocab_limit - 1);
  config.max_position = root.at("max_position_embeddings").integer(1, most_positions);
  config.tie_word_embeddings = root.at("tie_word_embeddings").boolean();
  config.stop_ids = read_stop_ids(folder, root, config.vocab_size);
  return config;
}

drafter_config read_drafter_config(std::filesystem::path const& folder) {
  json_file const file = read_config_file(folder);
  json_field const root = file.root();
  require_architecture(root, "DFlashDraftModel", "DFlash");
  drafter_config config;
  read_stack(root, config);
  require_off(root, {"projector_type", "pure_draft_prefix_len", "shift_label"});
  json_field const dflash = root.at("dflash_config");
  require_plain_dflash(dflash);
  if (auto const vocab = root.find("vocab_size")) {
    config.vocab_size = vocab->integer(1, tev::vocab_limit - 1);
  }
  if (auto const positions = root.find("max_position_embeddings")) {
    config.max_position = positions->integer(1, most_positions);
  }
  if (auto const layers = root.find("num_target_layers")) {
    config.num_target_layers = layers->integer(1, most_layers);
  }
  config.block_size = one_of(root, dflash, "block_size").integer(2, most_block);
  config.mask_token_id = static_cast<tev::token_id>(
      one_of(root, dflash, "mask_token_id").integer(0, tev::vocab_limit - 1));
  config.target_layer_ids = read_layer_ids(dflash, root, config);
  return config;
}

std::vector<std::int64_t> default_layer_ids(std::int64_t target_layers,
                                            std::int64_t drafter_layers) {
  if (drafter_layers == 1) return {target_layers / 2};
  std::vector<std::int64_t> ids;
  auto const span = static_cast<double>(target_layers - 4);
  for (std::int64_t i = 0; i < drafter_layers; ++i) {
    double const place =
        1.0 + static_cast<double>(i) * span / static_cast<double>(drafter_layers - 1);
    // The default rounding of the hardware sends ties to even, as the rule needs.
    ids.push_back(static_cast<std::int64_t>(std::nearbyint(place)));
  }
  return ids;
}

std::vector<std::string> misfits(drafter_config const& drafter, model_config const& target) {
  std::vector<std::string> found;
  if (drafter.hidden_size != target.hidden_size) {
    found.push_back(
        fmt::format("hidden_size is {}, but the target's is {}; embedding and head are "
                    "shared, so they must be equal",
                    drafter.hidden_size, target.hidden_size));
  }
  if (drafter.vocab_size != 0 && drafter.vocab_size != target.vocab_size) {
    found.push_back(fmt::format("vocab_size is {}, but the target's is {}; they must be equal",
                                drafter.vocab_size, target.vocab_size));
  }
  if (drafter.mask_token_id < 0 || drafter.mask_token_id >= target.vocab_size) {
    found.push_back(fmt::format("mask_token_id is {}, but the target's embedding has rows 0 to {}",
                                drafter.mask_token_id, target.vocab_size - 1));
  }
  if (drafter.num_target_layers != 0 && drafter.num_target_layers != target.layers) {
    found.push_back(fmt::format("num_target_layers is {}, but the target has {} layers",
                                drafter.num_target_layers, target.layers));
  }
  append_layer_misfits(drafter, target, found);
  if (drafter.block_size > target.max_position) {
    found.push_back(fmt::format("block_size is {}, more than the target's {} positions",
                                drafter.block_size, target.max_position));
  }
  return found;
}

void check_fit(drafter_config const& drafter, model_config const& target) {
  std::vector<std::string> const found = misfits(drafter, target);
  if (found.empty()) return;
  throw make_error("the drafter does not fit the target: {}{}", found.front(),
                   found.size() == 1 ? "" : fmt::format(" (and {} more)", found.size() - 1));
}

}  // namespace llm
