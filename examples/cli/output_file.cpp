#include "output_file.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "llm/error.hpp"

namespace cli {

output_file::output_file(std::filesystem::path path) : path_(std::move(path)), written_(path_) {
  std::error_code ignored;
  bool const special =
      std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored);
  if (!special) written_ += ".part";
  file_ = std::fopen(written_.c_str(), "wb");
  if (file_ == nullptr) fail("cannot be created");
}

output_file::~output_file() {
  if (file_ != nullptr) std::fclose(file_);
  std::error_code ignored;
  if (written_ != path_) std::filesystem::remove(written_, ignored);
}

void output_file::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("cannot be written");
}

void output_file::commit() {
  bool const flushed = std::fflush(file_) == 0;
  if (!flushed) fail("cannot be written");
  int const closed = std::fclose(std::exchange(file_, nullptr));
  if (closed != 0) fail("cannot be written");
  if (written_ == path_) return;
  std::error_code failure;
  std::filesystem::rename(written_, path_, failure);
  if (failure)
    throw llm::make_error("{}: cannot be put in place: {}", path_.string(), failure.message());
  written_ = path_;
}

void output_file::fail(char const* what) const {
  throw llm::make_error("{}: {}: {}", path_.string(), what, std::strerror(errno));
}

}  // namespace cli
