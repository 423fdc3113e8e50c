// Lossless means the same text: a draft tree changes how fast a text comes, never which.
//
//   lossless [--all | --prompts N]
//
// Temperature 0: chain and trees of every budget with every verifier against plain decoding.
// Temperature 0.6 and 1: predraw with every drafter, method and budget against plain sampling with
// the same seed. Prints each difference and a closing count; exits with 1 if there is any.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/bundled.hpp"

namespace {

using tev::token_id;

constexpr std::array budgets{1, 2, 8, 32, 64};

struct named_drafter {
  char const* name;
  llm::drafter const* model;
};

struct way {
  named_drafter drafter;
  llm::method how;
  llm::verifier verify;
  int budget;
};

std::vector<way> ways_with(named_drafter drafter, llm::verifier verify) {
  std::vector<way> all{{drafter, llm::method::chain, verify, llm::budget_limit}};
  for (int const budget : budgets) all.push_back({drafter, llm::method::tree, verify, budget});
  return all;
}

std::string text_of(tev::sampling_parameters const& s) {
  return fmt::format("temperature {}, top-k {}, top-p {}, min-p {}", s.temperature, s.top_k,
                     s.top_p, s.min_p);
}

class comparison {
 public:
  comparison(tev::test::bundled_models const& models, std::vector<std::vector<token_id>> prompts)
      : models_(models), prompts_(std::move(prompts)) {}

  // Every way of decoding against plain decoding, prompt by prompt.
  void compare(tev::sampling_parameters const& sampling, std::vector<way> const& ways) {
    std::size_t const before = texts_;
    tev::test::for_each_index(prompts_.size(), [&](std::size_t i, llm::thread_pool& pool) {
      auto options = models_.options();
      options.sampling = sampling;
      options.seed = 20260101;
      options.request = i;
      options.how = llm::method::autoregressive;
      options.verify = llm::verifier::predraw;
      auto const plain = llm::decode(models_.target, nullptr, prompts_[i], options, pool);
      for (auto const& w : ways) {
        options.how = w.how;
        options.verify = w.verify;
        options.budget = w.budget;
        auto const text = llm::decode(models_.target, w.drafter.model, prompts_[i], options, pool);
        ++texts_;
        tokens_ += text.ids.size();
        if (text.ids != plain.ids || text.reason != plain.reason) report(i, sampling, w);
      }
    });
    fmt::print("{}: {} prompts, {} ways, {} texts\n", text_of(sampling), prompts_.size(),
               ways.size(), texts_ - before);
    std::fflush(stdout);
  }

  // The line that test runners read.
  int close() const {
    fmt::print("{} tokens compared\n{} passed, {} failed\n", tokens_.load(),
               texts_.load() - differences_.load(), differences_.load());
    return differences_ == 0 && texts_ > 0 ? 0 : 1;
  }

 private:
  void report(std::size_t prompt, tev::sampling_parameters const& sampling, way const& w) {
    ++differences_;
    std::scoped_lock const lock(mutex_);
    fmt::print("DIFFERS: prompt {}, {}, drafter {}, {}, {}, budget {}\n", prompt, text_of(sampling),
               w.drafter.name, llm::name(w.how), llm::name(w.verify), w.budget);
  }

  tev::test::bundled_models const& models_;
  std::vector<std::vector<token_id>> prompts_;
  std::mutex mutex_;
  std::atomic<std::size_t> texts_ = 0, tokens_ = 0, differences_ = 0;
};

// 16 prompts, four of each family, unless told otherwise; 0 for a bad command line.
std::size_t prompts_wanted(std::span<char* const> arguments, std::size_t available) {
  if (arguments.empty()) return 16;
  std::string_view const first = arguments[0];
  if (first == "--all" && arguments.size() == 1) return available;
  std::size_t count = 0;
  if (first == "--prompts" && arguments.size() == 2)
    std::from_chars(arguments[1], arguments[1] + std::strlen(arguments[1]), count);
  return std::min(count, available);
}

int run(std::span<char* const> arguments) {
  tev::test::bundled_models const models;
  auto prompts = models.prompts();
  std::size_t const count = prompts_wanted(arguments, prompts.size());
  if (count == 0) {
    std::fputs("usage: lossless [--all | --prompts N], N at least 1\n", stderr);
    return 2;
  }
  prompts.resize(count);
  comparison texts(models, std::move(prompts));

  named_drafter const base{"tiny-dflash", &models.base};
  std::vector<way> every_verifier, every_drafter;
  for (auto const verify : llm::all_verifiers)
    for (auto const& w : ways_with(base, verify)) every_verifier.push_back(w);
  for (auto const& drafter : {base, named_drafter{"tiny-dflash-token", &models.token},
                              named_drafter{"tiny-dflash-exit", &models.exit}})
    for (auto const& w : ways_with(drafter, llm::verifier::predraw)) every_drafter.push_back(w);

  texts.compare({.temperature = 0.0f}, every_verifier);
  texts.compare({.temperature = 0.6f}, every_drafter);
  texts.compare({.temperature = 1.0f}, every_drafter);
  texts.compare({.temperature = 0.8f, .top_k = 20, .top_p = 0.95f, .min_p = 0.01f}, every_drafter);
  return texts.close();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  } catch (std::exception const& failure) {
    fmt::print(stderr, "lossless: {}\n", failure.what());
    return 1;
  }
}
