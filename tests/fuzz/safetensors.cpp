// A safetensors file: it opens, and then all its tensors can be read, or it is refused in one line.
#include "llm/safetensors.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/target.hpp"
#include "llm/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static tev_fuzz::scratch_file const scratch("model.safetensors");
  scratch.write(data, size);
  try {
    auto checkpoint = llm::checkpoint::open(scratch.file());
    std::uint64_t bytes = 0;
    for (auto const& name : checkpoint.names()) {
      auto const tensor = checkpoint.get(name);
      bytes += tensor.bytes.size();
      if (tensor.type != llm::dtype::i64)
        tev_fuzz::expect(llm::to_f32(tensor).size() == tensor.elements(), "elements are missing");
    }
    tev_fuzz::expect(bytes <= size && bytes == checkpoint.total_bytes(), "bytes out of nothing");
    tev_fuzz::expect(checkpoint.unused().empty(), "a tensor that was got counts as unused");
  } catch (llm::error const& refusal) {
    tev_fuzz::expect(std::string_view(refusal.what()).find('\n') == std::string_view::npos,
                     "a refusal of several lines");
  }
  return 0;
}
