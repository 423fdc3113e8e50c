// tev: decode text through an exact verifier of draft trees.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "compare.hpp"
#include "decode.hpp"
#include "exit_with.hpp"
#include "inspect.hpp"
#include "llm/error.hpp"
#include "tev/version.hpp"

int main(int argc, char** argv) {
  CLI::App app(
      "tev decodes text through an exact verifier of draft trees, and shows what that saves.\n"
      "Results go to standard output, everything else to standard error.");
  app.set_version_flag("--version", fmt::format("tev {}.{}.{}", TEV_VERSION_MAJOR,
                                                TEV_VERSION_MINOR, TEV_VERSION_PATCH));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  cli::add_decode(app);
  cli::add_compare(app);
  cli::add_inspect(app);
  try {
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0) throw llm::make_error("standard output cannot be written");
    return 0;
  } catch (CLI::ParseError const& failure) {
    return app.exit(failure) == 0 ? 0 : 2;
  } catch (cli::exit_with const& status) {
    return status.code;
  } catch (llm::error const& failure) {
    fmt::print(stderr, "tev: {}\n", failure.what());
  } catch (std::bad_alloc const&) {
    std::fputs("tev: out of memory: use a smaller model, budget or prompt\n", stderr);
  } catch (std::exception const& failure) {
    fmt::print(stderr, "tev: {}\n", llm::one_line(failure.what()));
  }
  return 1;
}
