// Checkpoints in the safetensors format: one file or shards with an index, memory-mapped and
// checked before any tensor is handed out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mapped_file.hpp"

namespace llm {

/// The element types that are recognised.
enum class dtype { bf16, f32, f16, i64 };

/// Returns the name the format uses: "BF16", "F32", "F16" or "I64".
[[nodiscard]] std::string_view dtype_name(dtype type);

/// Returns the bytes of one element.
[[nodiscard]] std::size_t dtype_size(dtype type);

/// A tensor inside a checkpoint: row-major, little-endian, valid as long as the checkpoint lives.
struct tensor_view {
  std::string name;
  dtype type = dtype::f32;
  std::vector<std::int64_t> shape;
  /// elements() * dtype_size(type) bytes, aligned to the element size.
  std::span<std::byte const> bytes;

  /// Returns the product of the shape: 1 for a scalar, 0 where an extent is 0.
  [[nodiscard]] std::size_t elements() const { return bytes.size() / dtype_size(type); }
};

/// Returns element `index` of `tensor` as fp32, exactly for bf16 and f16. Throws `error` for i64
/// and for an index that is not below elements().
[[nodiscard]] float element_f32(tensor_view const& tensor, std::size_t index);

/// Returns all elements of `tensor` as fp32, in row-major order. Throws `error` for i64.
[[nodiscard]] std::vector<float> to_f32(tensor_view const& tensor);

/// Returns the elements of a bf16 tensor as their bits, without a copy. Throws `error` for another
/// type.
[[nodiscard]] std::span<std::uint16_t const> bf16_bits(tensor_view const& tensor);

/// Returns the elements of an f32 tensor without a copy. Throws `error` for another type.
[[nodiscard]] std::span<float const> f32_values(tensor_view const& tensor);

/// The tensors of a folder with model.safetensors, or else with model.safetensors.index.json and
/// the shards it names. Movable.
class checkpoint {
 public:
  /// Opens and checks a checkpoint folder, or one .safetensors file.
  ///
  /// Throws `error` naming file and tensor when a file is missing, empty or truncated, a header is
  /// longer than its file or not the JSON it should be, a dtype is unknown, a range lies outside
  /// the file, differs from shape times element size or overlaps another, a name occurs twice, or
  /// the index and the shards disagree. Linear in the headers; no weight is read.
  [[nodiscard]] static checkpoint open(std::filesystem::path const& path);

  /// The file or folder it was opened from.
  [[nodiscard]] std::filesystem::path const& path() const { return path_; }

  [[nodiscard]] bool has(std::string_view name) const;

  /// Returns tensor `name` and marks it used. Throws `error` when it is missing or when its shape
  /// is not `shape`.
  [[nodiscard]] tensor_view get(std::string_view name, std::vector<std::int64_t> const& shape);

  /// Returns tensor `name` with the shape it has and marks it used. Throws `error` when missing.
  [[nodiscard]] tensor_view get(std::string_view name);

  /// Marks `name` as used without reading it, e.g. a head that a tied target does not need.
  /// Nothing happens when there is no such tensor.
  void mark_used(std::string_view name);

  /// Returns all names in ascending order.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Returns the names neither got nor marked, in ascending order: what a loader should announce.
  [[nodiscard]] std::vector<std::string> unused() const;

  /// Returns the bytes of all tensors together.
  [[nodiscard]] std::uint64_t total_bytes() const;

 private:
  struct entry {
    tensor_view view;
    std::string file;
    bool used = false;
  };

  void add_file(std::filesystem::path const& file);
  void add_shards(std::filesystem::path const& index);
  entry& find(std::string_view name);

  std::filesystem::path path_;
  std::vector<mapped_file> files_;
  std::vector<std::unique_ptr<std::byte[]>> realigned_;
  std::map<std::string, entry, std::less<>> entries_;
};

}  // namespace llm
