// Builders prepare the rows they are given.
// refused by: draft_rows
#include <tev/tev.hpp>

struct rows : tev::mass_rows<double> {
#ifdef TEV_FAULT
  void prepare() const;
#endif
};

tev::built_tree built(rows const& draft) { return tev::best_first{}(draft, 4, 8); }
