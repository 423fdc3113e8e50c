// What a refused call says.
#pragma once

#include <string>

#include "tev/core/error.hpp"

namespace tev_test {

/// The text of the `argument_error` that a call throws; "accepted" when it throws none.
template <class Call>
[[nodiscard]] std::string refusal(Call const& call) {
  try {
    call();
  } catch (tev::argument_error const& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace tev_test
