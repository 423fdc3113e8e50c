#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "decode_flags.hpp"
#include "exit_with.hpp"
#include "llm/chat.hpp"
#include "llm/decoder.hpp"
#include "llm/error.hpp"
#include "llm/prompts.hpp"
#include "model_pair.hpp"
#include "progress.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/team/serial_team.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

struct compare_command {
  model_folders folders;
  std::vector<std::filesystem::path> prompts;
  std::int64_t limit = 4;
  std::vector<std::int32_t> budgets{8, 32};
  std::vector<llm::verifier> verifiers{llm::verifier::tree_exit, llm::verifier::predraw};
  llm::decode_options options;
  int threads = 1;
  bool as_json = false;
};

// One line of the table: a way of decoding, and what it took so far.
struct contender {
  llm::method how;
  llm::verifier verify;
  std::int32_t budget;

  std::int64_t tokens = 0;
  std::int64_t cycles = 0;
  std::int64_t committed = 0;
  double coverage = 0;
  std::int64_t same_text = 0;
  llm::stage_seconds seconds{};

  [[nodiscard]] double per_cycle(double sum) const {
    return cycles == 0 ? 0.0 : sum / static_cast<double>(cycles);
  }
  [[nodiscard]] double tau() const { return per_cycle(static_cast<double>(committed)); }
  [[nodiscard]] double ceiling() const { return cycles == 0 ? 0.0 : 1 + per_cycle(coverage); }
  [[nodiscard]] double tokens_per_second() const {
    return seconds.total() > 0 ? static_cast<double>(tokens) / seconds.total() : 0.0;
  }
};

// Plain sampling first: it is what the others are measured against.
std::vector<contender> contenders_of(compare_command const& command) {
  std::vector<contender> all{{llm::method::autoregressive, llm::verifier::predraw, 1}};
  for (auto const verify : command.verifiers) {
    all.push_back({llm::method::chain, verify, llm::budget_limit});
    for (auto const budget : command.budgets) all.push_back({llm::method::tree, verify, budget});
  }
  return all;
}

std::vector<std::vector<tev::token_id>> read_prompt_ids(compare_command const& command,
                                                        llm::tokenizer const& tokenizer) {
  std::vector<std::vector<tev::token_id>> ids;
  for (auto const& file : command.prompts) {
    auto const set = llm::read_prompts(file);
    auto const count = std::min(set.prompts.size(), static_cast<std::size_t>(command.limit));
    for (std::size_t i = 0; i < count; ++i) {
      llm::message const message{"user", set.prompts[i].user};
      ids.push_back(tokenizer.encode(llm::render_chat({&message, 1}, true)));
    }
  }
  return ids;
}

// The prompt's own pass drafts nothing and is no cycle.
double coverage_of(llm::cycle const& c) {
  if (c.index == 0 || c.tree.size() == 1) return 0.0;
  tev::prepare_all(tev::serial_team{}, c.rows, c.tree.size());
  return tev::exit_law_of(c.tree, c.rows).coverage;
}

std::vector<tev::token_id> decode_with(contender& row, model_pair const& models,
                                       std::vector<tev::token_id> const& prompt,
                                       llm::decode_options options, llm::thread_pool& pool) {
  options.how = row.how;
  options.verify = row.verify;
  options.budget = row.budget;
  auto const text = llm::decode(models.target, models.drafter_or_null(), prompt, options, pool,
                                [&](llm::cycle const& c) { row.coverage += coverage_of(c); });
  if (text.reason == llm::finish::failed)
    throw llm::make_error("the target's logits are {}: the checkpoint is damaged",
                          tev::name(text.failure));
  row.tokens += static_cast<std::int64_t>(text.ids.size());
  row.cycles += text.cycles();
  for (auto const n : text.acceptance) row.committed += n;
  auto& s = row.seconds;
  s.prefill += text.seconds.prefill, s.draft += text.seconds.draft, s.build += text.seconds.build;
  s.target += text.seconds.target, s.verify += text.seconds.verify;
  s.commit += text.seconds.commit;
  return text.ids;
}

std::string budget_text(contender const& row) {
  return row.how == llm::method::tree ? fmt::format("{}", row.budget) : "-";
}

void print_table(std::vector<contender> const& rows, std::int64_t prompts,
                 compare_command const& command) {
  fmt::print("{} prompts, {}, seed {}, {} thread{}\n\n", prompts,
             sampling_text(command.options.sampling), command.options.seed, command.threads,
             command.threads == 1 ? "" : "s");
  fmt::print("{:<15} {:<20} {:>6} {:>7} {:>7} {:>6} {:>6} {:>9} {:>6} {:>10}\n", "method",
             "verifier", "budget", "tokens", "cycles", "tau", "1+C_p", "tokens/s", "speed",
             "same text");
  for (auto const& row : rows)
    fmt::print("{:<15} {:<20} {:>6} {:>7} {:>7} {:>6.3f} {:>6.3f} {:>9.0f} {:>5.2f}x {:>10}\n",
               llm::name(row.how), llm::name(row.verify), budget_text(row), row.tokens, row.cycles,
               row.tau(), row.ceiling(), row.tokens_per_second(),
               row.tokens_per_second() / rows[0].tokens_per_second(),
               fmt::format("{}/{}", row.same_text, prompts));
  fmt::print(
      "\ntau: tokens committed per cycle, measured. 1+C_p: what the exit law says every exact\n"
      "verifier reaches on these very trees. same text: prompts whose text is the first row's;\n"
      "above temperature 0 only predraw promises that, the others keep its distribution.\n"
      "speed: a row costs a CPU nearly what a token of plain decoding costs, so a tree saves "
      "cycles\n"
      "here rather than seconds; where extra rows are cheap, cycles are what is paid for.\n");
}

