// Configurations are read as published, and what is missing, wrong or unsupported is named.
#include "llm/config.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scratch_folder.hpp"

namespace {

using llm_test::expect_error;
using llm_test::scratch_folder;
using llm_test::tiny_models;
using nlohmann::json;
using edit = std::function<void(json&)>;

json json_of(std::filesystem::path const& file) { return json::parse(llm_test::read_text(file)); }

llm::model_config read_model(edit const& change, std::string const& generation = "") {
  scratch_folder const folder;
  json config = json_of(tiny_models() / "tiny-qwen3/config.json");
  change(config);
  folder.write("config.json", config.dump());
  if (!generation.empty()) folder.write("generation_config.json", generation);
  return llm::read_model_config(folder.path());
}

llm::drafter_config read_drafter(edit const& change) {
  scratch_folder const folder;
  json config = json_of(tiny_models() / "tiny-dflash/config.json");
  change(config);
  folder.write("config.json", config.dump());
  return llm::read_drafter_config(folder.path());
}

void expect_model_refused(edit const& change, std::initializer_list<std::string_view> parts) {
  expect_error([&] { (void)read_model(change); }, {"config.json"});
  expect_error([&] { (void)read_model(change); }, parts);
}

void expect_drafter_refused(edit const& change, std::initializer_list<std::string_view> parts) {
  expect_error([&] { (void)read_drafter(change); }, {"config.json"});
  expect_error([&] { (void)read_drafter(change); }, parts);
}

void unchanged(json&) {}

TEST(ModelConfig, ReadsTheBundledTarget) {
  auto const config = llm::read_model_config(tiny_models() / "tiny-qwen3");
  EXPECT_EQ(config.hidden_size, 192);
  EXPECT_EQ(config.layers, 4);
  EXPECT_EQ(config.heads, 6);
  EXPECT_EQ(config.kv_heads, 2);
  EXPECT_EQ(config.head_dim, 32);
  EXPECT_EQ(config.intermediate_size, 512);
  EXPECT_EQ(config.vocab_size, 1056);
  EXPECT_EQ(config.max_position, 512);
  EXPECT_EQ(config.rope_theta, 1e6);
  EXPECT_EQ(config.rms_norm_eps, 1e-6F);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.stop_ids, (std::vector<tev::token_id>{1021, 1019}));
}

TEST(ModelConfig, TakesStopIdsFromTheGenerationConfigFirst) {
  using ids = std::vector<tev::token_id>;
  EXPECT_EQ(read_model(unchanged, R"({"eos_token_id": 7})").stop_ids, ids{7});
  EXPECT_EQ(read_model(unchanged, R"({"eos_token_id": [3, 1, 3]})").stop_ids, (ids{3, 1}));
  EXPECT_EQ(read_model(unchanged, R"({"eos_token_id": []})").stop_ids, ids{});
  EXPECT_EQ(read_model(unchanged, R"({"eos_token_id": null})").stop_ids, ids{1021});
  EXPECT_EQ(read_model(unchanged, R"({})").stop_ids, ids{1021});
  EXPECT_EQ(read_model(unchanged).stop_ids, ids{1021});
  EXPECT_EQ(read_model([](json& c) { c["eos_token_id"] = {5, 6}; }).stop_ids, (ids{5, 6}));
  EXPECT_EQ(read_model([](json& c) { c.erase("eos_token_id"); }).stop_ids, ids{});
  expect_error([] { (void)read_model(unchanged, R"({"eos_token_id": [1, 1056]})"); },
               {"generation_config.json", "eos_token_id[1]", "1056", "1055"});
  expect_error([] { (void)read_model(unchanged, R"({"eos_token_id": "end"})"); },
               {"generation_config.json", "eos_token_id", "\"end\""});
}

TEST(ModelConfig, ReadsRopeThetaFromRopeParameters) {
  auto const nested = [](json& c) {
    c.erase("rope_theta");
    c.erase("rope_scaling");
    c["rope_parameters"] = {{"rope_theta", 5e6}, {"rope_type", "default"}};
  };
  EXPECT_EQ(read_model(nested).rope_theta, 5e6);
  expect_model_refused([](json& c) { c["rope_parameters"] = {{"rope_theta", 5e6}}; },
                       {"rope_parameters.rope_theta", "5000000", "agree"});
  expect_model_refused([](json& c) { c.erase("rope_theta"); },
                       {"rope_theta", "missing", "rope_parameters"});
  expect_model_refused(
      [](json& c) { c["rope_parameters"] = {{"rope_theta", 1e6}, {"rope_type", "yarn"}}; },
      {"rope_parameters.rope_type", "yarn", "default"});
}

