// stop.json: accepted tokens, bonus, stop ids and what may still be emitted -> what is kept.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/kinds.hpp"
#include "tev/core/types.hpp"
#include "tev/verify/finish.hpp"

namespace conformance {

void check_stop(fields const& the_case, checker& check) {
  auto const path = the_case["path"].indices();
  tev::token_id const bonus = the_case["bonus"].index();
  auto const stop = the_case["stop"].indices();
  value const remaining = the_case["remaining"];
  tev::stop_rule const rule{
      .stop = stop.data(),
      .stop_count = static_cast<std::int32_t>(stop.size()),
      .remaining = remaining.is_null() ? tev::no_token_limit : remaining.integer()};
  tev::block_end const got =
      tev::end_of_block(path.data(), static_cast<std::int32_t>(path.size()), bonus, rule);

  auto block = path;
  block.push_back(bonus);
  block.resize(std::min(block.size(), static_cast<std::size_t>(got.emitted)));
  fields const expect = the_case["expect"].object("expect");
  check.equal("expect.emitted", expect["emitted"].indices(), block);
  check.equal("expect.committed", expect["committed"].index(), got.emitted);
  check.equal("expect.accepted", expect["accepted"].index(), got.accepted);
  check.equal("expect.cache_rows", expect["cache_rows"].index(), got.cache_rows);
  check.equal("expect.bonus_emitted", expect["bonus_emitted"].flag(), got.bonus_emitted);
  check.equal("expect.finish", expect["finish"].text(), std::string(name(got.reason)));
}

}  // namespace conformance
