// tokenizer: reading tokenizer.json, encoding and decoding.
#include "tokenizer.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "byte_alphabet.hpp"
#include "byte_pairs.hpp"
#include "error.hpp"
#include "json_file.hpp"
#include "text_splitter.hpp"
#include "utf8.hpp"

namespace llm {
namespace {

using tev::token_id;

constexpr json_limits tokenizer_limits{std::uintmax_t{64} << 20, 32};
constexpr std::size_t most_added_tokens = 16384;

/// Refuses each of `keys` that is there and neither null, false, 0 nor "".
void require_default(json_field const& object, std::initializer_list<std::string_view> keys) {
  for (std::string_view const key : keys) {
    auto const field = object.find(key);
    if (!field) continue;
    nlohmann::json const& value = field->raw();
    if (value != false && value != 0 && value != "") {
      field->refuse("only its default (absent, null, false, 0 or empty) is supported");
    }
  }
}

void require_type(json_field const& object, std::string_view wanted) {
  json_field const type = object.at("type");
  if (type.text() != wanted) type.refuse(fmt::format("only \"{}\" is supported", wanted));
}

void require_byte_level(json_field const& part) {
  require_type(part, "ByteLevel");
  require_default(part, {"add_prefix_space"});
}

/// Returns whether text is to be composed: the normalizer is NFC or none.
bool reads_composed(json_field const& root) {
  auto const normalizer = root.find("normalizer");
  if (!normalizer) return false;
  require_type(*normalizer, "NFC");
  return true;
}

/// Reads the pre-tokenizer, [Split by a pattern, ByteLevel], and returns its splitter.
text_splitter read_splitter(json_field const& root) {
  json_field const sequence = root.at("pre_tokenizer");
  require_type(sequence, "Sequence");
  auto const parts = sequence.at("pretokenizers").elements(2, 2);
  require_type(parts[0], "Split");
  json_field const behavior = parts[0].at("behavior");
  if (behavior.text() != "Isolated") behavior.refuse("only \"Isolated\" is supported");
  require_default(parts[0], {"invert"});
  require_byte_level(parts[1]);
  json_field const own_pattern = parts[1].at("use_regex");
  if (own_pattern.boolean()) own_pattern.refuse("only false is supported: Split cuts the text");
  json_field const pattern = parts[0].at("pattern").at("Regex");
  return {pattern.text(), fmt::format("{}: field {}", pattern.file(), pattern.path())};
}

/// Returns the two tokens of a merge, written as ["a", "b"] or as "a b". `field` gives its place.
template <class Field>
std::pair<std::string, std::string> both_of(nlohmann::json const& merge, Field const& field) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  }
  if (merge.is_array()) {
    for (json_field const& token : field().elements(2, 2)) (void)token.text();
  }
  std::string const& both = field().text();
  auto const space = both.find(' ');
  if (space == std::string::npos || both.find(' ', space + 1) != std::string::npos) {
    field().refuse("two tokens with one space between them are needed");
  }
  return {both.substr(0, space), both.substr(space + 1)};
}

std::string utf8_letter(char32_t letter) {
  if (letter < 0x80) return {static_cast<char>(letter)};
  return {static_cast<char>(0xc0U | letter >> 6), static_cast<char>(0x80U | (letter & 0x3fU))};
}

}  // namespace

struct tokenizer::tables {
  struct token {
    std::string bytes;
    bool special = false;
  };
  struct added {
    std::string content;
    token_id id;
  };

  explicit tables(json_field const& root);
  void read_vocab(json_field const& vocab);
  void read_merges(json_field const& merges);
  void read_added(json_field const& list);
  void encode_plain(std::string_view text, std::vector<token_id>& ids) const;
  [[nodiscard]] added const* added_at(std::string_view text) const;

  bool compose;
  text_splitter splitter;
  std::unordered_map<std::string, token_id> vocab_ids;
  std::unordered_map<token_id, token> tokens;
  std::array<token_id, 256> byte_ids{};
  byte_pairs pairs;
  /// By first byte, the longest first.
  std::array<std::vector<added>, 256> added_by_byte;
  token_id largest = -1;
};

