// Checkpoints: what is stored is what is read, and a damaged file is refused before any use.
#include "llm/safetensors.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scratch_folder.hpp"

namespace {

using llm::checkpoint;
using llm_test::expect_error;
using llm_test::scratch_folder;

std::string with_length(std::string const& header, std::uint64_t length) {
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header;
}

std::string container(std::string const& header, std::string const& data) {
  return with_length(header, header.size()) + data;
}

template <class T>
std::string bytes_of(std::vector<T> const& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// The header entry of one tensor.
std::string entry(std::string const& name, std::string const& dtype, std::string const& shape,
                  std::uint64_t begin, std::uint64_t end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", name, dtype,
                     shape, begin, end);
}

/// Expects a file of these bytes to be refused with `parts` in the message, and with its name.
void expect_refused(std::string const& bytes, std::initializer_list<std::string_view> parts) {
  scratch_folder const folder;
  folder.write("model.safetensors", bytes);
  expect_error([&] { (void)checkpoint::open(folder.path()); }, {"model.safetensors"});
  expect_error([&] { (void)checkpoint::open(folder.path()); }, parts);
}

TEST(Checkpoint, GivesTensorsOfEveryDtype) {
  scratch_folder const folder;
  std::string const data = bytes_of<float>({1.5F, -2.0F}) +
                           bytes_of<std::uint16_t>({0x3f80, 0xc040, 0x3c00, 0xc200}) +
                           bytes_of<std::int64_t>({-7});
  folder.write(
      "model.safetensors",
      container("{\"__metadata__\":{\"format\":\"pt\"}," + entry("f", "F32", "[2]", 0, 8) + "," +
                    entry("b", "BF16", "[1,2]", 8, 12) + "," + entry("h", "F16", "[2,1]", 12, 16) +
                    "," + entry("i", "I64", "[]", 16, 24) + "}",
                data));
  checkpoint opened = checkpoint::open(folder.path());
  EXPECT_EQ(opened.names(), (std::vector<std::string>{"b", "f", "h", "i"}));
  EXPECT_EQ(opened.total_bytes(), 24U);
  EXPECT_EQ(llm::to_f32(opened.get("f", {2})), (std::vector<float>{1.5F, -2.0F}));
  EXPECT_EQ(llm::to_f32(opened.get("b", {1, 2})), (std::vector<float>{1.0F, -3.0F}));
  EXPECT_EQ(llm::to_f32(opened.get("h", {2, 1})), (std::vector<float>{1.0F, -3.0F}));
  EXPECT_EQ(llm::element_f32(opened.get("b"), 1), -3.0F);
  EXPECT_EQ(llm::f32_values(opened.get("f"))[1], -2.0F);
  EXPECT_EQ(llm::bf16_bits(opened.get("b"))[1], 0xc040);
  EXPECT_EQ(opened.get("i", {}).type, llm::dtype::i64);
  EXPECT_EQ(opened.get("i", {}).elements(), 1U);
}

TEST(Checkpoint, RefusesReadsOfTheWrongDtypeOrPlace) {
  scratch_folder const folder;
  auto const file = folder.write(
      "one.safetensors",
      container("{" + entry("i", "I64", "[1]", 0, 8) + "," + entry("b", "BF16", "[2]", 8, 12) + "}",
                std::string(12, '\1')));
  checkpoint opened = checkpoint::open(file);
  auto const ints = opened.get("i");
  auto const halves = opened.get("b");
  expect_error([&] { (void)llm::to_f32(ints); }, {"\"i\"", "I64", "BF16, F32 or F16"});
  expect_error([&] { (void)llm::element_f32(ints, 0); }, {"\"i\"", "I64"});
  expect_error([&] { (void)llm::element_f32(halves, 2); }, {"\"b\"", "element 2", "has 2"});
  expect_error([&] { (void)llm::f32_values(halves); }, {"\"b\"", "BF16", "F32 is needed"});
  expect_error([&] { (void)llm::bf16_bits(ints); }, {"\"i\"", "I64", "BF16 is needed"});
}

/// The value of fp16 bits, from the definition.
double f16_value(std::uint16_t bits) {
  int const exponent = (bits >> 10) & 0x1f;
  int const fraction = bits & 0x3ff;
  double const sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Checkpoint, WidensEveryHalfExactly) {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  scratch_folder const folder;
  auto const file = folder.write("all.safetensors",
                                 container("{" + entry("h", "F16", "[65536]", 0, 131072) + "," +
                                               entry("b", "BF16", "[65536]", 131072, 262144) + "}",
                                           bytes_of(bits) + bytes_of(bits)));
  checkpoint opened = checkpoint::open(file);
  auto const halves = llm::to_f32(opened.get("h"));
  auto const brains = llm::to_f32(opened.get("b"));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    double const expected = f16_value(bits[i]);
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(halves[i]) : halves[i] == expected) << i;
    ASSERT_EQ(std::signbit(halves[i]), (bits[i] & 0x8000) != 0) << i;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(brains[i]), static_cast<std::uint32_t>(i) << 16) << i;
  }
}

