#include "decode_flags.hpp"

#include <csignal>

namespace cli {

namespace {

// A signal handler can reach nothing else.
std::atomic<bool> interrupt_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_interrupt(int signal) {
  interrupt_flag.store(true);
  std::signal(signal, SIG_DFL);
}

}  // namespace

void add_decode_flags(CLI::App& command, llm::decode_options& options, int& threads) {
  command.add_option("--temperature", options.temperature, "0 is greedy, 1 the target's own law")
      ->capture_default_str()
      ->group("Decoding");
  command
      .add_option("--seed", options.seed, "With `predraw` a seed names a text, whatever the tree")
      ->capture_default_str()
      ->group("Decoding");
  command.add_option("--max-tokens", options.max_tokens, "New tokens at most")
      ->capture_default_str()
      ->group("Decoding");
  command.add_option("--threads", threads, "Threads; they never change a result")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->group("Decoding");
}

names_of<llm::method> method_names() {
  names_of<llm::method> names;
  for (auto const m : llm::all_methods) names.emplace(llm::name(m), m);
  return names;
}

names_of<llm::verifier> verifier_names() {
  names_of<llm::verifier> names;
  for (auto const v : llm::all_verifiers) names.emplace(llm::name(v), v);
  return names;
}

nlohmann::ordered_json seconds_json(llm::stage_seconds const& seconds) {
  return {{"prefill", seconds.prefill}, {"draft", seconds.draft},   {"build", seconds.build},
          {"target", seconds.target},   {"verify", seconds.verify}, {"commit", seconds.commit}};
}

std::atomic<bool> const& interrupted() { return interrupt_flag; }

void catch_interrupts() { std::signal(SIGINT, on_interrupt); }

}  // namespace cli
