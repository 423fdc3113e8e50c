// text_splitter: PCRE2 behind RAII.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text_splitter.hpp"

#include <pcre2.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "error.hpp"
#include "utf8.hpp"

namespace llm {
namespace {

// Unicode White_Space, as the inside of a character class.
constexpr std::string_view white_space =
    R"(\x09-\x0d\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

constexpr std::size_t first_stack = std::size_t{32} << 10;
constexpr std::size_t most_stack = std::size_t{16} << 20;

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* held) const {
    Free(held);
  }
};

using code_ptr = std::unique_ptr<pcre2_code, freed_by<pcre2_code_free>>;
using match_ptr = std::unique_ptr<pcre2_match_data, freed_by<pcre2_match_data_free>>;
using context_ptr = std::unique_ptr<pcre2_match_context, freed_by<pcre2_match_context_free>>;
using stack_ptr = std::unique_ptr<pcre2_jit_stack, freed_by<pcre2_jit_stack_free>>;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 200> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<char const*>(text.data());
}

/// Returns `pattern` with \s and \S spelt out. `\S` inside a class cannot be and is an error.
std::string spell_out_space(std::string_view pattern, std::string const& where) {
  std::string spelt;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    char const c = pattern[i];
    if (c != '\\' || i + 1 == pattern.size()) {
      if (c == '[') in_class = true;
      if (c == ']') in_class = false;
      spelt += c;
      continue;
    }
    char const next = pattern[++i];
    if (next == 's') {
      spelt += in_class ? std::string(white_space) : fmt::format("[{}]", white_space);
    } else if (next == 'S' && !in_class) {
      spelt += fmt::format("[^{}]", white_space);
    } else if (next == 'S') {
      throw make_error("{} is {}, but \\S inside a class is not supported", where,
                       in_quotes(pattern, 200));
    } else {
      spelt += c;
      spelt += next;
    }
  }
  return spelt;
}

/// What one call of split() needs and another thread must not share.
struct scratch {
  explicit scratch(pcre2_code const* code)
      : match(pcre2_match_data_create_from_pattern(code, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        stack(pcre2_jit_stack_create(first_stack, most_stack, nullptr)) {
    if (!match || !context) throw make_error("out of memory while splitting text");
    if (stack) pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }
  match_ptr match;
  context_ptr context;
  stack_ptr stack;
};

}  // namespace

struct text_splitter::program {
  code_ptr code;
};

text_splitter::text_splitter(std::string_view pattern, std::string const& where) {
  std::string const spelt = spell_out_space(pattern, where);
  int failure = 0;
  PCRE2_SIZE offset = 0;
  code_ptr code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelt.data()), spelt.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &failure, &offset,
                              nullptr));
  if (!code) {
    throw make_error("{} is {}, not a regular expression this program can run: {}", where,
                     in_quotes(pattern, 200), message_of(failure));
  }
  // Where there is no just-in-time compiler the interpreter gives the same matches.
  (void)pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
  program_ = std::make_unique<program const>(program{std::move(code)});
}

text_splitter::text_splitter(text_splitter&&) noexcept = default;
text_splitter& text_splitter::operator=(text_splitter&&) noexcept = default;
text_splitter::~text_splitter() = default;

std::vector<std::string_view> text_splitter::split(std::string_view text) const {
  scratch const own(program_->code.get());
  std::vector<std::string_view> pieces;
  std::size_t covered = 0;
  for (std::size_t from = 0; from < text.size();) {
    int const found =
        pcre2_match(program_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                    from, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, own.match.get(), own.context.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      throw make_error("text: the tokenizer's pattern gave up at byte {}: {}; give a shorter text",
                       from, message_of(found));
    }
    PCRE2_SIZE const* const range = pcre2_get_ovector_pointer(own.match.get());
    if (range[0] > covered) pieces.push_back(text.substr(covered, range[0] - covered));
    // \K can make a match begin before where it was looked for, or end there.
    if (range[0] < covered || range[1] <= from) {
      throw make_error("text: the tokenizer's pattern does not advance at byte {}", from);
    }
    pieces.push_back(text.substr(range[0], range[1] - range[0]));
    covered = from = range[1];
  }
  if (covered < text.size()) pieces.push_back(text.substr(covered));
  return pieces;
}

}  // namespace llm
