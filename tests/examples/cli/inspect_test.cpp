// What `tev inspect` says about the bundled pair, a drafter that does not fit, and damaged files.
#include "cli/inspect.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/checkpoint_summary.hpp"
#include "cli/exit_with.hpp"
#include "examples/llm/scratch_folder.hpp"

namespace {

using nlohmann::json;

std::string target_folder() { return (llm_test::tiny_models() / "tiny-qwen3").string(); }
std::string drafter_folder() { return (llm_test::tiny_models() / "tiny-dflash").string(); }

/// What one run printed and how it ended.
struct inspection {
  std::string text;
  int code = 0;
};

/// Runs `inspect` with `arguments`; an `llm::error` passes through.
inspection inspect(std::vector<std::string> arguments) {
  CLI::App app;
  cli::add_inspect(app);
  // CLI11 takes arguments from the back.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  reversed.emplace_back("inspect");
  inspection done;
  testing::internal::CaptureStdout();
  try {
    app.parse(reversed);
  } catch (cli::exit_with const& status) {
    done.code = status.code;
  } catch (...) {
    (void)testing::internal::GetCapturedStdout();
    throw;
  }
  done.text = testing::internal::GetCapturedStdout();
  return done;
}

/// A copy of a bundled folder that a test may damage.
class copied_model {
 public:
  explicit copied_model(std::filesystem::path const& folder) {
    for (auto const& file : std::filesystem::directory_iterator(folder))
      std::filesystem::copy(file.path(), scratch_.path());
  }
  [[nodiscard]] std::string folder() const { return scratch_.path().string(); }
  [[nodiscard]] std::filesystem::path file(std::string_view name) const {
    return scratch_.path() / name;
  }
  void edit_config(json const& patch) const {
    json config = json::parse(llm_test::read_text(file("config.json")));
    config.merge_patch(patch);
    scratch_.write("config.json", config.dump());
  }
  void truncate(std::string_view name, std::uintmax_t bytes) const {
    std::filesystem::resize_file(file(name), bytes);
  }
  void write(std::string const& name, std::string_view content) const {
    scratch_.write(name, content);
  }
  /// Renames tensor `from` in the header to a name of the same length.
  void rename_tensor(std::string const& from, std::string const& to) const {
    std::string bytes = llm_test::read_text(file("model.safetensors"));
    ASSERT_EQ(from.size(), to.size());
    auto const at = bytes.find("\"" + from + "\"");
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at + 1, from.size(), to);
    scratch_.write("model.safetensors", bytes);
  }

 private:
  llm_test::scratch_folder scratch_;
};

