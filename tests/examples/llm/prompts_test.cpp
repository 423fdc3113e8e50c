// Prompt files of the four formats become the texts a user would send.
#include "llm/prompts.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "llm/tokenizer.hpp"
#include "scratch_folder.hpp"

namespace {

using llm::prompt_format;
using llm_test::expect_error;

llm::prompt_set read(std::string const& content) {
  llm_test::scratch_folder const folder;
  return llm::read_prompts(folder.write("set.jsonl", content));
}

void expect_refused(std::string const& content, std::initializer_list<std::string_view> parts) {
  expect_error([&] { (void)read(content); }, {"set.jsonl"});
  expect_error([&] { (void)read(content); }, parts);
}

TEST(Prompts, ReadTheBundledFiles) {
  struct expectation {
    std::string file;
    prompt_format format;
  };
  std::vector<expectation> const files{{"gsm8k", prompt_format::gsm8k},
                                       {"math500", prompt_format::math500},
                                       {"humaneval", prompt_format::humaneval},
                                       {"mtbench", prompt_format::mtbench}};
  for (auto const& [file, format] : files) {
    auto const set = llm::read_prompts(llm_test::tiny_models() / "prompts" / (file + ".jsonl"));
    EXPECT_EQ(set.format, format);
    ASSERT_EQ(set.prompts.size(), 64U) << file;
    EXPECT_EQ(set.prompts.front().line, 1U);
    EXPECT_EQ(set.prompts.back().line, 64U);
  }
}

TEST(Prompts, AreRenderedAsTheReferenceRendersThem) {
  auto const recorded =
      nlohmann::json::parse(llm_test::read_text(llm_test::golden() / "target.json"));
  std::set<std::string> users;
  for (std::string const name : {"gsm8k", "math500", "humaneval", "mtbench"}) {
    auto const set = llm::read_prompts(llm_test::tiny_models() / "prompts" / (name + ".jsonl"));
    for (auto const& prompt : set.prompts) users.insert(prompt.user);
  }
  int found = 0;
  for (auto const& item : recorded["prompts"]) found += users.count(item["user"]);
  // The reference also holds prompts without the sentences, which no file is rendered to.
  EXPECT_GE(found, 4);
}

TEST(Prompts, WrapEachFormatInItsSentence) {
  EXPECT_EQ(read(R"({"question": "1+1?", "answer": "2"})").prompts[0].user,
            "1+1?\nPlease reason step by step, and put your final answer within \\boxed{}.");
  EXPECT_EQ(read(R"({"problem": "$x$", "answer": "2"})").prompts[0].user,
            "$x$\nPlease reason step by step, and put your final answer within \\boxed{}.");
  EXPECT_EQ(read(R"({"task_id": "a", "prompt": "def f():\n"})").prompts[0].user,
            "Write a solution to the following problem and make sure that it passes the tests:\n"
            "```python\ndef f():\n\n```");
  EXPECT_EQ(read(R"({"question_id": 1, "turns": ["one", "two"]})").prompts[0].user, "one");
}

TEST(Prompts, SkipEmptyLinesAndCountThem) {
  auto const set = read("\n{\"turns\": [\"a\"]}\r\n  \n{\"turns\": [\"b\"]}");
  ASSERT_EQ(set.prompts.size(), 2U);
  EXPECT_EQ(set.prompts[0].line, 2U);
  EXPECT_EQ(set.prompts[1].line, 4U);
  EXPECT_EQ(set.prompts[1].user, "b");
}

TEST(Prompts, HaveNamesForTheirFormats) {
  EXPECT_EQ(llm::format_name(prompt_format::gsm8k), "GSM8K");
  EXPECT_EQ(llm::format_name(prompt_format::math500), "MATH-500");
  EXPECT_EQ(llm::format_name(prompt_format::humaneval), "HumanEval");
  EXPECT_EQ(llm::format_name(prompt_format::mtbench), "MT-Bench");
}

TEST(Prompts, NameLineAndFieldOfWhatIsWrong) {
  expect_refused("{\"turns\": [\"a\"]}\n{\"turns\": []}", {"line 2", "turns", "1 to"});
  expect_refused("{\"turns\": [\"a\"]}\n{\"turns\": [3]}", {"line 2", "turns[0]", "is 3"});
  expect_refused("{\"question\": 3}", {"line 1", "question", "is 3", "string"});
  expect_refused("{\"text\": \"a\"}", {"line 1", "question", "problem", "prompt", "turns"});
  expect_refused("{\"question\": \"a\"}\n{\"turns\": [\"a\"]}",
                 {"line 2", "turns", "MT-Bench", "GSM8K"});
  expect_refused("{\"question\": \"a\"", {"line 1", "not valid JSON"});
  expect_refused("3", {"line 1", "object"});
}

TEST(Prompts, RefuseAFileWithoutAny) {
  expect_refused("", {"no prompt"});
  expect_refused("\n \n", {"no prompt"});
  llm_test::scratch_folder const folder;
  expect_error([&] { (void)llm::read_prompts(folder.path() / "none.jsonl"); },
               {"none.jsonl", "no such file"});
}

}  // namespace
