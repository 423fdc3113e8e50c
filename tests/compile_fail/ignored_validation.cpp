// Whoever validates a tree looks at the answer.
// expects: unused-result
#include <tev/tev.hpp>

#pragma GCC diagnostic error "-Wunused-result"

void check(tev::tree_arrays const& arrays) {
#ifdef TEV_FAULT
  tev::validate(arrays);
#else
  (void)tev::validate(arrays);
#endif
}
