// Opening, checking and reading safetensors checkpoints.
#include "safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "error.hpp"
#include "json_file.hpp"

namespace llm {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

// The format's own bound on a header, and bounds on what stands in it.
constexpr std::uint64_t most_header_bytes = 100'000'000;
constexpr std::size_t most_extents = 8;
constexpr std::size_t most_shards = 4096;
constexpr std::int64_t most_extent = std::int64_t{1} << 48;
constexpr std::int64_t most_offset = std::numeric_limits<std::int64_t>::max();

struct dtype_row {
  dtype type;
  std::string_view name;
  std::size_t size;
};
constexpr std::array<dtype_row, 4> dtypes{{{dtype::bf16, "BF16", 2},
                                           {dtype::f32, "F32", 4},
                                           {dtype::f16, "F16", 2},
                                           {dtype::i64, "I64", 8}}};

dtype_row const& row_of(dtype type) { return dtypes[static_cast<std::size_t>(type)]; }

dtype read_dtype(json_field const& field) {
  for (dtype_row const& row : dtypes) {
    if (field.text() == row.name) return row.type;
  }
  field.refuse("BF16, F32, F16 or I64 is supported; convert the checkpoint");
}

std::string shape_text(std::vector<std::int64_t> const& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// A tensor as the header describes it: bytes [begin, end) of the payload.
struct described_tensor {
  std::string name;
  dtype type = dtype::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Returns shape times element size, or nothing when it does not fit 64 bits.
std::optional<std::uint64_t> byte_count(std::vector<std::int64_t> const& shape, dtype type) {
  std::uint64_t count = dtype_size(type);
  for (std::int64_t const extent : shape) {
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count)) {
      return std::nullopt;
    }
  }
  return count;
}

described_tensor describe_tensor(json_field const& field, std::string name, std::uint64_t payload) {
  described_tensor tensor;
  tensor.name = std::move(name);
  tensor.type = read_dtype(field.at("dtype"));
  for (json_field const& extent : field.at("shape").elements(0, most_extents)) {
    tensor.shape.push_back(extent.integer(0, most_extent));
  }
  json_field const offsets = field.at("data_offsets");
  auto const bounds = offsets.elements(2, 2);
  tensor.begin = static_cast<std::uint64_t>(bounds[0].integer(0, most_offset));
  tensor.end = static_cast<std::uint64_t>(bounds[1].integer(0, most_offset));
  auto const where = [&] {
    return fmt::format("{}: tensor {}", field.file(), in_quotes(tensor.name));
  };
  if (tensor.begin > tensor.end || tensor.end > payload) {
    throw make_error(
        "{}: data_offsets [{}, {}] lie outside the {} bytes of data; the file is "
        "truncated or damaged, fetch it again",
        where(), tensor.begin, tensor.end, payload);
  }
  auto const expected = byte_count(tensor.shape, tensor.type);
  if (!expected || *expected != tensor.end - tensor.begin) {
    throw make_error(
        "{}: data_offsets span {} bytes, but shape {} of {} needs {}; the file is "
        "damaged, fetch it again",
        where(), tensor.end - tensor.begin, shape_text(tensor.shape), dtype_name(tensor.type),
        expected ? fmt::format("{}", *expected) : "more than 64 bits can count");
  }
  return tensor;
}

void require_disjoint(std::vector<described_tensor> tensors, std::string const& file) {
  std::erase_if(tensors, [](auto const& tensor) { return tensor.begin == tensor.end; });
  std::sort(tensors.begin(), tensors.end(),
            [](auto const& left, auto const& right) { return left.begin < right.begin; });
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].begin < tensors[i - 1].end) {
      throw make_error(
          "{}: tensors {} and {} overlap at data offset {}; the file is damaged, "
          "fetch it again",
          file, in_quotes(tensors[i - 1].name), in_quotes(tensors[i].name), tensors[i].begin);
    }
  }
}

