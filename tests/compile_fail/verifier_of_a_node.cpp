// A verifier returns an outcome, not a node alone.
// refused by: verifier
// expects: outcome
#include <tev/tev.hpp>

using request = tev::problem<tev::tree_view, tev::softmax_rows<float>>;

struct root_only {
#ifdef TEV_FAULT
  tev::node_id operator()(tev::serial_team, request const&, tev::philox) const { return 0; }
#else
  tev::outcome operator()(tev::serial_team, request const&, tev::philox) const { return {}; }
#endif
};

template <tev::verifier<tev::serial_team, request, tev::philox> Verifier>
void use(Verifier const&) {}

void test() { use(root_only{}); }
