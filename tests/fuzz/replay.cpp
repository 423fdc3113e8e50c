// Runs a fuzz target over files, for builds without libFuzzer.
//
// usage: replay FILE_OR_FOLDER...
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace {

void run(std::filesystem::path const& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<char> const bytes{std::istreambuf_iterator<char>(in), {}};
  std::printf("%s, %zu bytes\n", file.filename().c_str(), bytes.size());
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      run(argv[i]);
      ++files;
      continue;
    }
    for (auto const& entry : std::filesystem::directory_iterator(argv[i])) {
      run(entry.path());
      ++files;
    }
  }
  return files == 0 ? 1 : 0;
}