/// Returns the length of the header, checked against the file and the format's bound.
std::uint64_t header_length(std::span<std::byte const> bytes, std::string const& file) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) {
    throw make_error(
        "{}: {} bytes, too short for the 8-byte header length; the file is empty or "
        "truncated, fetch it again",
        file, bytes.size());
  }
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > most_header_bytes) {
    throw make_error(
        "{}: header length is {}, above the format's limit of {}; not a safetensors "
        "file",
        file, length, most_header_bytes);
  }
  if (length > bytes.size() - sizeof length) {
    throw make_error(
        "{}: header length is {}, but only {} bytes follow; the file is truncated, "
        "fetch it again",
        file, length, bytes.size() - sizeof length);
  }
  return length;
}

float f16_to_f32(std::uint16_t bits) {
  std::uint32_t const sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  std::uint32_t const exponent = (bits >> 10) & 0x1fU;
  std::uint32_t const fraction = bits & 0x3ffU;
  if (exponent == 0) {
    float const magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  std::uint32_t const widened = exponent == 0x1fU ? 0xffU : exponent + (127 - 15);
  return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
}

template <class T>
T load(std::byte const* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

[[noreturn]] void refuse_dtype(tensor_view const& tensor, std::string_view wanted) {
  throw make_error("tensor {}: dtype is {}, but {} is needed", in_quotes(tensor.name),
                   dtype_name(tensor.type), wanted);
}

float read_f32(tensor_view const& tensor, std::size_t index) {
  std::byte const* const from = tensor.bytes.data() + index * dtype_size(tensor.type);
  switch (tensor.type) {
    case dtype::bf16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(from)) << 16);
    case dtype::f16:
      return f16_to_f32(load<std::uint16_t>(from));
    case dtype::f32:
      return load<float>(from);
    case dtype::i64:
      break;
  }
  refuse_dtype(tensor, "BF16, F32 or F16");
}

}  // namespace

std::string_view dtype_name(dtype type) { return row_of(type).name; }
std::size_t dtype_size(dtype type) { return row_of(type).size; }

float element_f32(tensor_view const& tensor, std::size_t index) {
  if (index >= tensor.elements()) {
    throw make_error("tensor {}: element {} was asked for, but it has {}", in_quotes(tensor.name),
                     index, tensor.elements());
  }
  return read_f32(tensor, index);
}