TEST(Checkpoint, AlignsTensorsThatAreNotAligned) {
  scratch_folder const folder;
  std::string const data = "x" + bytes_of<float>({3.25F}) + bytes_of<std::uint16_t>({0x4000});
  auto const file = folder.write(
      "odd.safetensors",
      container("{" + entry("f", "F32", "[1]", 1, 5) + "," + entry("b", "BF16", "[1]", 5, 7) + "}",
                data));
  checkpoint opened = checkpoint::open(file);
  checkpoint moved = std::move(opened);
  EXPECT_EQ(llm::f32_values(moved.get("f"))[0], 3.25F);
  EXPECT_EQ(llm::bf16_bits(moved.get("b"))[0], 0x4000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(moved.get("f").bytes.data()) % 4, 0U);
}

TEST(Checkpoint, AcceptsGapsEmptyTensorsAndScalars) {
  scratch_folder const folder;
  auto const file =
      folder.write("g.safetensors", container("{" + entry("a", "F32", "[1]", 4, 8) + "," +
                                                  entry("e", "F32", "[0,3]", 6, 6) + "," +
                                                  entry("s", "F32", "[]", 12, 16) + "}",
                                              std::string(20, '\0')));
  checkpoint opened = checkpoint::open(file);
  EXPECT_EQ(opened.get("e", {0, 3}).elements(), 0U);
  EXPECT_EQ(llm::to_f32(opened.get("e")), std::vector<float>{});
  EXPECT_EQ(opened.get("s", {}).elements(), 1U);
}

TEST(Checkpoint, ListsWhatNobodyUsed) {
  checkpoint opened = checkpoint::open(llm_test::tiny_models() / "tiny-dflash");
  EXPECT_EQ(opened.unused(), opened.names());
  EXPECT_EQ(opened.names().size(), 25U);
  (void)opened.get("fc.weight", {192, 3 * 192});
  opened.mark_used("norm.weight");
  opened.mark_used("no.such.tensor");
  EXPECT_EQ(opened.unused().size(), 23U);
  for (std::string const& name : opened.names()) opened.mark_used(name);
  EXPECT_TRUE(opened.unused().empty());
  EXPECT_TRUE(opened.has("fc.weight"));
  EXPECT_FALSE(opened.has("lm_head.weight"));
}

TEST(Checkpoint, NamesAMissingTensorAndAWrongShape) {
  checkpoint opened = checkpoint::open(llm_test::tiny_models() / "tiny-dflash");
  expect_error([&] { (void)opened.get("lm_head.weight"); },
               {"tiny-dflash", "\"lm_head.weight\"", "missing"});
  expect_error([&] { (void)opened.get("fc.weight", {192, 192}); },
               {"model.safetensors", "\"fc.weight\"", "[192, 576]", "[192, 192]"});
  expect_error([&] { (void)opened.get("norm.weight", {192, 1}); }, {"[192]", "[192, 1]"});
  EXPECT_EQ(opened.unused(), opened.names());
}

TEST(Checkpoint, RefusesAFolderWithoutWeights) {
  scratch_folder const folder;
  expect_error([&] { (void)checkpoint::open(folder.path()); },
               {"model.safetensors", "model.safetensors.index.json"});
  expect_error([&] { (void)checkpoint::open(folder.path() / "none"); }, {"none", "no such file"});
}

TEST(Checkpoint, RefusesAHeaderThatDoesNotFitItsFile) {
  expect_refused("", {"0 bytes", "empty or truncated"});
  expect_refused("1234567", {"7 bytes", "truncated"});
  expect_refused(with_length("{}", 3), {"header length is 3", "only 2 bytes"});
  expect_refused(with_length("{}", 99'999'999), {"header length is 99999999", "truncated"});
  expect_refused(with_length("{}", 100'000'001), {"100000001", "not a safetensors"});
  expect_refused(with_length("{}", ~std::uint64_t{0}), {"18446744073709551615"});
  expect_refused(with_length("", 0), {"empty, expected JSON"});
}

