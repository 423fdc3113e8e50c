#include "decode.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "decode_flags.hpp"
#include "exit_with.hpp"
#include "llm/decoder.hpp"
#include "llm/error.hpp"
#include "marked_text.hpp"
#include "model_pair.hpp"
#include "output_file.hpp"
#include "picture.hpp"
#include "prompt_source.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/version.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

struct decode_command {
  model_folders folders;
  prompt_source source;
  llm::decode_options options;
  int threads = 1;
  bool as_json = false;
  std::optional<marks> style;
  std::filesystem::path trace;
  std::filesystem::path picture;
  std::int64_t picture_cycle = 1;
};

tev::exit_law<double> law_of(llm::cycle const& c) {
  tev::prepare_all(tev::serial_team{}, c.rows, c.tree.size());
  return tev::exit_law_of(c.tree, c.rows);
}

json trace_line(llm::cycle const& c) {
  auto const law = law_of(c);
  return {{"cycle", c.index},
          {"position", c.root_position},
          {"parents", c.tree.parents()},
          {"tokens", c.tree.tokens()},
          {"score", c.score},
          {"reach", law.reach},
          {"exit", law.exit},
          {"coverage", law.coverage},
          {"exit_node", c.outcome.exit_node},
          {"accepted", c.outcome.accepted_length},
          {"bonus", c.outcome.bonus_token},
          {"status", tev::name(c.outcome.state)},
          {"emitted", c.emitted}};
}

std::string draw(llm::cycle const& c, tev::token_id root_token, llm::tokenizer const& tokenizer) {
  std::vector<std::string> labels{std::string(tokenizer.bytes(root_token))};
  for (tev::node_id v = 1; v < c.tree.size(); ++v)
    labels.emplace_back(tokenizer.bytes(c.tree.token(v)));
  auto const law = law_of(c);
  std::string const bonus = c.outcome.bonus_token == tev::no_token
                                ? std::string()
                                : std::string(tokenizer.bytes(c.outcome.bonus_token));
  return draw_svg(
      {c.tree, law, std::move(labels), c.outcome, bonus,
       fmt::format("cycle {}, position {}: accepted {} of {} drafted, coverage {:.2f}", c.index,
                   c.root_position, c.outcome.accepted_length, c.tree.size() - 1, law.coverage)});
}

json result_json(decode_command const& run, std::vector<tev::token_id> const& prompt,
                 llm::decoded const& text, llm::tokenizer const& tokenizer) {
  auto const& o = run.options;
  return {{"text", tokenizer.decode(text.ids, true)},
          {"ids", text.ids},
          {"acceptance", text.acceptance},
          {"tau", text.tau()},
          {"finish", llm::name(text.reason)},
          {"seconds", seconds_json(text.seconds)},
          {"tokens_per_second", text.tokens_per_second()},
          {"prompt_ids", prompt},
          {"method", llm::name(o.how)},
          {"verifier", llm::name(o.verify)},
          {"budget", o.budget},
          {"temperature", o.sampling.temperature},
          {"top_k", o.sampling.top_k},
          {"top_p", o.sampling.top_p},
          {"min_p", o.sampling.min_p},
          {"seed", o.seed},
          {"request", o.request},
          {"max_tokens", o.max_tokens},
          {"stop_ids", o.stop_ids},
          {"threads", run.threads},
          {"target", run.folders.target.string()},
          {"drafter", o.how == llm::method::autoregressive ? json(nullptr)
                                                           : json(run.folders.drafter.string())},
          {"version",
           fmt::format("{}.{}.{}", TEV_VERSION_MAJOR, TEV_VERSION_MINOR, TEV_VERSION_PATCH)}};
}

void print_summary(llm::decoded const& text) {
  auto const ms = [](double seconds) { return fmt::format("{:.1f}", seconds * 1e3); };
  auto const& s = text.seconds;
  fmt::print(stderr, "\n{} tokens in {} cycles, block length tau {:.2f}, finish: {}\n",
             text.ids.size(), text.cycles(), text.tau(), llm::name(text.reason));
  fmt::print(
      stderr,
      "{:.0f} tokens/s; ms: prefill {}, draft {}, build {}, target {}, verify {}, commit {}\n",
      text.tokens_per_second(), ms(s.prefill), ms(s.draft), ms(s.build), ms(s.target), ms(s.verify),
      ms(s.commit));
}

