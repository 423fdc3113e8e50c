// Outcomes that own their arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tev/batch/outcome_batch.hpp"
#include "tev/core/error.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/commit.hpp"
#include "tev/tree/fault.hpp"
#include "tev/verify/finish.hpp"

namespace tev {

/// Every array of an `outcome_batch` for a number of requests, in vectors of the same names.
class outcome_storage {
 public:
  /// Throws `argument_error` for a negative number of requests or width.
  outcome_storage(std::int32_t requests, std::int32_t width) : width_(width) {
    require_argument(requests >= 0, "outcome_storage", "requests", requests, "at least 0");
    require_argument(width >= 0, "outcome_storage", "width", width, "at least 0");
    auto const each = static_cast<std::size_t>(requests);
    std::size_t const all = each * static_cast<std::size_t>(width);
    state.resize(each);
    fault.resize(each);
    exit_node.resize(each);
    bonus_token.resize(each);
    accepted_length.resize(each);
    path.resize(all);
    reason.resize(each);
    emitted_count.resize(each);
    emitted.resize(all);
    emitted_row.resize(all);
    log_probability.resize(all);
    raw_log_probability.resize(all);
    margin.resize(all);
    cache_rows.resize(each);
    move_count.resize(each);
    moves.resize(all);
  }

  /// Views of the vectors; valid while this lives where it is.
  [[nodiscard]] outcome_batch view() {
    return {.width = width_,
            .state = state.data(),
            .fault = fault.data(),
            .exit_node = exit_node.data(),
            .bonus_token = bonus_token.data(),
            .accepted_length = accepted_length.data(),
            .path = path.data(),
            .reason = reason.data(),
            .emitted_count = emitted_count.data(),
            .emitted = emitted.data(),
            .emitted_row = emitted_row.data(),
            .log_probability = log_probability.data(),
            .raw_log_probability = raw_log_probability.data(),
            .margin = margin.data(),
            .cache_rows = cache_rows.data(),
            .move_count = move_count.data(),
            .moves = moves.data()};
  }

  std::vector<status> state;
  std::vector<tree_check> fault;
  std::vector<node_id> exit_node;
  std::vector<token_id> bonus_token;
  std::vector<std::int32_t> accepted_length;
  std::vector<node_id> path;
  std::vector<finish> reason;
  std::vector<std::int32_t> emitted_count;
  std::vector<token_id> emitted;
  std::vector<std::int64_t> emitted_row;
  std::vector<float> log_probability;
  std::vector<float> raw_log_probability;
  std::vector<float> margin;
  std::vector<std::int32_t> cache_rows;
  std::vector<std::int32_t> move_count;
  std::vector<slot_move> moves;

 private:
  std::int32_t width_;
};

}  // namespace tev