std::vector<float> to_f32(tensor_view const& tensor) {
  if (tensor.type == dtype::i64) refuse_dtype(tensor, "BF16, F32 or F16");
  std::vector<float> values(tensor.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = read_f32(tensor, i);
  return values;
}

std::span<std::uint16_t const> bf16_bits(tensor_view const& tensor) {
  if (tensor.type != dtype::bf16) refuse_dtype(tensor, "BF16");
  return {reinterpret_cast<std::uint16_t const*>(tensor.bytes.data()), tensor.elements()};
}

std::span<float const> f32_values(tensor_view const& tensor) {
  if (tensor.type != dtype::f32) refuse_dtype(tensor, "F32");
  return {reinterpret_cast<float const*>(tensor.bytes.data()), tensor.elements()};
}

checkpoint checkpoint::open(std::filesystem::path const& path) {
  checkpoint opened;
  opened.path_ = path;
  if (!std::filesystem::is_directory(path)) {
    opened.add_file(path);
    return opened;
  }
  std::filesystem::path const single = path / "model.safetensors";
  std::filesystem::path const index = path / "model.safetensors.index.json";
  if (std::filesystem::exists(single)) {
    opened.add_file(single);
  } else if (std::filesystem::exists(index)) {
    opened.add_shards(index);
  } else {
    throw make_error(
        "{}: neither model.safetensors nor model.safetensors.index.json is there; a "
        "checkpoint folder is needed",
        path.string());
  }
  return opened;
}

void checkpoint::add_file(std::filesystem::path const& file) {
  std::string const name = file.string();
  mapped_file mapped(file);
  std::span<std::byte const> const bytes = mapped.bytes();
  std::uint64_t const length = header_length(bytes, name);
  std::span<std::byte const> const payload = bytes.subspan(sizeof length + length);
  std::string_view const header(reinterpret_cast<char const*>(bytes.data() + sizeof length),
                                length);
  json_file const parsed = json_file::parse(header, name, {most_header_bytes, 8});
  json_field const root = parsed.root();

  std::vector<described_tensor> tensors;
  for (std::string const& key : root.keys()) {
    if (key == "__metadata__") continue;
    tensors.push_back(describe_tensor(root.at(key), key, payload.size()));
  }
  require_disjoint(tensors, name);
  for (described_tensor& tensor : tensors) {
    auto data = payload.subspan(tensor.begin, tensor.end - tensor.begin);
    // The format does not promise alignment; typed views need it.
    if (reinterpret_cast<std::uintptr_t>(data.data()) % dtype_size(tensor.type) != 0) {
      auto copy = std::make_unique<std::byte[]>(data.size());
      std::memcpy(copy.get(), data.data(), data.size());
      data = {copy.get(), data.size()};
      realigned_.push_back(std::move(copy));
    }
    tensor_view view{tensor.name, tensor.type, std::move(tensor.shape), data};
    auto const [place, fresh] =
        entries_.try_emplace(tensor.name, entry{std::move(view), name, false});
    if (!fresh) {
      throw make_error("{}: tensor {} is also in {}; keep one of them", name,
                       in_quotes(tensor.name), place->second.file);
    }
  }
  files_.push_back(std::move(mapped));
}

void checkpoint::add_shards(std::filesystem::path const& index) {
  json_file const parsed = json_file::read(index, {most_header_bytes, 8});
  json_field const weights = parsed.root().at("weight_map");
  std::set<std::string> shards;
  std::vector<std::pair<std::string, std::string>> placed;
  for (std::string const& name : weights.keys()) {
    json_field const field = weights.at(name);
    std::string const& shard = field.text();
    if (shard.empty() || shard.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos ||
        shard == "." || shard == "..") {
      field.refuse("the name of a file beside the index is needed");
    }
    shards.insert(shard);
    placed.emplace_back(name, (index.parent_path() / shard).string());
  }
  if (shards.empty()) weights.refuse("at least one tensor is needed");
  if (shards.size() > most_shards) {
    weights.refuse(fmt::format("at most {} files are supported", most_shards));
  }
  for (std::string const& shard : shards) add_file(index.parent_path() / shard);
  for (auto const& [name, file] : placed) {
    auto const found = entries_.find(name);
    if (found == entries_.end() || found->second.file != file) {
      throw make_error(
          "{}: field weight_map places tensor {} in {}, which does not hold it; the "
          "shards belong to another index",
          index.string(), in_quotes(name), file);
    }
  }
  for (auto const& [name, held] : entries_) {
    if (!weights.raw().contains(name)) {
      throw make_error(
          "{}: tensor {} is not in weight_map of {}; the shards belong to another "
          "index",
          held.file, in_quotes(name), index.string());
    }
  }
}

bool checkpoint::has(std::string_view name) const { return entries_.find(name) != entries_.end(); }

checkpoint::entry& checkpoint::find(std::string_view name) {
  auto const found = entries_.find(name);
  if (found == entries_.end()) {
    throw make_error("{}: tensor {} is missing; the checkpoint does not belong to its config.json",
                     path_.string(), in_quotes(name));
  }
  return found->second;
}

tensor_view checkpoint::get(std::string_view name) {
  entry& held = find(name);
  held.used = true;
  return held.view;
}

tensor_view checkpoint::get(std::string_view name, std::vector<std::int64_t> const& shape) {
  entry const& held = find(name);
  if (held.view.shape != shape) {
    throw make_error("{}: tensor {} has shape {}, but config.json asks for {}", held.file,
                     in_quotes(name), shape_text(held.view.shape), shape_text(shape));
  }
  return get(name);
}

void checkpoint::mark_used(std::string_view name) {
  auto const found = entries_.find(name);
  if (found != entries_.end()) found->second.used = true;
}

std::vector<std::string> checkpoint::names() const {
  std::vector<std::string> all;
  for (auto const& [name, held] : entries_) all.push_back(name);
  return all;
}

std::vector<std::string> checkpoint::unused() const {
  std::vector<std::string> rest;
  for (auto const& [name, held] : entries_) {
    if (!held.used) rest.push_back(name);
  }
  return rest;
}

std::uint64_t checkpoint::total_bytes() const {
  std::uint64_t total = 0;
  for (auto const& [name, held] : entries_) total += held.view.bytes.size();
  return total;
}

}  // namespace llm