TEST(ModelConfig, AcceptsDefaultsSpeltOut) {
  EXPECT_NO_THROW((void)read_model([](json& c) {
    c["rope_scaling"] = {{"rope_type", "default"}};
    c["layer_types"] = std::vector<std::string>(4, "full_attention");
    c["num_experts"] = 0;
    c["sliding_window"] = 4096;
    c["partial_rotary_factor"] = 1.0;
  }));
}

TEST(ModelConfig, NamesEveryMissingField) {
  for (std::string const field :
       {"architectures", "hidden_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "head_dim", "intermediate_size", "vocab_size",
        "max_position_embeddings", "rms_norm_eps", "tie_word_embeddings"}) {
    expect_model_refused([&](json& c) { c.erase(field); }, {field, "missing", "add it"});
  }
}

TEST(ModelConfig, NamesEveryFieldOfAWrongTypeOrOutOfRange) {
  for (std::string const field :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
        "head_dim", "intermediate_size", "vocab_size", "max_position_embeddings"}) {
    expect_model_refused([&](json& c) { c[field] = 0; }, {field, "is 0", "needed"});
    expect_model_refused([&](json& c) { c[field] = -4; }, {field, "is -4", "needed"});
    expect_model_refused([&](json& c) { c[field] = std::int64_t{1} << 40; },
                         {field, "1099511627776"});
    expect_model_refused([&](json& c) { c[field] = "4"; }, {field, "\"4\"", "whole number"});
    expect_model_refused([&](json& c) { c[field] = 4.5; }, {field, "4.5", "whole number"});
  }
  expect_model_refused([](json& c) { c["rope_theta"] = 0; }, {"rope_theta", "is 0"});
  expect_model_refused([](json& c) { c["rms_norm_eps"] = 0; }, {"rms_norm_eps", "above 0"});
  expect_model_refused([](json& c) { c["tie_word_embeddings"] = 1; },
                       {"tie_word_embeddings", "true or false"});
}

TEST(ModelConfig, RefusesShapesThatDoNotDivide) {
  expect_model_refused([](json& c) { c["num_key_value_heads"] = 4; },
                       {"num_key_value_heads", "is 4", "num_attention_heads", "6"});
  expect_model_refused([](json& c) { c["head_dim"] = 33; }, {"head_dim", "33", "even"});
}

TEST(ModelConfig, RefusesAnUnknownArchitecture) {
  expect_model_refused([](json& c) { c["architectures"] = {"LlamaForCausalLM"}; },
                       {"architectures[0]", "LlamaForCausalLM", "Qwen3ForCausalLM"});
  expect_model_refused([](json& c) { c["architectures"] = {"Qwen3MoeForCausalLM"}; },
                       {"architectures[0]", "Qwen3MoeForCausalLM", "supported"});
  expect_model_refused([](json& c) { c["architectures"] = json::array(); }, {"architectures"});
  expect_model_refused([](json& c) { c["model_type"] = "qwen3_moe"; }, {"model_type", "qwen3_moe"});
  expect_error([] { (void)llm::read_model_config(tiny_models() / "tiny-dflash"); },
               {"architectures[0]", "DFlashDraftModel", "as a drafter"});
  expect_error([] { (void)llm::read_drafter_config(tiny_models() / "tiny-qwen3"); },
               {"architectures[0]", "Qwen3ForCausalLM", "DFlashDraftModel"});
}

TEST(ModelConfig, RefusesLayerTypesOfAnotherCount) {
  expect_model_refused([](json& c) { c["layer_types"] = json::array({"full_attention"}); },
                       {"layer_types", "an array of 4 elements"});
}

struct unsupported_switch {
  std::string field;
  json value;
};

TEST(ModelConfig, RefusesEverySwitchItDoesNotSupport) {
  std::vector<unsupported_switch> const switches{
      {"attention_bias", true},
      {"hidden_act", "gelu"},
      {"use_sliding_window", true},
      {"num_experts", 128},
      {"rope_scaling", {{"rope_type", "llama3"}, {"factor", 8}}},
      {"rope_scaling", {{"factor", 8}}},
      {"rope_scaling", "yarn"},
      {"quantization_config", {{"bits", 4}}},
      {"final_logit_softcapping", 30.0},
      {"partial_rotary_factor", 0.5},
      {"layer_types", {"full_attention", "full_attention", "full_attention", "sliding_attention"}},
  };
  for (auto const& [field, value] : switches) {
    auto const change = [&](json& c) { c[field] = value; };
    expect_model_refused(change, {field, "supported"});
    expect_drafter_refused(
        [&](json& c) {
          c.erase("layer_types");
          change(c);
        },
        {field});
  }
}

