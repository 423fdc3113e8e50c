// The cases of batch.json about elements beyond 32 bits.
#pragma once

#include "conformance/checker.hpp"
#include "conformance/fields.hpp"

namespace conformance {

/// Has the library find the one large logit of a row far inside a block of rows.
void check_element_offset(fields const& the_case, fields const& expect, checker& check);

}  // namespace conformance
