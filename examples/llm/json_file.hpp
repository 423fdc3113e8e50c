// json_file: a JSON document whose accessors say which file and field is wrong, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llm {

/// What a document may cost before it is refused.
struct json_limits {
  std::uintmax_t bytes = std::uintmax_t{16} << 20;
  int depth = 32;
};

/// One value of a `json_file`, with the path that leads to it. Valid as long as the file lives.
///
/// Every accessor throws `error` with one line: file, field, what was expected, what was found.
class json_field {
 public:
  json_field(std::string const& file, nlohmann::json const& value, std::string path)
      : file_(&file), value_(&value), path_(std::move(path)) {}

  /// Returns the member `key`; a missing member is an error. null counts as present.
  [[nodiscard]] json_field at(std::string_view key) const;

  /// Returns the member `key`, or nothing when it is missing or null.
  [[nodiscard]] std::optional<json_field> find(std::string_view key) const;

  /// Returns the whole number, which must lie in [least, most].
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;

  /// Returns the number, which must lie in [least, most].
  [[nodiscard]] double number(double least, double most) const;

  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string const& text() const;

  /// Returns the elements of an array with [least, most] elements.
  [[nodiscard]] std::vector<json_field> elements(std::size_t least, std::size_t most) const;

  /// Returns the keys of an object in ascending order.
  [[nodiscard]] std::vector<std::string> keys() const;

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_text() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_object() const;

  /// Throws `error`: "FILE: field PATH is FOUND, but EXPECTED".
  [[noreturn]] void refuse(std::string_view expected) const;

  /// The value itself, for loops over many elements.
  [[nodiscard]] nlohmann::json const& raw() const { return *value_; }
  [[nodiscard]] std::string const& file() const { return *file_; }
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string const* file_;
  nlohmann::json const* value_;
  std::string path_;
};

/// A parsed document. Duplicate keys, depth and size beyond the limits, ill-formed UTF-8 and
/// anything after the value are errors.
class json_file {
 public:
  /// Reads `file`. Throws `error` when it cannot be read or parsed.
  [[nodiscard]] static json_file read(std::filesystem::path const& file, json_limits limits = {});

  /// Parses `text`; `name` stands for the file in messages. Throws `error`.
  [[nodiscard]] static json_file parse(std::string_view text, std::string name,
                                       json_limits limits = {});

  json_file(json_file&&) noexcept;
  json_file& operator=(json_file&&) noexcept;
  ~json_file();

  /// The whole document, as a field with an empty path.
  [[nodiscard]] json_field root() const;

 private:
  struct document;
  explicit json_file(std::unique_ptr<document const> parsed);
  std::unique_ptr<document const> document_;
};

}  // namespace llm
