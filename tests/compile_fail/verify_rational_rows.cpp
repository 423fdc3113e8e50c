// Drawing needs integer masses: rows of doubles serve the exit law alone.
// refused by: drawable
#include <tev/tev.hpp>

#ifdef TEV_FAULT
using mass = double;
#else
using mass = std::uint64_t;
#endif

tev::outcome verified(tev::problem<tev::tree_view, tev::mass_rows<mass>> const& p) {
  return tev::tree_exit{}(tev::serial_team{}, p, tev::philox{});
}
