// Rows are summarised chunk by chunk, so that later questions read one chunk and not the row.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"

namespace tev {

/// Tokens per chunk.
inline constexpr std::int32_t chunk_size = 1024;

/// Chunks of a row over `vocab` tokens.
[[nodiscard]] TEV_HOST_DEVICE constexpr std::int32_t chunk_count(std::int32_t vocab) {
  return (vocab + chunk_size - 1) / chunk_size;
}

/// First token of a chunk.
[[nodiscard]] TEV_HOST_DEVICE constexpr token_id chunk_begin(std::int32_t chunk) {
  return chunk * chunk_size;
}

/// One past the last token of a chunk.
[[nodiscard]] TEV_HOST_DEVICE constexpr token_id chunk_end(std::int32_t chunk, std::int32_t vocab) {
  return vocab - chunk_begin(chunk) < chunk_size ? vocab : chunk_begin(chunk) + chunk_size;
}

}  // namespace tev
