// A result file that is whole or not there.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string_view>

namespace cli {

/// Writes beside the destination and takes its place on `commit`: a run that fails leaves no
/// partial file and does not touch what was there. A device or a pipe is written directly.
class output_file {
 public:
  /// Throws `llm::error` when the file can't be created.
  explicit output_file(std::filesystem::path path);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  /// Throws `llm::error` when the disk is full, or for whatever else the system says.
  void write(std::string_view text);

  /// Flushes and puts the file in place. Throws as `write` does.
  void commit();

 private:
  [[noreturn]] void fail(char const* what) const;

  std::filesystem::path path_;
  std::filesystem::path written_;
  std::FILE* file_ = nullptr;
};

}  // namespace cli
