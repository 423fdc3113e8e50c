// tokenizer: the byte-level byte-pair encoding of a tokenizer.json, in both directions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tev/core/types.hpp"

namespace llm {

/// A tokenizer as Hugging Face's library computes it: added tokens are split out of the text
/// first, the rest is composed (NFC), cut by a regular expression, and merged byte by byte.
///
/// Cheap to copy: copies share what they read. All functions may be called from several threads.
class tokenizer {
 public:
  /// Reads `path`, a tokenizer.json or the folder it is in.
  ///
  /// Throws `error` naming the field when the file is missing, malformed, inconsistent (a merge of
  /// unknown tokens, an id used twice, a byte without a token) or uses what is not supported:
  /// another model than byte-level BPE, `byte_fallback`, `ignore_merges`, dropout, prefix spaces,
  /// added tokens that strip their neighbours, truncation, templates that add tokens.
  [[nodiscard]] static tokenizer open(std::filesystem::path const& path);

  /// Returns the ids of `text`. Added tokens in it, special ones too, become their ids; nothing
  /// else is added. Throws `error` with the byte offset where `text` is not valid UTF-8.
  /// O(n log n) in bytes.
  [[nodiscard]] std::vector<tev::token_id> encode(std::string_view text) const;

  /// Returns the text of `ids`, ill-formed UTF-8 replaced by U+FFFD. An id without a token gives
  /// nothing: an embedding table may have more rows. `skip_special` leaves special tokens out.
  [[nodiscard]] std::string decode(std::span<tev::token_id const> ids,
                                   bool skip_special = false) const;

  /// Returns the bytes of one token, which need not be valid UTF-8 alone; none for an id without
  /// a token. They live as long as any copy of this tokenizer.
  [[nodiscard]] std::string_view bytes(tev::token_id id) const;

  [[nodiscard]] bool is_special(tev::token_id id) const;

  /// Returns the id of an added token, e.g. "<|im_end|>".
  [[nodiscard]] std::optional<tev::token_id> added_id(std::string_view content) const;

  /// Returns the number of tokens.
  [[nodiscard]] std::int64_t size() const;

  /// Returns one more than the largest id: a model needs at least this many embedding rows.
  [[nodiscard]] std::int64_t id_end() const;

 private:
  struct tables;
  explicit tokenizer(std::shared_ptr<tables const> read);
  std::shared_ptr<tables const> tables_;
};

/// Turns ids into text as they arrive: what it returns is always valid UTF-8, and all returned
/// pieces joined equal `tokenizer::decode` of all ids.
class stream_decoder {
 public:
  explicit stream_decoder(tokenizer source, bool skip_special = false)
      : tokenizer_(std::move(source)), skip_special_(skip_special) {}

  /// Returns the text that `id` completes; empty while a character is incomplete.
  [[nodiscard]] std::string push(tev::token_id id);

  /// Returns what is still incomplete, as U+FFFD, and starts anew.
  [[nodiscard]] std::string finish();

 private:
  tokenizer tokenizer_;
  bool skip_special_;
  std::string pending_;
};

}  // namespace llm
