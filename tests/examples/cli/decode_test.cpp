// The tev program from outside: what it prints, what it refuses, what it leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "examples/llm/scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

struct ended {
  int code;
  std::string out;
  std::string err;
};

class Program : public ::testing::Test {
 protected:
  // Runs `tev ARGUMENTS` through the shell in a fresh folder, standard input from `input`.
  ended run(std::string const& arguments, std::string const& input = "") {
    return run_script("'" TEV_CLI "' " + arguments, input);
  }

  // Runs shell commands there; the redirections hold for the last of them.
  ended run_script(std::string const& commands, std::string const& input = "") {
    scratch_.write("in", input);
    std::string const command =
        "cd '" + scratch_.path().string() + "' && " + commands + " <in >out 2>err";
    int const status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, llm_test::read_text(path("out")),
            llm_test::read_text(path("err"))};
  }

  // One clear line, a non-zero exit, and nothing left of what was being written.
  void expect_refusal(std::string const& arguments, std::vector<std::string> const& parts,
                      std::string const& input = "") {
    auto const before = files();
    auto const end = run(arguments, input);
    EXPECT_EQ(end.code, 1) << arguments;
    EXPECT_EQ(end.err.rfind("tev: ", 0), 0u) << arguments << "\n" << end.err;
    EXPECT_EQ(std::ranges::count(end.err, '\n'), 1) << arguments << "\n" << end.err;
    for (auto const& part : parts) EXPECT_THAT(end.err, HasSubstr(part)) << arguments;
    auto after = files();
    for (auto const* const own : {"in", "out", "err"}) std::erase(after, own);
    for (auto const& file : before) std::erase(after, file);
    EXPECT_TRUE(after.empty()) << arguments << " left " << ::testing::PrintToString(after);
  }

  // A copy of a bundled model that a test may damage.
  std::string copied(std::string const& model) {
    fs::path const to = path(model + "-copy");
    fs::remove_all(to);
    fs::copy(llm_test::tiny_models() / model, to);
    return to.string();
  }

  static void edit_config(std::string const& folder, std::function<void(json&)> const& edit) {
    auto const file = fs::path(folder) / "config.json";
    json config = json::parse(llm_test::read_text(file));
    edit(config);
    std::ofstream(file) << config;
  }

  // Overwrites the first number of a bf16 tensor with a NaN.
  static void poison(std::string const& folder, std::string const& tensor) {
    auto const file = fs::path(folder) / "model.safetensors";
    std::string bytes = llm_test::read_text(file);
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof header);
    json const tensors = json::parse(bytes.substr(8, header));
    auto const at = 8 + header + tensors.at(tensor).at("data_offsets").at(0).get<std::uint64_t>();
    bytes[at] = '\xc0';
    bytes[at + 1] = '\x7f';
    std::ofstream(file, std::ios::binary) << bytes;
  }

  [[nodiscard]] fs::path path(std::string const& name) const { return scratch_.path() / name; }

 private:
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (auto const& entry : fs::directory_iterator(scratch_.path()))
      names.push_back(entry.path().filename());
    return names;
  }

  llm_test::scratch_folder scratch_;
};

TEST_F(Program, StreamsTheTextAndSumsUpOnStandardError) {
  auto const end = run("decode 'What is 5*6?'");
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out, "We have 5 * 6 = 30. The answer is 30.\n");
  for (auto const* const part : {"tokens in", "cycles", "tau", "tokens/s", "draft", "build",
                                 "target", "verify", "commit", "finish: stop"})
    EXPECT_THAT(end.err, HasSubstr(part));
}

TEST_F(Program, MarksWhatWasDraftedAndAccepted) {
  auto const end = run("decode 'What is 5*6?' --mark brackets");
  EXPECT_THAT(end.out, HasSubstr("⟦"));
  auto const plain = run("decode 'What is 5*6?' --mark brackets --method autoregressive");
  EXPECT_THAT(plain.out, ::testing::Not(HasSubstr("⟦")));
}

TEST_F(Program, TakesThePromptFromEverySource) {
  std::string const question = "What is 5*6?";
  std::string const expected = run("decode '" + question + "'").out;
  std::ofstream(path("prompt.txt")) << question;
  std::ofstream(path("chat.json")) << json::array({{{"role", "user"}, {"content", question}}});
  EXPECT_EQ(run("decode --file prompt.txt").out, expected);
  EXPECT_EQ(run("decode", question).out, expected);
  EXPECT_EQ(run("decode --chat chat.json").out, expected);
  auto const object = json::parse(run("decode --json '" + question + "'").out);
  std::string ids;
  for (auto const& id : object.at("prompt_ids")) ids += (ids.empty() ? "" : ",") + id.dump();
  EXPECT_EQ(run("decode --ids " + ids).out, expected);
  EXPECT_EQ(run("decode --raw '<|im_start|>user\n" + question +
                "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n'")
                .out,
            expected);
  EXPECT_NE(run("decode --raw '" + question + "'").out, expected);
}

