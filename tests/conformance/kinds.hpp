// One function for each file of the format: runs a case through the library and compares.
#pragma once

#include "conformance/checker.hpp"
#include "conformance/fields.hpp"

namespace conformance {

/// Thrown for a case whose `kind` its file does not have.
class unknown_kind : public case_error {
 public:
  using case_error::case_error;
};

void check_law(fields const& the_case, checker& check);
void check_logits(fields const& the_case, checker& check);
void check_tree_invalid(fields const& the_case, checker& check);
void check_commit(fields const& the_case, checker& check);
void check_stop(fields const& the_case, checker& check);
void check_batch(fields const& the_case, checker& check);
void check_builder(fields const& the_case, checker& check);
void check_chain(fields const& the_case, checker& check);
void check_mask(fields const& the_case, checker& check);

}  // namespace conformance
