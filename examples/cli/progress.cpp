#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace cli {

progress::progress(std::string what, std::int64_t total)
    : what_(std::move(what)),
      total_(total),
      visible_(isatty(STDERR_FILENO) != 0 && total > 0),
      begin_(std::chrono::steady_clock::now()) {}

progress::~progress() {
  if (visible_) std::fputs("\r\033[K", stderr);
}

void progress::show(std::int64_t done) {
  if (!visible_) return;
  constexpr std::int64_t width = 30;
  auto const full = static_cast<std::size_t>(width * done / total_);
  double const spent =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  auto const left =
      done > 0 ? fmt::format(", {:.0f} s left",
                             spent * static_cast<double>(total_ - done) / static_cast<double>(done))
               : std::string();
  fmt::print(stderr, "\r\033[K[{:#<{}}{:-<{}}] {} of {} {}{}", "", full, "",
             static_cast<std::size_t>(width) - full, done, total_, what_, left);
  std::fflush(stderr);
}

}  // namespace cli