TEST_F(Program, PrintsOneObjectThatReproducesTheText) {
  auto const end =
      run("decode 'What should I cook for Eva?' --json --temperature 1 --seed 9 --verifier predraw "
          "--budget 8");
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.err, "");
  auto const object = json::parse(end.out);
  for (auto const* const key :
       {"text",       "ids",    "acceptance", "tau",     "finish",      "seconds",
        "prompt_ids", "method", "verifier",   "budget",  "temperature", "top_k",
        "top_p",      "min_p",  "seed",       "request", "max_tokens",  "stop_ids",
        "threads",    "target", "drafter",    "version"})
    EXPECT_TRUE(object.contains(key)) << key;
  EXPECT_EQ(object.at("seconds").size(), 6u);
  EXPECT_EQ(object.at("budget"), 8);
  double committed = 0;
  for (auto const& n : object.at("acceptance")) committed += n.get<double>();
  EXPECT_DOUBLE_EQ(object.at("tau").get<double>(),
                   committed / static_cast<double>(object.at("acceptance").size()));
  auto const plain = json::parse(run("decode 'What should I cook for Eva?' --json --temperature 1 "
                                     "--seed 9 --verifier predraw --method autoregressive")
                                     .out);
  EXPECT_EQ(plain.at("ids"), object.at("ids"));
  EXPECT_EQ(plain.at("drafter"), nullptr);
}

TEST_F(Program, TracesEveryCycleAndDrawsOne) {
  auto const end = run("decode 'What is 5*6?' --trace t.jsonl --picture p.svg --json");
  ASSERT_EQ(end.code, 0) << end.err;
  auto const object = json::parse(end.out);
  std::ifstream trace(path("t.jsonl"));
  std::vector<json> lines;
  for (std::string line; std::getline(trace, line);) lines.push_back(json::parse(line));
  ASSERT_EQ(lines.size(), object.at("acceptance").size() + 1);
  std::vector<json> ids;
  for (auto const& line : lines)
    for (auto const& id : line.at("emitted")) ids.push_back(id);
  EXPECT_EQ(json(ids), object.at("ids"));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("accepted").get<int>() + 1, object.at("acceptance")[i - 1].get<int>());
    EXPECT_DOUBLE_EQ(lines[i].at("coverage").get<double>(), lines[i].at("accepted").get<double>());
  }
  EXPECT_THAT(llm_test::read_text(path("p.svg")), HasSubstr("</svg>"));
}

TEST_F(Program, ComparesTheMethodsInOneTable) {
  auto const end = run("compare --limit 1 --budgets 4,16 --verifiers tree_exit --json");
  ASSERT_EQ(end.code, 0) << end.err;
  auto const object = json::parse(end.out);
  ASSERT_EQ(object.at("rows").size(), 4u);
  for (auto const& row : object.at("rows")) {
    EXPECT_EQ(row.at("same_text"), object.at("prompts"));
    EXPECT_NEAR(row.at("tau").get<double>(), row.at("one_plus_coverage").get<double>(), 1e-12);
  }
  auto const table = run("compare --limit 1").out;
  for (auto const* const part : {"autoregressive", "chain", "tree", "tau", "1+C_p", "tokens/s"})
    EXPECT_THAT(table, HasSubstr(part));
}

TEST_F(Program, RefusesPromptsItCannotUse) {
  expect_refusal("decode ''", {"the prompt is empty"});
  expect_refusal("decode", {"the prompt is empty"});
  expect_refusal("decode --raw ''", {"the prompt is empty"});
  expect_refusal("decode", {"not valid UTF-8 at byte 2"}, "ab\xff");
  expect_refusal("decode --ids 1,two", {"--ids", "entry 2", "two"});
  expect_refusal("decode --ids 1,99999", {"99999", "[0, 1056)"});
  expect_refusal("decode --file missing.txt", {"missing.txt", "No such file"});
  expect_refusal("decode --file .", {"is a folder"});
  expect_refusal("decode --chat missing.json", {"missing.json"});
  expect_refusal("decode", {"context holds 512"}, std::string(4000, 'x'));
}

