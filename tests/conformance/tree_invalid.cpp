// tree_invalid.json: malformed trees and valid controls -> reason.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/kinds.hpp"
#include "tev/batch/verify_batch.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/validate.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/predraw.hpp"
#include "tev/verify/sequential_residual.hpp"
#include "tev/verify/tree_exit.hpp"

namespace conformance {

namespace {

// An array in memory of exactly its size, so that a sanitizer sees a read outside it.
std::vector<std::int32_t> tight(std::vector<std::int32_t> const& array) {
  return {array.begin(), array.end()};
}

std::string reason_of(tev::tree_arrays const& arrays, std::int32_t scratch_content) {
  std::vector<tev::node_id> scratch(tev::validate_scratch(arrays.parents.size()), scratch_content);
  return name(tev::validate(arrays, scratch).fault);
}

// The same from a batch of this one tree, whose rows are `stride` long.
template <class Verifier>
std::string reason_in_batch(tev::tree_arrays const& arrays, std::int64_t stride,
                            Verifier const& verifier, bool trusted) {
  std::size_t const size = arrays.parents.size();
  std::vector<std::int32_t> const offsets{0, static_cast<std::int32_t>(size)};
  std::vector<float> const logits(size * static_cast<std::size_t>(stride));
  std::vector<std::uint64_t> const seed{1};
  std::vector<std::uint32_t> const position{0};
  tev::batch_input<float> in;
  in.trees = {.requests = 1, .node_offset = offsets.data(), .parents = arrays.parents.data()};
  in.trees.tokens = arrays.tokens.data();
  in.trees.budget = arrays.budget;
  in.trees.trusted = trusted;
  if (arrays.check_links) {
    in.trees.first_child = arrays.first_child.data();
    in.trees.next_sibling = arrays.next_sibling.data();
  }
  in.logits = {.logits = logits.data(), .stride = stride, .vocab = arrays.vocab_size};
  in.row_count = static_cast<std::int64_t>(size);
  in.parameters = {.seed = seed.data(), .position = position.data()};
  std::vector<tev::status> state(1);
  std::vector<tev::tree_check> fault(1);
  tev::outcome_batch const out{
      .width = static_cast<std::int32_t>(size) + 1, .state = state.data(), .fault = fault.data()};
  std::vector<std::byte> workspace(tev::workspace_size(in));
  tev::verify_batch(verifier, in, out, std::span(workspace));
  bool const bad = state[0] == tev::status::bad_tree;
  if (!trusted && bad == fault[0].ok()) return "a status of its own";
  return name(fault[0].fault);
}

}  // namespace

void check_tree_invalid(fields const& the_case, checker& check) {
  auto const parents = tight(the_case["parent"].indices());
  auto const tokens = tight(the_case["token"].indices());
  tev::tree_arrays arrays{
      .parents = parents, .tokens = tokens, .vocab_size = the_case["vocab"].index()};
  if (auto const budget = the_case.find("budget")) arrays.budget = budget->index();
  std::vector<tev::node_id> first_child, next_sibling;
  if (the_case.has("first_child") || the_case.has("next_sibling")) {
    first_child = tight(the_case["first_child"].indices());
    next_sibling = tight(the_case["next_sibling"].indices());
    arrays.check_links = true;
    arrays.first_child = first_child;
    arrays.next_sibling = next_sibling;
  }
  auto const given_stride = the_case.find("stride");
  std::int64_t const stride =
      std::max<std::int64_t>(given_stride ? given_stride->integer() : 0, arrays.vocab_size);

  fields const expect = the_case["expect"].object("expect");
  std::string const reason = expect["reason"].text();
  auto const accept = expect["accept"].texts();
  auto const require_right = [&](std::string const& who, std::string const& got) {
    // Both fields say what is right; only `accept` says everything that is.
    if (got != reason && std::ranges::find(accept, got) == accept.end())
      check.fail("expect.reason" + who, text(reason) + " or one of " + text(accept), text(got));
  };
  std::string const got = reason_of(arrays, 0);
  require_right("", got);
  check.equal("expect.reason over other scratch", got, reason_of(arrays, 0x55555555));
  if (std::ranges::find(accept, reason) == accept.end())
    check.fail("expect.accept", "a list with " + text(reason), text(accept));

  bool const linked = arrays.check_links;
  bool const one_size =
      tokens.size() == parents.size() &&
      (!linked || (first_child.size() == parents.size() && next_sibling.size() == parents.size()));
  // One offset array serves all of a batch's arrays, and rows need some vocabulary.
  if (!one_size || arrays.vocab_size < 1 || arrays.vocab_size >= tev::vocab_limit) return;
  require_right(" in a batch", reason_in_batch(arrays, stride, tev::tree_exit{}, false));
  // A caller who vouches for a tree that is none: whatever comes out, it ends.
  reason_in_batch(arrays, stride, tev::tree_exit{}, true);
  reason_in_batch(arrays, stride, tev::predraw{}, true);
  reason_in_batch(arrays, stride, tev::sequential_residual{}, true);
  reason_in_batch(arrays, stride, tev::greedy{}, true);
}

}  // namespace conformance