tokenizer::tables::tables(json_field const& root)
    : compose(reads_composed(root)), splitter(read_splitter(root)) {
  require_default(root, {"truncation", "padding"});
  if (auto const post = root.find("post_processor")) require_byte_level(*post);
  require_byte_level(root.at("decoder"));
  json_field const model = root.at("model");
  require_type(model, "BPE");
  require_default(model, {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                          "fuse_unk", "byte_fallback", "ignore_merges"});
  read_vocab(model.at("vocab"));
  read_merges(model.at("merges"));
  read_added(root.at("added_tokens"));
}

void tokenizer::tables::read_vocab(json_field const& vocab) {
  if (!vocab.is_object()) vocab.refuse("an object from token to id is needed");
  vocab_ids.reserve(vocab.raw().size());
  tokens.reserve(vocab.raw().size());
  for (auto const& item : vocab.raw().items()) {
    std::string const& content = item.key();
    auto const field = [&] { return vocab.at(content); };
    if (!item.value().is_number_integer()) field().refuse("a token's id is needed");
    auto const value = item.value().get<std::int64_t>();
    if (value < 0 || value >= tev::vocab_limit) (void)field().integer(0, tev::vocab_limit - 1);
    auto const id = static_cast<token_id>(value);
    auto bytes = bytes_of_letters(content);
    if (!tokens.try_emplace(id, token{bytes ? *std::move(bytes) : content, false}).second) {
      field().refuse("another token has this id");
    }
    vocab_ids.emplace(content, id);
    largest = std::max(largest, id);
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string const letter = utf8_letter(letter_of_byte(static_cast<std::uint8_t>(byte)));
    auto const found = vocab_ids.find(letter);
    if (found == vocab_ids.end()) {
      vocab.refuse(fmt::format("the token {} of byte {} is missing", in_quotes(letter), byte));
    }
    byte_ids[byte] = found->second;
  }
}

void tokenizer::tables::read_merges(json_field const& merges) {
  if (!merges.is_array()) merges.refuse("an array of merges is needed");
  for (std::size_t i = 0; i < merges.raw().size(); ++i) {
    nlohmann::json const& merge = merges.raw()[i];
    // Made for messages alone: there are as many merges as tokens.
    auto const field = [&] {
      return json_field(merges.file(), merge, fmt::format("{}[{}]", merges.path(), i));
    };
    auto const id_of = [&](std::string const& content) {
      auto const found = vocab_ids.find(content);
      if (found != vocab_ids.end()) return found->second;
      throw make_error("{}: field {} needs the token {}, which model.vocab does not have",
                       merges.file(), field().path(), in_quotes(content));
    };
    auto const [left, right] = both_of(merge, field);
    if (!pairs.add(id_of(left), id_of(right), id_of(left + right))) {
      field().refuse("the same pair is merged earlier");
    }
  }
}

void tokenizer::tables::read_added(json_field const& list) {
  for (json_field const& element : list.elements(0, most_added_tokens)) {
    json_field const content = element.at("content");
    if (content.text().empty()) content.refuse("a token of at least one byte is needed");
    require_default(element, {"single_word", "lstrip", "rstrip", "normalized"});
    json_field const id_field = element.at("id");
    auto const id = static_cast<token_id>(id_field.integer(0, tev::vocab_limit - 1));
    bool const special = element.at("special").boolean();
    auto bytes = bytes_of_letters(content.text());
    auto const [place, fresh] =
        tokens.try_emplace(id, token{bytes ? *std::move(bytes) : content.text(), special});
    auto const known = vocab_ids.find(content.text());
    bool const same = known != vocab_ids.end() && known->second == id;
    if (!fresh && !same) id_field.refuse("another token has this id");
    if (known != vocab_ids.end() && !same) {
      id_field.refuse(fmt::format("model.vocab gives this token the id {}", known->second));
    }
    place->second.special = special;
    if (added_at(content.text()) != nullptr &&
        added_at(content.text())->content == content.text()) {
      content.refuse("the same token is added earlier");
    }
    auto& beside = added_by_byte[static_cast<unsigned char>(content.text()[0])];
    auto const shorter = std::find_if(beside.begin(), beside.end(), [&](added const& other) {
      return other.content.size() < content.text().size();
    });
    beside.insert(shorter, added{content.text(), id});
    largest = std::max(largest, id);
  }
}