json table_json(std::vector<contender> const& rows, std::int64_t prompts,
                compare_command const& command) {
  json lines = json::array();
  for (auto const& row : rows) {
    json const budget = row.how == llm::method::tree ? json(row.budget) : json(nullptr);
    lines.push_back({{"method", llm::name(row.how)},
                     {"verifier", llm::name(row.verify)},
                     {"budget", budget},
                     {"tokens", row.tokens},
                     {"cycles", row.cycles},
                     {"tau", row.tau()},
                     {"one_plus_coverage", row.ceiling()},
                     {"tokens_per_second", row.tokens_per_second()},
                     {"speed", row.tokens_per_second() / rows[0].tokens_per_second()},
                     {"same_text", row.same_text},
                     {"seconds", seconds_json(row.seconds)}});
  }
  json files = json::array();
  for (auto const& file : command.prompts) files.push_back(file.string());
  return {{"prompts", prompts},
          {"files", std::move(files)},
          {"temperature", command.options.sampling.temperature},
          {"top_k", command.options.sampling.top_k},
          {"top_p", command.options.sampling.top_p},
          {"min_p", command.options.sampling.min_p},
          {"seed", command.options.seed},
          {"max_tokens", command.options.max_tokens},
          {"threads", command.threads},
          {"target", command.folders.target.string()},
          {"drafter", command.folders.drafter.string()},
          {"rows", std::move(lines)}};
}

void run(compare_command command) {
  catch_interrupts();
  auto const models = load_models(command.folders, true);
  auto const prompts = read_prompt_ids(command, models.tokenizer);
  command.options.stop_ids = models.target.config().stop_ids;
  command.options.interrupt = &interrupted();
  llm::thread_pool pool(command.threads);
  auto rows = contenders_of(command);

  std::int64_t done = 0;
  {
    progress bar("prompts", static_cast<std::int64_t>(prompts.size()));
    // Caches and clocks settle on a run that does not count.
    contender warm_up = rows.front();
    decode_with(warm_up, models, prompts.front(), command.options, pool);
    for (auto const& prompt : prompts) {
      bar.show(done);
      // Draws differ from prompt to prompt, and are the same for every row of the table.
      command.options.request = static_cast<std::uint64_t>(done);
      std::vector<tev::token_id> reference;
      auto const before = rows;
      for (auto& row : rows) {
        auto const ids = decode_with(row, models, prompt, command.options, pool);
        if (&row == rows.data()) reference = ids;
        row.same_text += ids == reference ? 1 : 0;
      }
      if (interrupted()) {
        rows = before;
        break;
      }
      ++done;
    }
  }
  if (command.as_json)
    fmt::print("{}\n", table_json(rows, done, command).dump(2));
  else
    print_table(rows, done, command);
  if (interrupted()) throw exit_with{130};
}

}  // namespace

void add_compare(CLI::App& app) {
  auto const command = std::make_shared<compare_command>();
  for (auto const* const file : {"gsm8k", "math500", "humaneval", "mtbench"})
    command->prompts.push_back(bundled_folder() / "prompts" / (std::string(file) + ".jsonl"));

  auto* const sub = app.add_subcommand(
      "compare",
      "Decode one set of prompts by every method, and print what each saves.\n"
      "Example: tev compare --temperature 1 --budgets 8,32,64 --verifiers predraw");
  add_model_options(*sub, command->folders);
  sub->add_option("--prompts", command->prompts,
                  "Prompt files (.jsonl of GSM8K, MATH-500, HumanEval or MT-Bench) "
                  "[default: the four bundled ones]")
      ->group("Prompt");
  sub->add_option("--limit", command->limit, "Prompts of each file at most")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->capture_default_str()
      ->group("Prompt");
  sub->add_option("--budgets", command->budgets, "Budgets of the trees [default: 8,32]")
      ->delimiter(',')
      ->check(CLI::Range(1, static_cast<int>(llm::budget_limit)))
      ->group("Decoding");
  take_name(*sub->add_option("--verifiers", command->verifiers,
                             "Verifiers, of tree_exit, predraw, sequential_residual, greedy "
                             "[default: tree_exit,predraw]")
                 ->delimiter(',')
                 ->group("Decoding"),
            verifier_names());
  add_decode_flags(*sub, command->options, command->threads);
  sub->add_flag("--json", command->as_json, "Print one JSON object instead of the table")
      ->group("Output");
  sub->callback([command] { run(*command); });
}

}  // namespace cli