TEST(ModelConfig, RefusesAMissingOrBrokenFile) {
  scratch_folder const folder;
  expect_error([&] { (void)llm::read_model_config(folder.path() / "none"); }, {"none", "folder"});
  expect_error([&] { (void)llm::read_model_config(folder.path()); },
               {"config.json", "no such file"});
  folder.write("config.json", R"({"architectures": ["Qwen3For)");
  expect_error([&] { (void)llm::read_model_config(folder.path()); },
               {"config.json", "not valid JSON"});
  folder.write("config.json", "[]");
  expect_error([&] { (void)llm::read_model_config(folder.path()); }, {"config.json", "object"});
}

TEST(DrafterConfig, ReadsTheBundledDrafters) {
  for (std::string const name : {"tiny-dflash", "tiny-dflash-token", "tiny-dflash-exit"}) {
    auto const config = llm::read_drafter_config(tiny_models() / name);
    EXPECT_EQ(config.hidden_size, 192);
    EXPECT_EQ(config.layers, 2);
    EXPECT_EQ(config.block_size, 8);
    EXPECT_EQ(config.mask_token_id, 1024);
    EXPECT_EQ(config.target_layer_ids, (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_EQ(config.num_target_layers, 4);
    EXPECT_EQ(config.rope_theta, 1e6);
    EXPECT_EQ(config.vocab_size, 1056);
    EXPECT_EQ(config.max_position, 512);
  }
}

TEST(DrafterConfig, ReadsBlockSizeFromInsideDflashConfig) {
  auto const nested = [](json& c) {
    c.erase("block_size");
    c["dflash_config"]["block_size"] = 10;
  };
  EXPECT_EQ(read_drafter(nested).block_size, 10);
  expect_drafter_refused([](json& c) { c["dflash_config"]["block_size"] = 10; },
                         {"dflash_config.block_size", "10", "agree"});
  expect_drafter_refused([](json& c) { c.erase("block_size"); }, {"block_size", "missing"});
}

TEST(DrafterConfig, ReadsRopeThetaFromRopeParameters) {
  auto const nested = [](json& c) {
    c.erase("rope_theta");
    c["rope_parameters"]["rope_theta"] = 10000000;
  };
  EXPECT_EQ(read_drafter(nested).rope_theta, 1e7);
}

TEST(DrafterConfig, RefusesValuesOutOfRange) {
  expect_drafter_refused([](json& c) { c["block_size"] = 1; }, {"block_size", "is 1", "[2, 256]"});
  expect_drafter_refused([](json& c) { c["block_size"] = 257; }, {"block_size", "is 257"});
  expect_drafter_refused([](json& c) { c["dflash_config"]["mask_token_id"] = -1; },
                         {"dflash_config.mask_token_id", "is -1"});
  expect_drafter_refused([](json& c) { c["dflash_config"]["mask_token_id"] = 1 << 24; },
                         {"dflash_config.mask_token_id", "16777216"});
  expect_drafter_refused([](json& c) { c["dflash_config"].erase("mask_token_id"); },
                         {"dflash_config.mask_token_id", "missing"});
  expect_drafter_refused([](json& c) { c["dflash_config"]["target_layer_ids"] = json::array(); },
                         {"dflash_config.target_layer_ids", "1 to 64"});
  expect_drafter_refused([](json& c) { c["dflash_config"]["target_layer_ids"] = {0, -1}; },
                         {"dflash_config.target_layer_ids[1]", "is -1"});
  expect_drafter_refused([](json& c) { c.erase("dflash_config"); }, {"dflash_config", "missing"});
}

TEST(DrafterConfig, RefusesVariantsOfDflash) {
  expect_drafter_refused([](json& c) { c["dflash_config"]["projector_type"] = "domino"; },
                         {"dflash_config.projector_type", "domino", "supported"});
  expect_drafter_refused([](json& c) { c["projector_type"] = "dspark"; },
                         {"projector_type", "dspark", "supported"});
  expect_drafter_refused([](json& c) { c["dflash_config"]["pure_draft_prefix_len"] = 4; },
                         {"dflash_config.pure_draft_prefix_len", "is 4"});
  expect_drafter_refused([](json& c) { c["dflash_config"]["shift_label"] = true; },
                         {"dflash_config.shift_label", "true"});
  expect_drafter_refused([](json& c) { c["layer_types"][1] = "sliding_attention"; },
                         {"layer_types[1]", "sliding_attention", "full_attention"});
  EXPECT_NO_THROW((void)read_drafter([](json& c) {
    c["dflash_config"]["projector_type"] = nullptr;
    c["dflash_config"]["shift_label"] = false;
  }));
}

TEST(DrafterConfig, MakesDefaultLayerIdsFromTheTargetsLayers) {
  auto const without_ids = [](json& c) {
    c["dflash_config"].erase("target_layer_ids");
    c["num_target_layers"] = 36;
  };
  EXPECT_EQ(read_drafter(without_ids).target_layer_ids, (std::vector<std::int64_t>{1, 33}));
  expect_drafter_refused(
      [](json& c) {
        c["dflash_config"].erase("target_layer_ids");
        c.erase("num_target_layers");
      },
      {"dflash_config.target_layer_ids", "num_target_layers"});
}

TEST(DefaultLayerIds, FollowThePublishedDrafters) {
  using ids = std::vector<std::int64_t>;
  EXPECT_EQ(llm::default_layer_ids(36, 5), (ids{1, 9, 17, 25, 33}));
  EXPECT_EQ(llm::default_layer_ids(24, 5), (ids{1, 6, 11, 16, 21}));
  EXPECT_EQ(llm::default_layer_ids(32, 5), (ids{1, 8, 15, 22, 29}));
  EXPECT_EQ(llm::default_layer_ids(64, 5), (ids{1, 16, 31, 46, 61}));
  EXPECT_EQ(llm::default_layer_ids(48, 5), (ids{1, 12, 23, 34, 45}));
  EXPECT_EQ(llm::default_layer_ids(28, 1), (ids{14}));
  EXPECT_EQ(llm::default_layer_ids(4, 5), (ids{1, 1, 1, 1, 1}));
}

TEST(DefaultLayerIds, RoundTiesToEven) {
  EXPECT_EQ(llm::default_layer_ids(7, 3), (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_EQ(llm::default_layer_ids(9, 3), (std::vector<std::int64_t>{1, 4, 6}));
}

class Fit : public testing::Test {
 protected:
  llm::model_config target = llm::read_model_config(tiny_models() / "tiny-qwen3");
  llm::drafter_config drafter = llm::read_drafter_config(tiny_models() / "tiny-dflash");

  void expect_misfit(std::initializer_list<std::string_view> parts) {
    EXPECT_EQ(llm::misfits(drafter, target).size(), 1U);
    expect_error([&] { llm::check_fit(drafter, target); }, {"does not fit"});
    expect_error([&] { llm::check_fit(drafter, target); }, parts);
  }
};

TEST_F(Fit, HoldsForTheBundledPairs) {
  EXPECT_TRUE(llm::misfits(drafter, target).empty());
  EXPECT_NO_THROW(llm::check_fit(drafter, target));
}

TEST_F(Fit, NeedsEqualHiddenSizes) {
  drafter.hidden_size = 256;
  expect_misfit({"hidden_size is 256", "192"});
}

TEST_F(Fit, NeedsEqualVocabularies) {
  drafter.vocab_size = 1057;
  expect_misfit({"vocab_size is 1057", "1056"});
  drafter.vocab_size = 0;
  EXPECT_TRUE(llm::misfits(drafter, target).empty());
}

TEST_F(Fit, NeedsAMaskTokenInTheEmbedding) {
  drafter.mask_token_id = 1055;
  EXPECT_TRUE(llm::misfits(drafter, target).empty());
  drafter.mask_token_id = 1056;
  expect_misfit({"mask_token_id is 1056", "0 to 1055"});
}

TEST_F(Fit, NeedsLayersOfTheTarget) {
  drafter.target_layer_ids = {0, 4};
  expect_misfit({"target_layer_ids holds 4", "0 to 3"});
  drafter.target_layer_ids = {1, 1};
  expect_misfit({"target_layer_ids holds 1 twice"});
}

TEST_F(Fit, RefusesTheLastLayer) {
  drafter.target_layer_ids = {0, 3};
  expect_misfit({"target_layer_ids holds 3", "last layer", "final norm"});
}

TEST_F(Fit, NeedsTheLayerCountItWasTrainedFor) {
  drafter.num_target_layers = 36;
  expect_misfit({"num_target_layers is 36", "4"});
  drafter.num_target_layers = 0;
  EXPECT_TRUE(llm::misfits(drafter, target).empty());
}

TEST_F(Fit, NeedsPositionsForABlock) {
  target.max_position = 7;
  expect_misfit({"block_size is 8", "7"});
}

TEST_F(Fit, ListsEveryMisfit) {
  drafter.hidden_size = 256;
  drafter.mask_token_id = 2000;
  drafter.target_layer_ids = {9, 3};
  EXPECT_EQ(llm::misfits(drafter, target).size(), 4U);
  expect_error([&] { llm::check_fit(drafter, target); }, {"hidden_size", "3 more"});
}

}  // namespace
