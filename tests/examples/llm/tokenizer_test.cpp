// The tokenizer equals the reference on every recorded text, and refuses what it does not support.
#include "llm/tokenizer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "llm/utf8.hpp"
#include "random_text.hpp"
#include "scratch_folder.hpp"

namespace {

using llm_test::expect_error;
using nlohmann::json;
using ids = std::vector<tev::token_id>;

json const& cases() {
  static json const read =
      json::parse(llm_test::read_text(llm_test::golden() / "tokenizer_cases.json"));
  return read;
}

llm::tokenizer const& tiny() {
  static llm::tokenizer const opened = llm::tokenizer::open(llm_test::tiny_models() / "tiny-qwen3");
  return opened;
}

TEST(Tokenizer, GivesTheReferencesIds) {
  ASSERT_GE(cases()["cases"].size(), 60U);
  for (json const& item : cases()["cases"]) {
    EXPECT_EQ(tiny().encode(item["text"].get<std::string>()), item["ids"].get<ids>())
        << item["text"];
  }
}

TEST(Tokenizer, GivesTheReferencesTexts) {
  for (json const& item : cases()["cases"]) {
    auto const tokens = item["ids"].get<ids>();
    EXPECT_EQ(tiny().decode(tokens), item["decoded"].get<std::string>());
    EXPECT_EQ(tiny().decode(tokens, true), item["decoded_skip_special"].get<std::string>());
  }
  for (json const& item : cases()["decode_only"]) {
    EXPECT_EQ(tiny().decode(item["ids"].get<ids>()), item["decoded"].get<std::string>());
  }
}

TEST(Tokenizer, ComposesAsTheReferenceDoes) {
  for (json const& item : cases()["cases"]) {
    EXPECT_EQ(llm::to_nfc(item["text"].get<std::string>()), item["nfc_text"].get<std::string>());
  }
}

TEST(Tokenizer, KnowsItsTokens) {
  EXPECT_EQ(tiny().size(), 1024);
  EXPECT_EQ(tiny().id_end(), 1024);
  EXPECT_EQ(tiny().added_id("<|im_end|>"), 1021);
  EXPECT_EQ(tiny().added_id("<think>"), 1022);
  EXPECT_FALSE(tiny().added_id("<nothing>"));
  EXPECT_FALSE(tiny().added_id(""));
  EXPECT_TRUE(tiny().is_special(1021));
  EXPECT_FALSE(tiny().is_special(1022));
  EXPECT_FALSE(tiny().is_special(0));
  EXPECT_EQ(tiny().bytes(220), " ");
  EXPECT_EQ(tiny().bytes(1021), "<|im_end|>");
}

TEST(Tokenizer, GivesNothingForIdsWithoutAToken) {
  EXPECT_EQ(tiny().decode(ids{1024, 5, 1055, -1, 1 << 30}), "&");
  EXPECT_EQ(tiny().bytes(1024), "");
}

TEST(Tokenizer, RefusesInvalidUtf8WithItsOffset) {
  expect_error([] { (void)tiny().encode("abc\xffz"); }, {"byte 3", "0xff", "UTF-8"});
  expect_error([] { (void)tiny().encode("\u00e9\xe2\x82"); }, {"byte 2", "0xe2"});
  expect_error([] { (void)tiny().encode("\xed\xa0\x80"); }, {"byte 0"});
}

TEST(Tokenizer, TakesALongWord) {
  std::string const word(300'000, 'a');
  EXPECT_EQ(tiny().decode(tiny().encode(word)), word);
  std::string const spaces = std::string(300'000, ' ') + "x";
  EXPECT_EQ(tiny().decode(tiny().encode(spaces)), spaces);
}

RC_GTEST_PROP(Tokenizer, DecodesWhatItEncodesUpToComposition, ()) {
  auto const text = *llm_test::any_text();
  auto const tokens = tiny().encode(text);
  for (auto const id : tokens) RC_ASSERT(id >= 0 && id < 1024);
  RC_ASSERT(tiny().decode(tokens) == llm::to_nfc(text));
}

RC_GTEST_PROP(Tokenizer, RefusesOrRestoresAnyBytes, ()) {
  auto const bytes = *llm_test::any_bytes();
  if (auto const offset = llm::first_ill_formed(bytes)) {
    try {
      (void)tiny().encode(bytes);
      RC_FAIL("ill-formed bytes were taken");
    } catch (llm::error const& refused) {
      RC_ASSERT(std::string(refused.what()).find("byte " + std::to_string(*offset) + " ") !=
                std::string::npos);
    }
  } else {
    RC_ASSERT(tiny().decode(tiny().encode(bytes)) == llm::to_nfc(bytes));
  }
}

RC_GTEST_PROP(StreamDecoder, JoinsToTheBatchTextAndIsAlwaysValid, (bool skip_special)) {
  auto const tokens = *rc::gen::container<ids>(rc::gen::weightedOneOf<tev::token_id>(
      {{3, rc::gen::inRange(0, 256)}, {2, rc::gen::inRange(0, 1030)}}));
  llm::stream_decoder decoder(tiny(), skip_special);
  std::string joined;
  for (auto const id : tokens) {
    auto const piece = decoder.push(id);
    RC_ASSERT(!llm::first_ill_formed(piece));
    joined += piece;
  }
  joined += decoder.finish();
  RC_ASSERT(joined == tiny().decode(tokens, skip_special));
}

TEST(StreamDecoder, HoldsBackAnIncompleteCharacter) {
  auto const tokens = tiny().encode("\u4f60");
  ASSERT_EQ(tokens.size(), 3U);
  llm::stream_decoder decoder(tiny());
  EXPECT_EQ(decoder.push(tokens[0]), "");
  EXPECT_EQ(decoder.push(tokens[1]), "");
  EXPECT_EQ(decoder.push(tokens[2]), "\u4f60");
  EXPECT_EQ(decoder.push(tokens[0]), "");
  EXPECT_EQ(decoder.finish(), "\ufffd");
  EXPECT_EQ(decoder.finish(), "");
}

using edit = std::function<void(json&)>;

llm::tokenizer open_edited(edit const& change) {
  static json const original =
      json::parse(llm_test::read_text(llm_test::tiny_models() / "tiny-qwen3/tokenizer.json"));
  json changed = original;
  change(changed);
  llm_test::scratch_folder const folder;
  folder.write("tokenizer.json", changed.dump());
  return llm::tokenizer::open(folder.path());
}

void expect_refused(edit const& change, std::initializer_list<std::string_view> parts) {
  expect_error([&] { (void)open_edited(change); }, {"tokenizer.json"});
  expect_error([&] { (void)open_edited(change); }, parts);
}

TEST(TokenizerFile, MayHaveItsMergesAsStrings) {
  auto const strings = open_edited([](json& t) {
    for (json& merge : t["model"]["merges"]) {
      merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
    }
  });
  for (json const& item : cases()["cases"]) {
    EXPECT_EQ(strings.encode(item["text"].get<std::string>()), item["ids"].get<ids>());
  }
}

TEST(TokenizerFile, MayHaveNoNormalizer) {
  auto const plain = open_edited([](json& t) { t["normalizer"] = nullptr; });
  EXPECT_EQ(plain.decode(plain.encode("e\u0301")), "e\u0301");
}

TEST(TokenizerFile, TakesTheLongestAddedTokenAtAPlace) {
  auto const longer = open_edited([](json& t) {
    json token = t["added_tokens"][3];
    token["content"] = "<think>ing";
    token["id"] = 1024;
    t["added_tokens"].push_back(token);
    token["content"] = "<th";
    token["id"] = 1025;
    t["added_tokens"].push_back(token);
  });
  EXPECT_EQ(longer.encode("<think>ing<think><th"), (ids{1024, 1022, 1025}));
  EXPECT_EQ(longer.id_end(), 1026);
}

TEST(TokenizerFile, NamesEveryMissingField) {
  for (std::string const field : {"pre_tokenizer", "decoder", "model", "added_tokens"}) {
    expect_refused([&](json& t) { t.erase(field); }, {"field " + field, "missing"});
  }
  for (std::string const field : {"type", "vocab", "merges"}) {
    expect_refused([&](json& t) { t["model"].erase(field); }, {"model." + field, "missing"});
  }
  for (std::string const field : {"id", "content", "special"}) {
    expect_refused([&](json& t) { t["added_tokens"][1].erase(field); },
                   {"added_tokens[1]." + field, "missing"});
  }
  expect_refused([](json& t) { t["pre_tokenizer"]["pretokenizers"][0]["pattern"].erase("Regex"); },
                 {"pre_tokenizer.pretokenizers[0].pattern.Regex", "missing"});
}

TEST(TokenizerFile, RefusesWhatIsNotSupported) {
  expect_refused([](json& t) { t["model"]["ignore_merges"] = true; }, {"model.ignore_merges"});
  expect_refused([](json& t) { t["model"]["byte_fallback"] = true; }, {"model.byte_fallback"});
  expect_refused([](json& t) { t["model"]["dropout"] = 0.1; }, {"model.dropout", "0.1"});
  expect_refused([](json& t) { t["model"]["unk_token"] = "<unk>"; }, {"model.unk_token", "<unk>"});
  expect_refused([](json& t) { t["model"]["end_of_word_suffix"] = "</w>"; },
                 {"model.end_of_word_suffix"});
  expect_refused([](json& t) { t["model"]["type"] = "Unigram"; }, {"model.type", "Unigram", "BPE"});
  expect_refused([](json& t) { t["normalizer"]["type"] = "NFKC"; }, {"normalizer.type", "NFKC"});
  expect_refused([](json& t) { t["decoder"]["type"] = "Metaspace"; }, {"decoder.type"});
  expect_refused([](json& t) { t["post_processor"]["type"] = "TemplateProcessing"; },
                 {"post_processor.type", "TemplateProcessing"});
  expect_refused([](json& t) { t["truncation"] = {{"max_length", 4}}; }, {"truncation"});
  expect_refused([](json& t) { t["added_tokens"][0]["lstrip"] = true; },
                 {"added_tokens[0].lstrip", "true"});
  expect_refused([](json& t) { t["added_tokens"][0]["normalized"] = true; },
                 {"added_tokens[0].normalized"});
  expect_refused([](json& t) { t["pre_tokenizer"] = {{"type", "ByteLevel"}}; },
                 {"pre_tokenizer.type", "ByteLevel", "Sequence"});
  expect_refused([](json& t) { t["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Removed"; },
                 {"pre_tokenizer.pretokenizers[0].behavior", "Removed"});
  expect_refused([](json& t) { t["pre_tokenizer"]["pretokenizers"][0]["invert"] = true; },
                 {"pre_tokenizer.pretokenizers[0].invert"});
  expect_refused([](json& t) { t["pre_tokenizer"]["pretokenizers"][1]["use_regex"] = true; },
                 {"pre_tokenizer.pretokenizers[1].use_regex"});
  expect_refused([](json& t) { t["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true; },
                 {"pre_tokenizer.pretokenizers[1].add_prefix_space"});
  expect_refused([](json& t) { t["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "(a"; },
                 {"pre_tokenizer.pretokenizers[0].pattern.Regex", "regular expression"});
}

TEST(TokenizerFile, RefusesTablesThatContradictThemselves) {
  expect_refused([](json& t) { t["model"]["vocab"].erase("!"); },
                 {"model.vocab", "\"!\"", "byte 33"});
  expect_refused([](json& t) { t["model"]["vocab"]["zzzz"] = 5; },
                 {"model.vocab", "another token"});
  expect_refused([](json& t) { t["model"]["vocab"]["zzzz"] = -1; }, {"model.vocab.zzzz", "-1"});
  expect_refused([](json& t) { t["model"]["vocab"]["zzzz"] = "5"; }, {"model.vocab.zzzz", "id"});
  expect_refused([](json& t) { t["model"]["vocab"] = json::array(); }, {"model.vocab", "object"});
  expect_refused([](json& t) { t["model"]["merges"] = 3; }, {"model.merges", "array"});
  expect_refused([](json& t) { t["model"]["merges"][2] = "ab"; }, {"model.merges[2]", "\"ab\""});
  expect_refused([](json& t) { t["model"]["merges"][2] = "a b c"; }, {"model.merges[2]"});
  expect_refused([](json& t) { t["model"]["merges"][2] = {"a"}; }, {"model.merges[2]"});
  expect_refused([](json& t) { t["model"]["merges"][2] = {"a", 1}; }, {"model.merges[2][1]"});
  expect_refused([](json& t) { t["model"]["merges"][2] = {"q", "Q"}; },
                 {"model.merges[2]", "\"qQ\"", "model.vocab"});
  expect_refused([](json& t) { t["model"]["merges"][2] = t["model"]["merges"][0]; },
                 {"model.merges[2]", "earlier"});
  expect_refused([](json& t) { t["added_tokens"][1]["id"] = 1019; },
                 {"added_tokens[1].id", "1019", "another token"});
  expect_refused([](json& t) { t["added_tokens"][1]["id"] = 1 << 24; }, {"added_tokens[1].id"});
  expect_refused([](json& t) { t["added_tokens"][1]["content"] = ""; },
                 {"added_tokens[1].content", "at least one byte"});
  expect_refused(
      [](json& t) {
        t["added_tokens"][1]["content"] = t["added_tokens"][0]["content"];
        t["added_tokens"][1]["id"] = 1024;
      },
      {"added_tokens[1].content", "earlier"});
  expect_refused([](json& t) { t["added_tokens"][1]["content"] = "!"; },
                 {"added_tokens[1].id", "model.vocab"});
}

TEST(TokenizerFile, RefusesAMissingOrTruncatedFile) {
  llm_test::scratch_folder const folder;
  expect_error([&] { (void)llm::tokenizer::open(folder.path()); },
               {"tokenizer.json", "no such file"});
  auto const whole = llm_test::read_text(llm_test::tiny_models() / "tiny-qwen3/tokenizer.json");
  folder.write("tokenizer.json", whole.substr(0, whole.size() / 2));
  expect_error([&] { (void)llm::tokenizer::open(folder.path()); },
               {"tokenizer.json", "not valid JSON"});
}

}  // namespace
