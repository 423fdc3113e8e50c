// mapped_file: POSIX mapping behind a span.
#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "error.hpp"

namespace llm {
namespace {

/// Closes a file descriptor when it goes.
struct descriptor {
  int value;
  explicit descriptor(int opened) : value(opened) {}
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  ~descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

mapped_file::mapped_file(std::filesystem::path const& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw make_error("{}: no such file; check the path", file.string());
  }
  if (!std::filesystem::is_regular_file(file, ignored)) {
    throw make_error("{}: not a regular file; check the path", file.string());
  }
  descriptor const opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about{};
  if (opened.value < 0 || ::fstat(opened.value, &about) != 0) {
    throw make_error("{}: cannot be opened: {}", file.string(), std::strerror(errno));
  }
  auto const size = static_cast<std::size_t>(about.st_size);
  if (size == 0) return;
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.value, 0);
  if (start == MAP_FAILED) {
    throw make_error("{}: cannot be mapped: {}", file.string(), std::strerror(errno));
  }
  bytes_ = {static_cast<std::byte const*>(start), size};
}

mapped_file::mapped_file(mapped_file&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  if (this != &other) {
    release();
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

mapped_file::~mapped_file() { release(); }

void mapped_file::release() noexcept {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  bytes_ = {};
}

}  // namespace llm
