// The bundled checkpoints and held-out prompts, for tests that decode real text.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "llm/chat.hpp"
#include "llm/decoder.hpp"
#include "llm/drafter.hpp"
#include "llm/prompts.hpp"
#include "llm/target.hpp"
#include "llm/tokenizer.hpp"
#include "tev/core/types.hpp"

namespace tev::test {

inline std::filesystem::path bundled_folder() {
  return std::filesystem::path(TEV_SOURCE_DIR) / "examples" / "models" / "tiny";
}

/// The target with its three drafters, and the prompts' ids, the four families interleaved.
struct bundled_models {
  llm::target target = llm::target::load(bundled_folder() / "tiny-qwen3");
  llm::tokenizer tokenizer = llm::tokenizer::open(bundled_folder() / "tiny-qwen3");
  llm::drafter base = llm::drafter::load(bundled_folder() / "tiny-dflash", target);
  llm::drafter token = llm::drafter::load(bundled_folder() / "tiny-dflash-token", target);
  llm::drafter exit = llm::drafter::load(bundled_folder() / "tiny-dflash-exit", target);

  [[nodiscard]] std::vector<std::vector<token_id>> prompts() const {
    std::vector<std::vector<std::vector<token_id>>> families;
    for (auto const* const file : {"gsm8k", "math500", "humaneval", "mtbench"}) {
      auto& ids = families.emplace_back();
      auto const path = bundled_folder() / "prompts" / (std::string(file) + ".jsonl");
      for (auto const& prompt : llm::read_prompts(path).prompts) {
        llm::message const message{"user", prompt.user};
        ids.push_back(tokenizer.encode(llm::render_chat({&message, 1}, true)));
      }
    }
    std::vector<std::vector<token_id>> all;
    for (std::size_t i = 0; i < families[0].size(); ++i)
      for (auto const& family : families)
        if (i < family.size()) all.push_back(family[i]);
    return all;
  }

  /// Options with the target's stop ids and enough tokens for every bundled answer.
  [[nodiscard]] llm::decode_options options() const {
    llm::decode_options o;
    o.max_tokens = 160;
    o.stop_ids = target.config().stop_ids;
    return o;
  }
};

/// Calls `body(index, pool)` for every index in [0, count) on all processors, each with a pool of
/// one thread; the first exception is rethrown.
template <class Body>
void for_each_index(std::size_t count, Body&& body) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  auto const work = [&] {
    llm::thread_pool pool(1);
    try {
      for (std::size_t i = next++; i < count; i = next++) body(i, pool);
    } catch (...) {
      std::scoped_lock const lock(mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    workers.emplace_back(work);
  work();
  workers.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tev::test
