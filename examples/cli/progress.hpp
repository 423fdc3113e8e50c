// A progress bar on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cli {

/// Shows how much of a long run is done and how long the rest may take; only on a terminal, so
/// that logs and pipes stay clean. The bar is wiped at the end.
class progress {
 public:
  /// `what` is the plural of what is counted, as in "prompts".
  progress(std::string what, std::int64_t total);
  ~progress();
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  void show(std::int64_t done);

 private:
  std::string what_;
  std::int64_t total_;
  bool visible_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace cli