TEST(Checkpoint, RefusesAHeaderThatIsNotTheJsonItShouldBe) {
  expect_refused(container("{\"a\"", ""), {"not valid JSON"});
  expect_refused(container("[1]", ""), {"object"});
  expect_refused(container(R"({"a": 3})", ""), {"field a", "is 3"});
  expect_refused(container(R"({"a": {"shape": [], "data_offsets": [0, 0]}})", ""),
                 {"a.dtype", "missing"});
  expect_refused(container(R"({"a": {"dtype": "F32", "data_offsets": [0, 0]}})", ""),
                 {"a.shape", "missing"});
  expect_refused(container(R"({"a": {"dtype": "F32", "shape": []}})", ""),
                 {"a.data_offsets", "missing"});
  expect_refused(container(R"({"a": {"dtype": "F32", "shape": [], "data_offsets": [0]}})", ""),
                 {"a.data_offsets", "an array of 2 elements"});
  expect_refused(container("{" + entry("a", "F32", "[-1]", 0, 4) + "}", "0000"),
                 {"a.shape[0]", "-1"});
  expect_refused(container("{" + entry("a", "F32", "[1.0]", 0, 4) + "}", "0000"),
                 {"a.shape[0]", "1.0"});
  expect_refused(container("{" + entry("a", "F32", "[1,1,1,1,1,1,1,1,1]", 0, 4) + "}", "0000"),
                 {"a.shape", "0 to 8"});
}

TEST(Checkpoint, RefusesAnUnknownDtype) {
  expect_refused(container("{" + entry("a", "F8_E4M3", "[1]", 0, 1) + "}", "0"),
                 {"a.dtype", "F8_E4M3", "BF16, F32, F16 or I64"});
}

TEST(Checkpoint, RefusesRangesOutsideTheData) {
  expect_refused(container("{" + entry("a", "F32", "[2]", 0, 8) + "}", "0000"),
                 {"\"a\"", "[0, 8]", "4 bytes", "truncated"});
  expect_refused(container("{" + entry("a", "F32", "[1]", 4, 0) + "}", "00000000"),
                 {"\"a\"", "[4, 0]"});
  expect_refused(container(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", "0000"),
                 {"a.data_offsets[0]", "-4"});
}

TEST(Checkpoint, RefusesRangesThatDifferFromTheShape) {
  expect_refused(container("{" + entry("a", "F32", "[2]", 0, 4) + "}", "00000000"),
                 {"\"a\"", "4 bytes", "[2]", "F32", "needs 8"});
  expect_refused(container("{" + entry("a", "BF16", "[2]", 0, 8) + "}", "00000000"),
                 {"\"a\"", "8 bytes", "BF16", "needs 4"});
  expect_refused(
      container("{" + entry("a", "F32", "[1073741824,1073741824,1073741824]", 0, 0) + "}", ""),
      {"\"a\"", "64 bits"});
  // 2^32 * 2^32 elements of 4 bytes wrap around to 0 in 64 bits.
  expect_refused(container("{" + entry("a", "F32", "[4294967296,4294967296]", 0, 0) + "}", ""),
                 {"\"a\"", "64 bits"});
}

TEST(Checkpoint, RefusesOverlappingTensors) {
  std::string const data(12, '\0');
  expect_refused(
      container("{" + entry("a", "F32", "[2]", 0, 8) + "," + entry("b", "F32", "[2]", 4, 12) + "}",
                data),
      {"\"a\"", "\"b\"", "overlap", "4"});
  expect_refused(
      container("{" + entry("a", "F32", "[1]", 0, 4) + "," + entry("b", "F32", "[1]", 0, 4) + "}",
                data),
      {"overlap"});
}

TEST(Checkpoint, RefusesANameThatOccursTwice) {
  expect_refused(
      container("{" + entry("a", "F32", "[1]", 0, 4) + "," + entry("a", "F32", "[1]", 4, 8) + "}",
                "00000000"),
      {"\"a\"", "twice"});
}

TEST(Checkpoint, RefusesEveryTruncationOfARealFile) {
  std::string const whole =
      llm_test::read_text(llm_test::tiny_models() / "tiny-dflash/model.safetensors");
  scratch_folder const folder;
  for (std::size_t const kept : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{500},
                                 whole.size() / 2, whole.size() - 1}) {
    folder.write("model.safetensors", whole.substr(0, kept));
    EXPECT_THROW((void)checkpoint::open(folder.path()), llm::error) << kept;
  }
}

