// Sizes are 32-bit: std::size_t is not silently narrowed.
// refused by: linked_tree
// expects: t.size()
#include <tev/tev.hpp>

struct nodes : tev::tree_view {
#ifdef TEV_FAULT
  std::size_t size() const { return 1; }
#endif
};

auto const child = tev::find_child(nodes{}, 0, [](tev::node_id) { return true; });
