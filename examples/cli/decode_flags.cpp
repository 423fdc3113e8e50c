#include "decode_flags.hpp"

#include <fmt/format.h>

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
  auto& sampling = options.sampling;
  command.add_option("--temperature", sampling.temperature, "0 is greedy, 1 the target's own law")
      ->capture_default_str()
      ->group("Decoding");
  command.add_option("--top-k", sampling.top_k, "Keep the k most probable tokens; 0: all")
      ->capture_default_str()
      ->group("Decoding");
  command
      .add_option("--top-p", sampling.top_p,
                  "Keep the least set of best tokens whose probability reaches this; 1: all")
      ->capture_default_str()
      ->group("Decoding");
  command
      .add_option("--min-p", sampling.min_p,
                  "Keep tokens of at least this share of the best one's probability; 0: all")
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

std::string sampling_text(tev::sampling_parameters const& sampling) {
  std::string text = fmt::format("temperature {}", sampling.temperature);
  if (sampling.top_k > 0) text += fmt::format(", top-k {}", sampling.top_k);
  if (sampling.top_p < 1.0f) text += fmt::format(", top-p {}", sampling.top_p);
  if (sampling.min_p > 0.0f) text += fmt::format(", min-p {}", sampling.min_p);
  return text;
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
