// The greedy verifier needs rows that know their best token.
// refused by: drawable
// expects: best
#include <tev/tev.hpp>

struct rows : tev::mass_rows<std::uint64_t> {
#ifdef TEV_FAULT
  void best() const;
#endif
};

tev::outcome verified(tev::problem<tev::tree_view, rows> const& p) {
  return tev::greedy{}(tev::serial_team{}, p, tev::philox{});
}
