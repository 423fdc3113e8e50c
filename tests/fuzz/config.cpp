// A config.json, read as a target's and as a drafter's: sizes in their bounds, or one line.
#include "llm/config.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/target.hpp"
#include "llm/error.hpp"

namespace {

template <class Read>
void refuse_or(Read const& read) {
  try {
    read();
  } catch (llm::error const& refusal) {
    tev_fuzz::expect(std::string_view(refusal.what()).find('\n') == std::string_view::npos,
                     "a refusal of several lines");
  }
}

template <class Config>
void expect_bounded(Config const& c) {
  for (std::int64_t const n :
       {c.hidden_size, c.layers, c.heads, c.kv_heads, c.head_dim, c.intermediate_size})
    tev_fuzz::expect(n > 0, "a size that is not positive");
  tev_fuzz::expect(c.heads % c.kv_heads == 0 && c.head_dim % 2 == 0, "heads that do not divide");
  tev_fuzz::expect(c.vocab_size < (1 << 24), "a vocabulary past its bound");
  tev_fuzz::expect(c.rope_theta > 0 && c.rms_norm_eps >= 0, "a constant that is not positive");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static tev_fuzz::scratch_file const scratch("config.json");
  scratch.write(data, size);
  refuse_or([] {
    auto const target = llm::read_model_config(scratch.folder());
    expect_bounded(target);
    tev_fuzz::expect(target.vocab_size > 0 && target.max_position > 0, "no vocabulary or position");
    for (auto const id : target.stop_ids)
      tev_fuzz::expect(0 <= id && id < target.vocab_size, "a stop id outside the vocabulary");
  });
  refuse_or([] {
    auto const drafter = llm::read_drafter_config(scratch.folder());
    expect_bounded(drafter);
    tev_fuzz::expect(2 <= drafter.block_size && drafter.block_size <= 256,
                     "a block past its bound");
    tev_fuzz::expect(!drafter.target_layer_ids.empty(), "a drafter without features");
    (void)llm::misfits(drafter, llm::model_config{});
  });
  return 0;
}
