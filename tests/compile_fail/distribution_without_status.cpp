// A row has to say whether it can be used.
// refused by: distribution
// expects: row_status
#include <tev/tev.hpp>

struct rows {
  using mass_type = double;
  std::int32_t vocab_size() const { return 1; }
  double total(tev::node_id) const { return 1.0; }
  double mass(tev::node_id, tev::token_id) const { return 1.0; }
#ifndef TEV_FAULT
  tev::status row_status(tev::node_id) const { return tev::status::ok; }
#endif
};

auto const law = tev::exit_law_of(tev::draft_tree{}, rows{});
