// Whoever runs a batch says how many of its tasks may run at once.
// refused by: executor
// expects: workers
#include <tev/tev.hpp>

struct caller : tev::inline_executor {
#ifdef TEV_FAULT
  void workers() const;
#endif
};

template <tev::executor Executor>
void use(Executor const&) {}

void test() { use(caller{}); }
