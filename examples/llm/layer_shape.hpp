// The sizes that all layers of a model have in common.
#pragma once

#include <cstdint>

namespace llm {

/// Letters as in config.hpp; heads is a multiple of kv_heads, head_dim is even, all are positive.
struct layer_shape {
  std::int64_t hidden = 0;        ///< h
  std::int64_t heads = 0;         ///< Hq
  std::int64_t kv_heads = 0;      ///< Hk
  std::int64_t head_dim = 0;      ///< d
  std::int64_t intermediate = 0;  ///< f
  float eps = 0;                  ///< added to the mean square in every norm
};

/// The layer shape of a model_config or a drafter_config.
template <class Config>
[[nodiscard]] layer_shape shape_of(Config const& config) {
  return {config.hidden_size,       config.heads,       config.kv_heads, config.head_dim,
          config.intermediate_size, config.rms_norm_eps};
}

}  // namespace llm