void run(decode_command command) {
  catch_interrupts();
  auto& options = command.options;
  bool const drafting = options.how != llm::method::autoregressive;
  auto const models = load_models(command.folders, drafting);
  auto const prompt = read_prompt(command.source, models.tokenizer);
  options.stop_ids = models.target.config().stop_ids;
  options.interrupt = &interrupted();

  std::unique_ptr<output_file> trace, picture;
  if (!command.trace.empty()) trace = std::make_unique<output_file>(command.trace);
  if (!command.picture.empty()) picture = std::make_unique<output_file>(command.picture);

  marks const style =
      command.style.value_or(isatty(STDOUT_FILENO) != 0 ? marks::colour : marks::none);
  marked_text out(models.tokenizer, style, stdout);
  tev::token_id last = prompt.back();
  bool drawn = false;
  llm::thread_pool pool(command.threads);
  auto const text = llm::decode(models.target, models.drafter_or_null(), prompt, options, pool,
                                [&](llm::cycle const& c) {
                                  if (trace) trace->write(trace_line(c).dump() + "\n");
                                  if (picture && c.index == command.picture_cycle) {
                                    picture->write(draw(c, last, models.tokenizer));
                                    drawn = true;
                                  }
                                  if (!command.as_json)
                                    for (std::size_t i = 0; i < c.emitted.size(); ++i)
                                      out.push(c.emitted[i], std::cmp_less(i, c.drafted));
                                  if (!c.emitted.empty()) last = c.emitted.back();
                                });
  if (!command.as_json) out.finish();

  if (text.reason == llm::finish::failed)
    throw llm::make_error(
        "the target's logits at position {} are {}: the checkpoint is damaged or its numbers "
        "overflow; {} tokens were decoded before",
        prompt.size() + text.ids.size() - 1, tev::name(text.failure), text.ids.size());
  if (picture && !drawn)
    throw llm::make_error("--picture-cycle is {} and the text took {} cycles: give one of them",
                          command.picture_cycle, text.cycles());
  if (trace) trace->commit();
  if (picture) picture->commit();
  if (command.as_json)
    fmt::print("{}\n", result_json(command, prompt, text, models.tokenizer)
                           .dump(2, ' ', false, json::error_handler_t::replace));
  else
    print_summary(text);
  if (text.reason == llm::finish::interrupted) throw exit_with{130};
}

}  // namespace

void add_decode(CLI::App& app) {
  auto const command = std::make_shared<decode_command>();
  auto* const sub = app.add_subcommand(
      "decode",
      "Continue a prompt, with the tokens marked that were drafted and accepted.\n"
      "Example: tev decode \"Why is the sky blue?\" --verifier tree_exit --temperature 1");
  add_prompt_options(*sub, command->source);
  add_model_options(*sub, command->folders);
  auto& options = command->options;
  take_name(
      *sub->add_option("--method", options.how, "autoregressive, chain or tree [default: tree]")
           ->group("Decoding"),
      method_names());
  take_name(
      *sub->add_option("--verifier", options.verify,
                       "tree_exit, predraw, sequential_residual or greedy [default: tree_exit]")
           ->group("Decoding"),
      verifier_names());
  sub->add_option("--budget", options.budget, "Drafted nodes a cycle, 1 to 1024")
      ->capture_default_str()
      ->group("Decoding");
  add_decode_flags(*sub, options, command->threads);
  sub->add_option("--request", options.request, "Tells apart texts that share a seed")
      ->capture_default_str()
      ->group("Decoding");
  sub->add_flag("--json", command->as_json, "Print one JSON object instead of text")
      ->group("Output");
  take_name(*sub->add_option("--mark", command->style,
                             "Mark accepted tokens: none, colour or brackets "
                             "[default: colour on a terminal, else none]")
                 ->group("Output"),
            names_of<marks>{
                {"none", marks::none}, {"colour", marks::colour}, {"brackets", marks::brackets}});
  sub->add_option("--trace", command->trace, "Write one JSON line per cycle to a file")
      ->group("Output");
  sub->add_option("--picture", command->picture, "Draw the tree of one cycle to an SVG file")
      ->group("Output");
  sub->add_option("--picture-cycle", command->picture_cycle, "Which cycle to draw")
      ->capture_default_str()
      ->group("Output");
  sub->callback([command] { run(*command); });
}

}  // namespace cli
