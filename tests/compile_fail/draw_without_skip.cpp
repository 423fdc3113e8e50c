// A draw has to leave out any set of tokens: residuals are drawn that way.
// refused by: drawable
// expects: any_tokens
#include <tev/tev.hpp>

struct rows : tev::mass_rows<std::uint64_t> {
#ifdef TEV_FAULT
  template <class Team>
  tev::token_id draw(Team const&, tev::node_id, std::uint64_t, tev::no_tokens) const {
    return 0;
  }
#endif
};

tev::outcome verified(tev::problem<tev::tree_view, rows> const& p) {
  return tev::sequential_residual{}(tev::serial_team{}, p, tev::philox{});
}
