// What tests of readers share: a folder that goes with the test, and the text of an expected error.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "llm/error.hpp"

namespace llm_test {

/// A new folder under the system's temporary one, removed with all it holds when this goes.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tev-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::filesystem::path const& path() const { return path_; }

  /// Writes `content` into the file `name` and returns its path.
  std::filesystem::path write(std::string const& name, std::string_view content) const {
    std::filesystem::path file = path_ / name;
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
    return file;
  }

 private:
  std::filesystem::path path_;
};

/// Returns the text of the `llm::error` that `call` throws, "" (and a failure) when it does not.
template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (llm::error const& thrown) {
    return thrown.what();
  }
  ADD_FAILURE() << "no llm::error was thrown";
  return "";
}

/// Expects `call` to throw an `llm::error` of one line that holds every one of `parts`.
template <class Call>
void expect_error(Call&& call, std::initializer_list<std::string_view> parts) {
  std::string const text = message_of(call);
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  for (std::string_view const part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "message: " << text << "\nlacks: " << part;
  }
}

/// Returns the whole content of `file`.
inline std::string read_text(std::filesystem::path const& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The folder of the bundled checkpoints and prompts.
inline std::filesystem::path tiny_models() {
  return std::filesystem::path(TEV_SOURCE_DIR) / "examples/models/tiny";
}

/// The folder of the reference vectors.
inline std::filesystem::path golden() {
  return std::filesystem::path(TEV_SOURCE_DIR) / "tests/data/tiny/golden";
}

}  // namespace llm_test
