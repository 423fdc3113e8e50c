// A verifier needs a tree that lists the children of a node.
// refused by: linked_tree
#include <tev/tev.hpp>

struct nodes {
  std::int32_t size() const { return 1; }
  tev::node_id parent(tev::node_id) const { return tev::no_node; }
  tev::token_id token(tev::node_id) const { return tev::no_token; }
};

#ifdef TEV_FAULT
using tree = nodes;
#else
using tree = tev::tree_view;
#endif

using request = tev::problem<tree, tev::mass_rows<std::uint64_t>>;
