// The stop rule: where a text ends inside an accepted block.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"

namespace tev {

/// Why a request is finished.
enum class finish : std::int32_t {
  none,    ///< It goes on.
  stop,    ///< A stop token was emitted.
  length,  ///< No further token may be emitted.
};

/// The reason as a word, for messages and for JSON.
[[nodiscard]] TEV_HOST_DEVICE constexpr char const* name(finish f) {
  switch (f) {
    case finish::none:
      return "none";
    case finish::stop:
      return "stop";
    case finish::length:
      return "length";
  }
  return "unknown";
}

/// The number of tokens left to a request that has no limit.
inline constexpr std::int64_t no_token_limit = INT64_MAX;

/// When a request ends.
struct stop_rule {
  token_id const* stop = nullptr;  ///< [stop_count]; ids below 0 are padding.
  std::int32_t stop_count = 0;
  std::int64_t remaining =
      no_token_limit;  ///< Tokens that may still be emitted; below 0 counts as 0.

  /// True for the ids of the list; never for a negative token.
  [[nodiscard]] TEV_HOST_DEVICE constexpr bool stops(token_id token) const {
    for (std::int32_t i = 0; i < stop_count; ++i)
      if (stop[i] == token && token >= 0) return true;
    return false;
  }
};

/// What is emitted of a block, and what of it stays in the cache.
struct block_end {
  std::int32_t emitted = 0;     ///< Tokens of the block that are emitted, from its front.
  std::int32_t accepted = 0;    ///< Those of them that were drafted.
  std::int32_t cache_rows = 1;  ///< Rows to keep, the root's included: `keep` of a commit.
  bool bonus_emitted = false;
  finish reason = finish::none;

  friend bool operator==(block_end const&, block_end const&) = default;
};

/// Cuts a block at its first stop token or at the length limit, whichever comes first.
///
/// `path` [count]: the accepted drafted tokens without the root. `bonus`: the token behind them, or
/// -1 when there is none (a row without a token), in which case the path stands alone. A stop token
/// is the last one emitted; at the limit it counts as a stop. When nothing may be emitted the
/// reason is `length`. Allocates nothing, O(count * stop_count).
[[nodiscard]] TEV_HOST_DEVICE constexpr block_end end_of_block(token_id const* path,
                                                               std::int32_t count, token_id bonus,
                                                               stop_rule const& rule) {
  std::int32_t const available = count + (bonus == no_token ? 0 : 1);
  block_end end;
  while (end.reason == finish::none && end.emitted < rule.remaining && end.emitted < available) {
    token_id const token = end.emitted < count ? path[end.emitted] : bonus;
    ++end.emitted;
    if (rule.stops(token)) end.reason = finish::stop;
  }
  if (end.reason == finish::none && end.emitted >= rule.remaining) end.reason = finish::length;
  end.bonus_emitted = end.emitted > count;
  end.accepted = end.bonus_emitted ? count : end.emitted;
  end.cache_rows = end.accepted + 1;
  return end;
}

}  // namespace tev