TEST_F(Program, RefusesOptionsOutOfRange) {
  expect_refusal("decode x --budget 0", {"budget is 0", "[1, 1024]"});
  expect_refusal("decode x --budget 1025", {"budget is 1025"});
  expect_refusal("decode x --temperature -1", {"temperature is -1"});
  expect_refusal("decode x --temperature nan", {"temperature is nan"});
  expect_refusal("decode x --top-p -0.5", {"top-p is -0.5"});
  expect_refusal("decode x --min-p 1.5", {"min-p is 1.5"});
  expect_refusal("decode x --max-tokens 0", {"max tokens is 0"});
  expect_refusal("decode x --picture p.svg --picture-cycle 999", {"--picture-cycle is 999"});
  EXPECT_EQ(run("decode x --no-such-option").code, 2);
  auto const unknown = run("decode x --method sideways");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("sideways is not known: give one of autoregressive, chain"));
  EXPECT_EQ(run("decode x --raw --chat y").code, 2);
  EXPECT_EQ(run("").code, 2);
  EXPECT_EQ(run("--help").code, 0);
}

TEST_F(Program, RefusesModelsItCannotUse) {
  expect_refusal("decode x --target nowhere", {"nowhere"});
  expect_refusal("decode x --drafter nowhere", {"nowhere"});

  auto folder = copied("tiny-qwen3");
  fs::resize_file(fs::path(folder) / "model.safetensors", 2000000);
  expect_refusal("decode x --target " + folder, {"model.safetensors"});

  folder = copied("tiny-qwen3");
  edit_config(folder, [](json& c) { c["architectures"] = {"SomethingForCausalLM"}; });
  expect_refusal("decode x --target " + folder, {"config.json", "SomethingForCausalLM"});

  folder = copied("tiny-qwen3");
  edit_config(folder, [](json& c) { c["intermediate_size"] = 500; });
  expect_refusal("decode x --target " + folder, {"mlp", "500"});

  folder = copied("tiny-dflash");
  edit_config(folder, [](json& c) { c["dflash_config"]["mask_token_id"] = 4096; });
  expect_refusal("decode x --drafter " + folder, {"mask_token_id", "4096"});

  folder = copied("tiny-dflash");
  edit_config(folder, [](json& c) { c["num_target_layers"] = 36; });
  expect_refusal("decode x --drafter " + folder, {"36"});
}

TEST_F(Program, SaysWhereLogitsAreNotFinite) {
  auto const folder = copied("tiny-qwen3");
  poison(folder, "model.norm.weight");
  for (auto const* const verifier : {"tree_exit", "predraw", "sequential_residual", "greedy"}) {
    auto const end = run("decode x --trace t.jsonl --target " + folder + " --verifier " + verifier);
    EXPECT_EQ(end.code, 1);
    EXPECT_THAT(end.err, HasSubstr("not_finite"));
    EXPECT_FALSE(fs::exists(path("t.jsonl")));
    EXPECT_FALSE(fs::exists(path("t.jsonl.part")));
  }
}

TEST_F(Program, LeavesNoPartialFileWhenTheDiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  for (auto const* const option : {"--trace", "--picture"}) {
    auto const end = run(std::string("decode 'What is 5*6?' --json ") + option + " /dev/full");
    EXPECT_EQ(end.code, 1);
    EXPECT_THAT(end.err, HasSubstr("/dev/full: cannot be written: No space left on device"));
    EXPECT_EQ(end.out, "");
  }
  expect_refusal("decode x --trace no/such/folder/t.jsonl", {"cannot be created"});
}

// A limit on the size of files fails in the middle of a write, as a disk that fills up does.
TEST_F(Program, LeavesNoPartialFileWhenAWriteFailsHalfWay) {
  std::string const limited =
      "trap '' XFSZ; ulimit -f 1; '" TEV_CLI "' decode 'What is 5*6?' --json --trace t.jsonl";
  auto const end = run_script(limited);
  EXPECT_EQ(end.code, 1);
  EXPECT_FALSE(fs::exists(path("t.jsonl")));
  EXPECT_FALSE(fs::exists(path("t.jsonl.part")));
  EXPECT_THAT(end.err, HasSubstr("t.jsonl: cannot be written: File too large"));
}

TEST_F(Program, KeepsAnEarlierTraceWhenANewOneFails) {
  std::ofstream(path("t.jsonl")) << "kept\n";
  EXPECT_EQ(run("decode x --trace t.jsonl --budget 0").code, 1);
  EXPECT_EQ(llm_test::read_text(path("t.jsonl")), "kept\n");
}

}  // namespace
