// A builder returns its scores with the tree.
// refused by: builder
// expects: built_tree
#include <tev/tev.hpp>

using draft = tev::softmax_rows<float>;

struct root_only {
#ifdef TEV_FAULT
  tev::draft_tree operator()(draft const&, std::int32_t, std::int32_t) const { return {}; }
#else
  tev::built_tree operator()(draft const&, std::int32_t, std::int32_t) const { return {}; }
#endif
};

template <tev::builder<draft> Builder>
void use(Builder const&) {}

void test() { use(root_only{}); }