tokenizer::tables::added const* tokenizer::tables::added_at(std::string_view text) const {
  for (added const& known : added_by_byte[static_cast<unsigned char>(text[0])]) {
    if (text.starts_with(known.content)) return &known;
  }
  return nullptr;
}

void tokenizer::tables::encode_plain(std::string_view text, std::vector<token_id>& ids) const {
  if (text.empty()) return;
  std::string const composed = compose ? to_nfc(text) : std::string(text);
  std::vector<token_id> symbols;
  for (std::string_view const piece : splitter.split(composed)) {
    symbols.clear();
    for (char const c : piece) symbols.push_back(byte_ids[static_cast<unsigned char>(c)]);
    pairs.merge(symbols, ids);
  }
}

tokenizer::tokenizer(std::shared_ptr<tables const> read) : tables_(std::move(read)) {}

tokenizer tokenizer::open(std::filesystem::path const& path) {
  std::filesystem::path const file =
      std::filesystem::is_directory(path) ? path / "tokenizer.json" : path;
  json_file const parsed = json_file::read(file, tokenizer_limits);
  return tokenizer(std::make_shared<tables const>(parsed.root()));
}

std::vector<token_id> tokenizer::encode(std::string_view text) const {
  if (auto const offset = first_ill_formed(text)) {
    throw make_error("text: byte {} (0x{:02x}) is not valid UTF-8; give UTF-8 text", *offset,
                     static_cast<unsigned>(static_cast<unsigned char>(text[*offset])));
  }
  std::vector<token_id> ids;
  std::size_t plain = 0;
  for (std::size_t at = 0; at < text.size();) {
    auto const* const token = tables_->added_at(text.substr(at));
    if (token == nullptr) {
      ++at;
      continue;
    }
    tables_->encode_plain(text.substr(plain, at - plain), ids);
    ids.push_back(token->id);
    at += token->content.size();
    plain = at;
  }
  tables_->encode_plain(text.substr(plain), ids);
  return ids;
}

std::string tokenizer::decode(std::span<token_id const> ids, bool skip_special) const {
  std::string joined;
  for (token_id const id : ids) {
    if (!(skip_special && is_special(id))) joined += bytes(id);
  }
  return replace_ill_formed(joined);
}

std::string_view tokenizer::bytes(token_id id) const {
  auto const found = tables_->tokens.find(id);
  return found == tables_->tokens.end() ? std::string_view() : found->second.bytes;
}

bool tokenizer::is_special(token_id id) const {
  auto const found = tables_->tokens.find(id);
  return found != tables_->tokens.end() && found->second.special;
}

std::optional<token_id> tokenizer::added_id(std::string_view content) const {
  if (content.empty()) return std::nullopt;
  for (auto const& token : tables_->added_by_byte[static_cast<unsigned char>(content[0])]) {
    if (token.content == content) return token.id;
  }
  return std::nullopt;
}

std::int64_t tokenizer::size() const { return static_cast<std::int64_t>(tables_->tokens.size()); }
std::int64_t tokenizer::id_end() const { return std::int64_t{tables_->largest} + 1; }

std::string stream_decoder::push(token_id id) {
  if (skip_special_ && tokenizer_.is_special(id)) return {};
  pending_ += tokenizer_.bytes(id);
  std::string text;
  pending_ = std::string(append_decided(pending_, text));
  return text;
}

std::string stream_decoder::finish() {
  std::string const text = replace_ill_formed(pending_);
  pending_.clear();
  return text;
}

}  // namespace llm
