// The exception of the host edge: thrown for a call that can't be meant, before anything is
// written.
#pragma once

#include <stdexcept>
#include <string>

namespace tev {

/// A call with arguments that contradict each other; `what()` names argument, value and
/// requirement.
class argument_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Throws `argument_error(message)` unless `condition` holds.
inline void require(bool condition, std::string const& message) {
  if (!condition) throw argument_error(message);
}

}  // namespace tev
