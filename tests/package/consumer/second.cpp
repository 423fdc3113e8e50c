// A second translation unit that includes everything.
#include <tev/tev.hpp>

int second() { return TEV_VERSION; }
