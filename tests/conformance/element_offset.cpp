// batch.json, kind "offset": row * stride + column in 64 bits.
#include "conformance/element_offset.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tev/batch/verify_batch.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/logit_key.hpp"
#include "tev/distribution/logit_rows.hpp"
#include "tev/verify/greedy.hpp"

namespace conformance {

namespace {

// Address space in which only the pages that are touched exist.
class sparse_floats {
 public:
  explicit sparse_floats(std::size_t count) : bytes_(count * sizeof(float)) {
    void* const found = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED)
      throw case_error("cannot be tried: no address space of " + text(bytes_) + " bytes");
    data_ = static_cast<float*>(found);
  }
  ~sparse_floats() { munmap(data_, bytes_); }
  sparse_floats(sparse_floats const&) = delete;
  sparse_floats& operator=(sparse_floats const&) = delete;

  [[nodiscard]] float* data() const { return data_; }

 private:
  std::size_t bytes_;
  float* data_ = nullptr;
};

}  // namespace

void check_element_offset(fields const& the_case, fields const& expect, checker& check) {
  std::int64_t const row = the_case["row"].index(), column = the_case["column"].index();
  std::int64_t const stride = the_case["stride"].index(), element = expect["element"].integer();
  if (row < 0 || column < 0 || column >= stride || element < 0)
    throw case_error("row, stride and column name no element");
  auto const vocab = static_cast<std::int32_t>(stride);
  std::int64_t const last = std::max(element, (row + 1) * stride) + 1;
  sparse_floats const logits(static_cast<std::size_t>(last));
  logits.data()[element] = 5.0f;

  tev::logit_rows<float> const rows{.logits = logits.data(), .stride = stride, .vocab = vocab};
  auto const v = static_cast<tev::node_id>(row);
  auto const x = static_cast<tev::token_id>(column);
  if (rows.key(v, x) != tev::key_of(5.0f))
    check.fail("expect.element", text(element),
               "another for row " + text(row) + ", column " + text(column));
  std::vector<std::int32_t> const offsets{0, 1}, root{tev::no_node};
  std::vector<std::uint64_t> const seed{0};
  std::vector<std::uint32_t> const position{0};
  std::vector<float> const temperature{0.0f};
  std::vector<tev::status> state(1);
  std::vector<std::int32_t> bonus(1);
  std::vector<std::int64_t> emitted_row(1);
  tev::batch_input<float> in;
  in.logits = rows;
  in.row_count = row + 1;
  in.trees = {.requests = 1, .node_offset = offsets.data(), .parents = root.data()};
  in.trees.tokens = root.data();
  in.trees.row_offset = &row;
  in.parameters = {.temperature = temperature.data(), .seed = seed.data()};
  in.parameters.position = position.data();
  tev::outcome_batch out{.width = 1, .state = state.data(), .bonus_token = bonus.data()};
  out.emitted_row = emitted_row.data();
  std::vector<std::byte> workspace(tev::workspace_size(in));
  tev::verify_batch(tev::greedy{}, in, out, std::span(workspace));
  check.equal("token of a batch whose only row is that one", x, bonus[0]);
  check.equal("row of that token", row, emitted_row[0]);
}

}  // namespace conformance
