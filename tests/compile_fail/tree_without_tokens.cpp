// A tree has to say which token a node carries.
// refused by: tree
// expects: t.token(v)
#include <tev/tev.hpp>

struct nodes {
  std::int32_t size() const { return 1; }
  tev::node_id parent(tev::node_id) const { return tev::no_node; }
#ifndef TEV_FAULT
  tev::token_id token(tev::node_id) const { return tev::no_token; }
#endif
};

auto const depths = tev::depths(nodes{});
