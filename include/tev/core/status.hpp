// What became of one row or one request: bad input yields a status, never a token.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"

namespace tev {

/// Outcome of looking at one row or one request. A value other than `ok` comes without a token.
enum class status : std::int32_t {
  ok,             ///< The row has mass and every allowed logit is usable.
  no_mass,        ///< No token has positive mass.
  not_finite,     ///< A NaN or +infinity among the logits, or masses whose sum exceeds 64 bits.
  bad_parameter,  ///< A sampling parameter outside its range (negative, NaN or infinite
                  ///< temperature).
  bad_tree,       ///< The tree contradicts itself where the walk went, e.g. a token listed twice.
};

/// The status as a word, for messages and for JSON.
[[nodiscard]] TEV_HOST_DEVICE constexpr char const* name(status s) {
  switch (s) {
    case status::ok:
      return "ok";
    case status::no_mass:
      return "no_mass";
    case status::not_finite:
      return "not_finite";
    case status::bad_parameter:
      return "bad_parameter";
    case status::bad_tree:
      return "bad_tree";
  }
  return "unknown";
}

}  // namespace tev