RC_GTEST_PROP(Checkpoint, NeverReadsOutsideADamagedFile, ()) {
  std::string bytes = container(
      "{" + entry("a", "F32", "[2,3]", 0, 24) + "," + entry("b", "BF16", "[4]", 24, 32) + "}",
      std::string(32, '\1'));
  auto const changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    auto const at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  }
  bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 1));
  scratch_folder const folder;
  auto const file = folder.write("x.safetensors", bytes);
  try {
    checkpoint opened = checkpoint::open(file);
    for (std::string const& name : opened.names()) {
      auto const tensor = opened.get(name);
      if (tensor.type != llm::dtype::i64) (void)llm::to_f32(tensor);
    }
  } catch (llm::error const& refused) {
    RC_ASSERT(std::string(refused.what()).find("x.safetensors") != std::string::npos);
  }
}

/// A folder with two shards: "a" in the first, "b" in the second.
void write_shards(scratch_folder const& folder, std::string const& weight_map) {
  folder.write("s1.safetensors",
               container("{" + entry("a", "F32", "[1]", 0, 4) + "}", bytes_of<float>({1.0F})));
  folder.write("s2.safetensors",
               container("{" + entry("b", "F32", "[1]", 0, 4) + "}", bytes_of<float>({2.0F})));
  folder.write("model.safetensors.index.json", R"({"weight_map": )" + weight_map + "}");
}

void expect_shards_refused(std::string const& weight_map,
                           std::initializer_list<std::string_view> parts) {
  scratch_folder const folder;
  write_shards(folder, weight_map);
  expect_error([&] { (void)checkpoint::open(folder.path()); }, parts);
}

TEST(Shards, AreReadAsOneCheckpoint) {
  scratch_folder const folder;
  write_shards(folder, R"({"a": "s1.safetensors", "b": "s2.safetensors"})");
  checkpoint opened = checkpoint::open(folder.path());
  EXPECT_EQ(opened.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(llm::to_f32(opened.get("a", {1})), std::vector<float>{1.0F});
  EXPECT_EQ(llm::to_f32(opened.get("b", {1})), std::vector<float>{2.0F});
}

TEST(Shards, MustAgreeWithTheIndex) {
  expect_shards_refused(R"({"a": "s1.safetensors", "b": "s1.safetensors"})",
                        {"model.safetensors.index.json", "\"b\"", "s1.safetensors"});
  expect_shards_refused(R"({"a": "s1.safetensors", "c": "s2.safetensors"})",
                        {"model.safetensors.index.json", "\"c\""});
  expect_shards_refused(R"({"b": "s2.safetensors", "a": "s2.safetensors"})",
                        {"\"a\"", "s2.safetensors"});
  scratch_folder const folder;
  write_shards(folder, R"({"a": "s1.safetensors"})");
  folder.write("s1.safetensors", container("{" + entry("a", "F32", "[1]", 0, 4) + "," +
                                               entry("x", "F32", "[1]", 4, 8) + "}",
                                           std::string(8, '\0')));
  expect_error([&] { (void)checkpoint::open(folder.path()); },
               {"s1.safetensors", "\"x\"", "weight_map"});
}

TEST(Shards, MustNotShareATensor) {
  scratch_folder const folder;
  write_shards(folder, R"({"a": "s1.safetensors", "b": "s2.safetensors"})");
  folder.write("s2.safetensors", container("{" + entry("a", "F32", "[1]", 0, 4) + "}", "0000"));
  expect_error([&] { (void)checkpoint::open(folder.path()); },
               {"s2.safetensors", "\"a\"", "also in", "s1.safetensors"});
}

TEST(Shards, MustAllBeThere) {
  expect_shards_refused(R"({"a": "s1.safetensors", "b": "s3.safetensors"})",
                        {"s3.safetensors", "no such file"});
  expect_shards_refused(R"({})", {"index.json", "weight_map", "at least one"});
  expect_shards_refused(R"([])", {"index.json", "weight_map", "object"});
  expect_shards_refused(R"({"a": 3})", {"index.json", "weight_map.a", "string"});
}

TEST(Shards, MustLieBesideTheIndex) {
  for (std::string const name : {"../s1.safetensors", "/etc/passwd", "", ".", "..", "x\\\\y"}) {
    expect_shards_refused(R"({"a": ")" + name + R"("})",
                          {"model.safetensors.index.json", "weight_map.a", "beside the index"});
  }
}

TEST(Shards, YieldToASingleFile) {
  scratch_folder const folder;
  write_shards(folder, R"({"a": "none.safetensors"})");
  folder.write("model.safetensors", container("{" + entry("w", "F32", "[1]", 0, 4) + "}", "0000"));
  EXPECT_EQ(checkpoint::open(folder.path()).names(), std::vector<std::string>{"w"});
}

}  // namespace
