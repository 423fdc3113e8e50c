// JSON documents are read with bounds, and their errors name file, field, value and remedy.
#include "llm/json_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "scratch_folder.hpp"

namespace {

using llm::json_file;
using llm_test::expect_error;

json_file parse(std::string const& text, llm::json_limits limits = {}) {
  return json_file::parse(text, "x.json", limits);
}

TEST(JsonFile, GivesTheValuesOfFields) {
  json_file const file = parse(R"({"a": {"b": [1, 2.5, true, "t", null]}})");
  auto const items = file.root().at("a").at("b").elements(5, 5);
  EXPECT_EQ(items[0].integer(1, 1), 1);
  EXPECT_EQ(items[1].number(2, 3), 2.5);
  EXPECT_TRUE(items[2].boolean());
  EXPECT_EQ(items[3].text(), "t");
  EXPECT_TRUE(items[4].is_null());
  EXPECT_EQ(items[3].path(), "a.b[3]");
}

TEST(JsonFile, FindsNothingWhereAFieldIsMissingOrNull) {
  json_file const file = parse(R"({"n": null, "v": 0})");
  EXPECT_FALSE(file.root().find("n"));
  EXPECT_FALSE(file.root().find("m"));
  EXPECT_TRUE(file.root().find("v"));
}

TEST(JsonFile, StaysValidWhenMoved) {
  json_file file = parse(R"({"a": 7})");
  auto const field = file.root().at("a");
  json_file const moved = std::move(file);
  EXPECT_EQ(field.integer(0, 9), 7);
  EXPECT_EQ(moved.root().at("a").integer(0, 9), 7);
}

TEST(JsonFile, NamesAMissingField) {
  expect_error([] { (void)parse(R"({"a": {}})").root().at("a").at("b"); },
               {"x.json", "field a.b", "missing"});
}

TEST(JsonFile, NamesFieldAndValueOfAWrongType) {
  json_file const file = parse(R"({"a": ["seven"], "o": {"k": 1}})");
  auto const item = file.root().at("a").elements(1, 1)[0];
  expect_error([&] { (void)item.integer(0, 9); }, {"x.json", "a[0]", "\"seven\"", "whole number"});
  expect_error([&] { (void)item.number(0, 9); }, {"x.json", "a[0]", "\"seven\"", "a number"});
  expect_error([&] { (void)item.boolean(); }, {"x.json", "a[0]", "\"seven\"", "true or false"});
  expect_error([&] { (void)item.at("k"); }, {"x.json", "a[0]", "\"seven\"", "object"});
  expect_error([&] { (void)item.elements(0, 9); }, {"x.json", "a[0]", "\"seven\"", "array"});
  expect_error([&] { (void)file.root().at("o").text(); }, {"field o", "an object of 1 fields"});
  expect_error([&] { (void)file.root().at("a").text(); }, {"field a", "an array of 1 elements"});
}

TEST(JsonFile, RefusesNumbersOutOfRange) {
  json_file const file = parse(R"({"i": 10, "n": -1, "u": 18446744073709551615, "d": 1.5})");
  expect_error([&] { (void)file.root().at("i").integer(0, 9); }, {"field i", "10", "[0, 9]"});
  expect_error([&] { (void)file.root().at("n").integer(0, 9); }, {"field n", "-1", "[0, 9]"});
  expect_error([&] { (void)file.root().at("u").integer(-1, INT64_MAX); },
               {"field u", "18446744073709551615"});
  expect_error([&] { (void)file.root().at("u").integer(-5, -1); }, {"field u"});
  expect_error([&] { (void)file.root().at("d").integer(0, 9); }, {"field d", "1.5"});
  expect_error([&] { (void)file.root().at("d").number(2, 9); }, {"field d", "1.5", "[2, 9]"});
}

TEST(JsonFile, RefusesArraysOfTheWrongLength) {
  json_file const file = parse(R"({"a": [1, 2]})");
  expect_error([&] { (void)file.root().at("a").elements(3, 4); }, {"field a", "3 to 4"});
  expect_error([&] { (void)file.root().at("a").elements(0, 1); }, {"field a", "0 to 1"});
}

TEST(JsonFile, RefusesAKeyThatOccursTwice) {
  expect_error([] { (void)parse(R"({"o": {"k": 1, "k": 2}})"); }, {"x.json", "\"k\"", "twice"});
  EXPECT_NO_THROW((void)parse(R"([{"k": 1}, {"k": {"k": 2}}, {"k": 3}])"));
}

TEST(JsonFile, RefusesWhatIsNotOneJsonValue) {
  for (std::string const text :
       {"{", "{} {}", "[1,]", "{\"a\": 1e999}", "nul", "\"\xff\"", "\"\\ud800\"", "{\"a\": 1"}) {
    expect_error([&] { (void)parse(text); }, {"x.json", "not valid JSON"});
  }
  expect_error([] { (void)parse(""); }, {"x.json", "empty"});
}

TEST(JsonFile, RefusesWhatIsTooLargeOrTooDeep) {
  expect_error([] { (void)parse("[1, 2, 3]", {4, 32}); }, {"x.json", "9 bytes", "4"});
  EXPECT_NO_THROW((void)parse("[[[1]]]", {100, 3}));
  expect_error([] { (void)parse("[[[[1]]]]", {100, 3}); }, {"x.json", "deeper", "3"});
  std::string const deep(1'000'000, '[');
  expect_error([&] { (void)parse(deep); }, {"x.json", "deeper"});
}

TEST(JsonFile, SaysThatAFileIsMissingOrAFolder) {
  llm_test::scratch_folder const folder;
  expect_error([&] { (void)json_file::read(folder.path() / "none.json"); },
               {"none.json", "no such file"});
  expect_error([&] { (void)json_file::read(folder.path()); }, {"not a regular file"});
  auto const empty = folder.write("empty.json", "");
  expect_error([&] { (void)json_file::read(empty); }, {"empty.json", "empty"});
}

}  // namespace
