// The exception of the host edge: thrown for a call that can't be meant, before anything is
// written.
#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// The same for a text that needs no putting together.
inline void require(bool condition, char const* message) {
  if (!condition) throw argument_error(message);
}

/// An entry of an array as the argument of a complaint.
struct array_entry {
  std::string_view array;
  std::int64_t index;
};

namespace detail {

inline std::string as_text(std::string_view text) { return std::string(text); }
inline std::string as_text(std::integral auto number) { return std::to_string(number); }
inline std::string as_text(array_entry const& e) {
  return as_text(e.array) + "[" + std::to_string(e.index) + "]";
}

}  // namespace detail

/// Throws `argument_error("FUNCTION: ARGUMENT is VALUE, needs NEED")` unless `good` holds; only
/// then is the text put together, from words and integers.
template <class Argument, class... Need>
void require_argument(bool good, std::string_view function, Argument const& argument,
                      std::int64_t value, Need const&... need) {
  if (good) return;
  std::string text = detail::as_text(function) + ": " + detail::as_text(argument) + " is " +
                     std::to_string(value) + ", needs ";
  (text.append(detail::as_text(need)), ...);
  throw argument_error(text);
}

/// Throws `argument_error("FUNCTION: ARGUMENT is null")` for a null pointer.
inline void require_given(void const* pointer, std::string_view function,
                          std::string_view argument) {
  if (pointer != nullptr) return;
  throw argument_error(detail::as_text(function) + ": " + detail::as_text(argument) + " is null");
}

}  // namespace tev
