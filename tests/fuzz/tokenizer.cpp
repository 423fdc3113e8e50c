// A tokenizer.json: it is refused in one line, or it encodes and decodes any text.
#include "llm/tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/target.hpp"
#include "llm/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static tev_fuzz::scratch_file const scratch("tokenizer.json");
  scratch.write(data, size);
  try {
    auto const tokenizer = llm::tokenizer::open(scratch.file());
    for (std::string_view const text :
         {"", "Hello, world", "<|x|> 12 \n\t", "e\xcc\x81\xf0\x9f\x99\x82"}) {
      auto const ids = tokenizer.encode(text);
      for (auto const id : ids)
        tev_fuzz::expect(0 <= id && id < tokenizer.id_end(), "an id outside the vocabulary");
      (void)tokenizer.decode(ids);
      (void)tokenizer.decode(ids, true);
    }
  } catch (llm::error const& refusal) {
    tev_fuzz::expect(std::string_view(refusal.what()).find('\n') == std::string_view::npos,
                     "a refusal of several lines");
  }
  return 0;
}
