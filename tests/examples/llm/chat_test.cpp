// Dialogues are rendered as the reference renders them, and files of messages are checked.
#include "llm/chat.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "llm/tokenizer.hpp"
#include "scratch_folder.hpp"

namespace {

using llm_test::expect_error;
using nlohmann::json;
using ids = std::vector<tev::token_id>;
using messages = std::vector<llm::message>;

messages messages_of(json const& list) {
  messages turns;
  for (json const& turn : list) {
    turns.push_back({turn["role"].get<std::string>(), turn["content"].get<std::string>()});
  }
  return turns;
}

TEST(Chat, RendersAndEncodesAsTheReference) {
  auto const recorded = json::parse(llm_test::read_text(llm_test::golden() / "chat.json"));
  auto const tokenizer = llm::tokenizer::open(llm_test::tiny_models() / "tiny-qwen3");
  ASSERT_GE(recorded["cases"].size(), 7U);
  for (json const& item : recorded["cases"]) {
    messages turns = messages_of(item["messages"]);
    std::string const prompt = llm::render_chat(turns, true);
    EXPECT_EQ(prompt, item["prompt"].get<std::string>());
    EXPECT_EQ(tokenizer.encode(prompt), item["prompt_ids"].get<ids>());
    turns.push_back({"assistant", "Done."});
    std::string const answered = llm::render_chat(turns, false);
    EXPECT_EQ(answered, item["with_answer"].get<std::string>());
    EXPECT_EQ(tokenizer.encode(answered), item["with_answer_ids"].get<ids>());
  }
}

TEST(Chat, DropsThoughtsBeforeTheLastQuestion) {
  messages const turns{{"user", "a"}, {"assistant", "<think>\nhm\n</think>\n\nb"}, {"user", "c"}};
  EXPECT_EQ(llm::render_chat(turns, false),
            "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n"
            "<|im_start|>user\nc<|im_end|>\n");
}

TEST(Chat, KeepsThoughtsOfTheLastAnswer) {
  messages const turns{{"user", "a"}, {"assistant", "<think>\n\nhm\n\n</think>\n\nb"}};
  EXPECT_EQ(llm::render_chat(turns, false),
            "<|im_start|>user\na<|im_end|>\n"
            "<|im_start|>assistant\n<think>\nhm\n</think>\n\nb<|im_end|>\n");
}

TEST(Chat, GivesAnAnswerThatIsNotTheLastNoEmptyThoughts) {
  messages const turns{{"user", "a"}, {"assistant", "b"}, {"assistant", "c"}};
  EXPECT_EQ(llm::render_chat(turns, false),
            "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n"
            "<|im_start|>assistant\n<think>\n\n</think>\n\nc<|im_end|>\n");
}

TEST(Chat, TakesAToolsResponseForNoQuestion) {
  messages const turns{{"user", "a"},
                       {"assistant", "<think>x</think>b"},
                       {"user", "<tool_response>1</tool_response>"}};
  EXPECT_NE(llm::render_chat(turns, false).find("<think>\nx\n</think>\n\nb"), std::string::npos);
}

TEST(Chat, RefusesAnUnknownRoleAndNoMessages) {
  messages const turns{{"user", "a"}, {"tool", "b"}};
  expect_error([&] { (void)llm::render_chat(turns, true); }, {"[1].role", "\"tool\"", "user"});
  expect_error([] { (void)llm::render_chat({}, true); }, {"no message"});
}

void expect_file_refused(std::string const& content,
                         std::initializer_list<std::string_view> parts) {
  llm_test::scratch_folder const folder;
  auto const file = folder.write("talk.json", content);
  expect_error([&] { (void)llm::read_messages(file); }, {"talk.json"});
  expect_error([&] { (void)llm::read_messages(file); }, parts);
}

TEST(Messages, AreReadInOrder) {
  llm_test::scratch_folder const folder;
  auto const file = folder.write(
      "talk.json", R"([{"role": "system", "content": "s"}, {"content": "é\n", "role": "user"}])");
  messages const read = llm::read_messages(file);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].role, "system");
  EXPECT_EQ(read[0].content, "s");
  EXPECT_EQ(read[1].role, "user");
  EXPECT_EQ(read[1].content, "é\n");
}

TEST(Messages, NameIndexAndFieldOfWhatIsWrong) {
  expect_file_refused(R"([{"role": "user", "content": "a"}, {"role": "user"}])",
                      {"[1].content", "missing"});
  expect_file_refused(R"([{"content": "a"}])", {"[0].role", "missing"});
  expect_file_refused(R"([{"role": "robot", "content": "a"}])",
                      {"[0].role", "\"robot\"", "assistant"});
  expect_file_refused(R"([{"role": 1, "content": "a"}])", {"[0].role", "is 1", "string"});
  expect_file_refused(R"([{"role": "user", "content": ["a"]}])",
                      {"[0].content", "array", "string"});
  expect_file_refused(R"([{"role": "user", "content": "a", "tool_calls": []}])",
                      {"[0].tool_calls", "remove it"});
  expect_file_refused(R"(["hello"])", {"[0]", "\"hello\"", "object"});
}

TEST(Messages, MustBeAnArrayThatIsNotEmpty) {
  expect_file_refused("[]", {"1 to"});
  expect_file_refused(R"({"role": "user", "content": "a"})", {"array"});
  expect_file_refused("[{", {"not valid JSON"});
  expect_file_refused("", {"empty"});
  llm_test::scratch_folder const folder;
  expect_error([&] { (void)llm::read_messages(folder.path() / "none.json"); },
               {"none.json", "no such file"});
}

}  // namespace
