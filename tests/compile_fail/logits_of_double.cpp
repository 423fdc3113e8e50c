// Logits are float, bfloat16 or float16; doubles are not rounded in silence.
// refused by: logit
#include <tev/tev.hpp>

#ifdef TEV_FAULT
using number = double;
#else
using number = float;
#endif

auto prepared(number const* logits, tev::softmax_storage& storage) {
  return storage.rows(logits, 1, 8, 8, 1.0f);
}
