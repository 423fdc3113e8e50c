// A team has to offer every collective.
// refused by: team
// expects: t.pick(w, w)
#include <tev/tev.hpp>

struct one_thread : tev::serial_team {
#ifdef TEV_FAULT
  void pick() const;
#endif
};

auto const found =
    tev::locate(one_thread{}, 0, 1, [](std::int32_t) { return std::uint64_t{1}; }, 0);
