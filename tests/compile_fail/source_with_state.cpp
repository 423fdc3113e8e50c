// A source is a pure function of the decision: an engine with state, as those of <random>, is none.
// refused by: uniform_source
// expects: below
#include <random>
#include <tev/tev.hpp>

#ifdef TEV_FAULT
using source = std::mt19937_64;
#else
using source = tev::philox;
#endif

tev::outcome verified(tev::problem<tev::tree_view, tev::softmax_rows<float>> const& p) {
  return tev::predraw{}(tev::serial_team{}, p, source{});
}
