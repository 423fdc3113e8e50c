// Logits are float, bfloat16 or float16; doubles are not rounded in silence.
// refused by: logit
#include <tev/tev.hpp>

#ifdef TEV_FAULT
using number = double;
#else
using number = float;
#endif

using rows = tev::logit_rows<number>;
