// mapped_file: a file mapped into memory for reading, released when it goes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace llm {

/// The bytes of one file, mapped read-only. Movable; the bytes stay where they are when moved.
class mapped_file {
 public:
  mapped_file() = default;

  /// Maps `file`. Throws `error` when it is not a regular file that can be read. An empty file
  /// gives no bytes.
  explicit mapped_file(std::filesystem::path const& file);

  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;
  ~mapped_file();

  [[nodiscard]] std::span<std::byte const> bytes() const { return bytes_; }

 private:
  void release() noexcept;

  std::span<std::byte const> bytes_;
};

}  // namespace llm
