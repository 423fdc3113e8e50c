// Prints the version of tev that the headers carry.
#include <cstdio>
#include <tev/tev.hpp>

int second();

int main() {
  std::printf("%d.%d.%d\n", TEV_VERSION_MAJOR, TEV_VERSION_MINOR, TEV_VERSION_PATCH);
  return second() == TEV_VERSION ? 0 : 1;
}