void expect_parts(std::string const& text, std::initializer_list<std::string_view> parts) {
  for (std::string_view const part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "lacks: " << part << "\nin: " << text;
}

TEST(Inspect, DescribesTheBundledTarget) {
  auto const done = inspect({target_folder()});
  EXPECT_EQ(done.code, 0);
  expect_parts(
      done.text,
      {"target             " + target_folder(), "  architecture     Qwen3ForCausalLM\n",
       "  layers           4\n", "6 of queries, 2 of keys and values, each 32 wide",
       "  vocabulary       1,056\n", "  context          512 positions\n",
       "  rope theta       1000000\n", "the embedding (tied)", "  missing tensors  none\n",
       "  unused tensors   none\n", "1021 <|im_end|>, 1019 <|endoftext|>", "BF16 in 46 tensors"});
}

TEST(Inspect, DescribesTheBundledDrafterAlone) {
  auto const done = inspect({drafter_folder()});
  EXPECT_EQ(done.code, 0);
  expect_parts(done.text, {"drafter            " + drafter_folder(), "DFlashDraftModel",
                           "  block size       8: the anchor and 7 drafted positions\n",
                           "  mask id          1024\n", "  target layers    0, 1, 2 of 4\n"});
  EXPECT_EQ(done.text.find("stop ids"), std::string::npos);
}

TEST(Inspect, PrintsOneJsonObjectForThePair) {
  auto const done = inspect({target_folder(), "--drafter", drafter_folder(), "--json"});
  EXPECT_EQ(done.code, 0);
  json const object = json::parse(done.text);
  EXPECT_EQ(object.at("fits"), true);
  EXPECT_EQ(object.at("misfits"), json::array());
  json const& target = object.at("target");
  EXPECT_EQ(target.at("kind"), "target");
  EXPECT_EQ(target.at("heads"), 6);
  EXPECT_EQ(target.at("kv_heads"), 2);
  EXPECT_EQ(target.at("tied"), true);
  EXPECT_EQ(target.at("files"), 1);
  EXPECT_EQ(target.at("bytes"), 2 * target.at("parameters").get<std::uint64_t>());
  EXPECT_EQ(target.at("dtypes").at("BF16").at("elements"), target.at("parameters"));
  EXPECT_EQ(target.at("tokenizer").at("size"), 1024);
  EXPECT_EQ(target.at("tokenizer").at("special").size(), 3u);
  EXPECT_EQ(target.at("stops").at(0), (json{{"id", 1021}, {"text", "<|im_end|>"}}));
  json const& drafter = object.at("drafter");
  EXPECT_EQ(drafter.at("kind"), "drafter");
  EXPECT_EQ(drafter.at("block_size"), 8);
  EXPECT_EQ(drafter.at("mask_token_id"), 1024);
  EXPECT_EQ(drafter.at("target_layer_ids"), (json{0, 1, 2}));
}

TEST(Inspect, CountsTheParametersOfTheTarget) {
  // h 192, f 512, 6 and 2 heads of 32, 4 layers, 1056 rows.
  std::uint64_t const layer = 2 * 192 + 2 * 32 + 192 * 192 * 2 + 2 * 64 * 192 + 3 * 512 * 192;
  EXPECT_EQ(cli::summarise(target_folder()).parameters, 1056 * 192 + 4 * layer + 192);
}

TEST(Inspect, SaysThatTheBundledPairFits) {
  for (char const* name : {"tiny-dflash", "tiny-dflash-token", "tiny-dflash-exit"}) {
    auto const folder = (llm_test::tiny_models() / name).string();
    auto const done = inspect({target_folder(), "--drafter", folder});
    EXPECT_EQ(done.code, 0) << name;
    expect_parts(done.text, {"\nfits               yes\n"});
  }
}

TEST(Inspect, ListsEveryMisfitWithARemedy) {
  copied_model const drafter(drafter_folder());
  drafter.edit_config({{"num_target_layers", 6},
                       {"vocab_size", 2000},
                       {"dflash_config", {{"mask_token_id", 1999}}}});
  auto const done = inspect({target_folder(), "--drafter", drafter.folder()});
  EXPECT_EQ(done.code, 1);
  expect_parts(done.text,
               {"\nfits               no\n", "vocab_size is 2000", "mask_token_id is 1999",
                "num_target_layers is 6", "  remedy           use a drafter"});

  auto const printed = inspect({target_folder(), "--drafter", drafter.folder(), "--json"});
  EXPECT_EQ(printed.code, 1);
  json const object = json::parse(printed.text);
  EXPECT_EQ(object.at("fits"), false);
  EXPECT_EQ(object.at("misfits").size(), 3u);
  EXPECT_TRUE(object.at("remedy").is_string());
}

TEST(Inspect, NamesTensorsThatAreMissingOrUnused) {
  copied_model const target(target_folder());
  target.rename_tensor("model.layers.2.self_attn.q_norm.weight",
                       "model.layers.2.self_attn.z_norm.weight");
  auto const done = inspect({target.folder()});
  EXPECT_EQ(done.code, 1);
  expect_parts(done.text, {"  unused tensors   model.layers.2.self_attn.z_norm.weight\n",
                           "  missing tensors  model.layers.2.self_attn.q_norm.weight\n",
                           "  problem          1 of the tensors"});
  json const object = json::parse(inspect({target.folder(), "--json"}).text);
  EXPECT_EQ(object.at("target").at("missing").size(), 1u);
  EXPECT_EQ(object.at("target").at("problems").size(), 1u);
}

TEST(Inspect, NamesTensorsOfAnotherShape) {
  copied_model const target(target_folder());
  target.edit_config({{"intermediate_size", 500}});
  auto const summary = cli::summarise(target.folder());
  EXPECT_EQ(summary.unusable.size(), 12u);
  EXPECT_EQ(summary.problems().front(),
            "model.layers.0.mlp.gate_proj.weight has shape [512, 192], but config.json asks for "
            "[500, 192]");
  EXPECT_EQ(inspect({target.folder()}).code, 1);
}

TEST(Inspect, NamesATokenizerOfAnotherModel) {
  copied_model const target(target_folder());
  target.edit_config({{"vocab_size", 1023}});
  auto const problems = cli::summarise(target.folder()).problems();
  expect_parts(problems.back(), {"ids up to 1023", "rows 0 to 1022"});
}

TEST(Inspect, CountsShards) {
  copied_model const target(target_folder());
  std::string const bytes = llm_test::read_text(target.file("model.safetensors"));
  std::filesystem::rename(target.file("model.safetensors"), target.file("one.safetensors"));
  json map = json::object();
  for (auto const& name : llm::checkpoint::open(target.file("one.safetensors")).names())
    map[name] = "one.safetensors";
  // A second shard with one tensor that nothing reads.
  std::string const header = R"({"extra":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::string shard(8, '\0');
  shard[0] = static_cast<char>(header.size());
  target.write("two.safetensors", shard + header + std::string(4, '\0'));
  map["extra"] = "two.safetensors";
  target.write("model.safetensors.index.json", json{{"weight_map", map}}.dump());
  auto const done = inspect({target.folder()});
  EXPECT_EQ(done.code, 0);
  expect_parts(done.text,
               {"in 2 shards", "  unused tensors   extra\n", "F32 in 1 tensors of 1 elements"});
}

TEST(Inspect, SaysThatATargetHasNoTokenizer) {
  copied_model const target(target_folder());
  std::filesystem::remove(target.file("tokenizer.json"));
  auto const done = inspect({target.folder()});
  EXPECT_EQ(done.code, 0);
  expect_parts(done.text, {"none: there is no tokenizer.json", "stop ids         1021, 1019\n"});
}

TEST(Inspect, RefusesMissingAndTruncatedFilesWithOneLine) {
  auto const fails = [](std::string const& folder, std::initializer_list<std::string_view> parts) {
    llm_test::expect_error([&] { (void)inspect({folder}); }, parts);
  };
  fails(target_folder() + "-gone", {"-gone", "no such folder"});
  {
    copied_model const target(target_folder());
    auto const size = std::filesystem::file_size(target.file("model.safetensors"));
    target.truncate("model.safetensors", size - 1);
    fails(target.folder(), {"model.safetensors", "truncated"});
    target.truncate("model.safetensors", 100);
    fails(target.folder(), {"model.safetensors", "truncated"});
    target.truncate("model.safetensors", 0);
    fails(target.folder(), {"model.safetensors", "truncated"});
    std::filesystem::remove(target.file("model.safetensors"));
    fails(target.folder(), {"model.safetensors", "is there"});
  }
  {
    copied_model const target(target_folder());
    target.truncate("tokenizer.json", 1000);
    fails(target.folder(), {"tokenizer.json"});
  }
  copied_model const target(target_folder());
  target.truncate("config.json", 40);
  fails(target.folder(), {"config.json"});
  std::filesystem::remove(target.file("config.json"));
  fails(target.folder(), {"config.json"});
}

TEST(Inspect, RefusesAnUnknownArchitecture) {
  copied_model const target(target_folder());
  target.edit_config({{"architectures", json{"LlamaForCausalLM"}}});
  llm_test::expect_error([&] { (void)inspect({target.folder()}); },
                         {"architectures", "LlamaForCausalLM", "Qwen3ForCausalLM"});
}

TEST(Inspect, SaysWhenTargetAndDrafterAreSwapped) {
  llm_test::expect_error([] { (void)inspect({drafter_folder(), "--drafter", drafter_folder()}); },
                         {"a drafter, where --drafter needs a target"});
  llm_test::expect_error([] { (void)inspect({target_folder(), "--drafter", target_folder()}); },
                         {"a target, where --drafter needs a drafter"});
}

#ifdef TEV_CLI
/// Runs the program with `arguments` through the shell; its output goes to files in `folder`.
int run_program(std::string const& arguments, std::filesystem::path const& folder,
                std::string const& out = "out") {
  std::string const command =
      fmt::format("cd '{}' && '{}' inspect {} >{} 2>err", folder.string(), TEV_CLI, arguments, out);
  int const status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(InspectProgram, ExitsWithOneWhenTheDrafterDoesNotFit) {
  llm_test::scratch_folder const scratch;
  copied_model const drafter(drafter_folder());
  drafter.edit_config({{"num_target_layers", 6}});
  EXPECT_EQ(
      run_program("'" + target_folder() + "' --drafter '" + drafter_folder() + "'", scratch.path()),
      0);
  EXPECT_EQ(
      run_program("'" + target_folder() + "' --drafter '" + drafter.folder() + "'", scratch.path()),
      1);
  expect_parts(llm_test::read_text(scratch.path() / "out"), {"num_target_layers is 6"});
  EXPECT_EQ(llm_test::read_text(scratch.path() / "err"), "");
}

TEST(InspectProgram, SaysOneLineAndFailsForATruncatedFile) {
  llm_test::scratch_folder const scratch;
  copied_model const target(target_folder());
  target.truncate("model.safetensors", 100);
  EXPECT_EQ(run_program("'" + target.folder() + "'", scratch.path()), 1);
  EXPECT_EQ(llm_test::read_text(scratch.path() / "out"), "");
  std::string const err = llm_test::read_text(scratch.path() / "err");
  EXPECT_EQ(err.rfind("tev: ", 0), 0u) << err;
  EXPECT_EQ(err.find('\n'), err.size() - 1) << err;
}

TEST(InspectProgram, FailsWhenItsOutputCannotBeWritten) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  llm_test::scratch_folder const scratch;
  EXPECT_EQ(run_program("'" + target_folder() + "'", scratch.path(), "/dev/full"), 1);
  expect_parts(llm_test::read_text(scratch.path() / "err"), {"tev: standard output"});
}
#endif

}  // namespace
