// What fuzz targets share: numbers from bytes, files of bytes, and a check that ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace tev_fuzz {

/// Ends the program, which is a finding, unless `held`.
inline void expect(bool held, char const* what) {
  if (held) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

/// Reads numbers from the input, zeros behind its end.
class byte_reader {
 public:
  byte_reader(std::uint8_t const* data, std::size_t size) : data_(data), left_(size) {}

  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::int32_t word() {
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i) bits = bits << 8 | byte();
    return static_cast<std::int32_t>(bits);
  }

 private:
  std::uint8_t const* data_;
  std::size_t left_;
};

/// A folder of this process with one file that is written again and again.
class scratch_file {
 public:
  explicit scratch_file(std::string const& name) {
    std::string folder = (std::filesystem::temp_directory_path() / "tev-fuzz-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = folder;
    file_ = folder_ / name;
  }
  scratch_file(scratch_file const&) = delete;
  scratch_file& operator=(scratch_file const&) = delete;
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void write(std::uint8_t const* data, std::size_t size) const {
    std::ofstream out(file_, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<char const*>(data), static_cast<std::streamsize>(size));
  }
  [[nodiscard]] std::filesystem::path const& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path const& file() const { return file_; }

 private:
  std::filesystem::path folder_, file_;
};

}  // namespace tev_fuzz
