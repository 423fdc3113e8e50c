// A batch of requests on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tev/batch/batch_input.hpp"
#include "tev/batch/executor.hpp"
#include "tev/batch/outcome_batch.hpp"
#include "tev/batch/verify_request.hpp"
#include "tev/batch/workspace.hpp"
#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/logit_rows.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/view.hpp"
#include "tev/verify/concept.hpp"

namespace tev {

/// Bytes of workspace that `verify_batch` needs for this batch on this executor.
template <logit Logit, executor Executor = inline_executor>
[[nodiscard]] std::size_t workspace_size(batch_input<Logit> const& in,
                                         Executor const& executor = {}) {
  return workspace_size(
      workspace_shape{largest_tree(in.trees), in.logits.vocab, executor.workers()});
}

/// Verifies every request of a batch, whatever their sizes and parameters, on the executor's
/// workers.
///
/// A request's outcome is a function of its own (seed, request, position, logits, tree,
/// parameters): not of its slot, of the other requests, of strides, padding or workers. What is
/// wrong with one request becomes its status. What is wrong with the call throws `argument_error`,
/// naming argument, value and requirement, before anything is written. `workspace` holds at least
/// `workspace_size(in, executor)` bytes, of any content; nothing is allocated. Vocabulary passes:
/// the verifier's, for each request.
template <class Verifier, logit Logit, executor Executor = inline_executor>
  requires verifier<Verifier, serial_team, problem<tree_view, softmax_rows<Logit>>, philox>
void verify_batch(Verifier const& verify, batch_input<Logit> const& in, outcome_batch const& out,
                  std::span<std::byte> workspace, Executor const& executor = {}) {
  workspace_shape shape{.workers = executor.workers()};
  require_batch(in, out, [&] {
    shape.largest_tree = largest_tree(in.trees);
    shape.vocab = in.logits.vocab;
    require_argument(workspace.size() >= workspace_size(shape), detail::batch_call,
                     "the size of workspace", static_cast<std::int64_t>(workspace.size()),
                     "at least ", workspace_size(shape), " bytes");
    return space_of_worker(workspace.data(), shape, 0).scratch;
  });
  executor.for_each(in.trees.requests, [&](std::int32_t b, std::int32_t worker) {
    verify_request(verify, in, out, b, space_of_worker(workspace.data(), shape, worker));
  });
}

}  // namespace tev
