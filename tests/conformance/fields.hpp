// The values of a conformance case, with a record of which fields were read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/exact.hpp"

namespace conformance {

using json = nlohmann::json;

/// A case that is not what the format says: a field that is missing or has another type.
class case_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class fields;

/// Which fields of a case's objects were read.
class audit {
 public:
  /// Of the case files called `file`: its name selects what is documented.
  explicit audit(std::string file) : file_(std::move(file)) {}

  void open(json const& object, std::string const& place, std::string_view kind);
  void read(json const& object, std::string const& key);

  /// The documented fields that are there and were not read, as places.
  [[nodiscard]] std::vector<std::string> unread() const;

  /// The number of fields that no document mentions.
  [[nodiscard]] std::size_t undocumented() const;

 private:
  struct entry {
    std::string place;
    std::string kind;
    std::set<std::string> read;
  };

  [[nodiscard]] bool documents(entry const& e, std::string const& key) const;

  std::string file_;
  std::map<json const*, entry> opened_;
};

/// One value of a case, which knows where it stands. Every reader throws `case_error` for a value
/// of another type or out of range.
class value {
 public:
  value(json const& node, std::string place, audit& log)
      : node_(&node), place_(std::move(place)), log_(&log) {}

  [[nodiscard]] std::string const& place() const { return place_; }
  [[nodiscard]] json const& node() const { return *node_; }
  [[nodiscard]] bool is_null() const { return node_->is_null(); }
  [[nodiscard]] bool is_text() const { return node_->is_string(); }

  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::int32_t index() const;  ///< An integer of 32 bits.
  [[nodiscard]] std::uint64_t mass() const;  ///< An integer in [0, 2^64).
  [[nodiscard]] bool flag() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] double real() const;      ///< A number, or "inf", "-inf", "nan".
  [[nodiscard]] float single() const;     ///< The same, rounded to the nearest float.
  [[nodiscard]] rational exact() const;   ///< A string "num/den".
  [[nodiscard]] quantity number() const;  ///< Either an exact fraction or a finite number.

  [[nodiscard]] std::vector<value> items() const;
  [[nodiscard]] std::vector<std::int32_t> indices() const;
  [[nodiscard]] std::vector<std::int64_t> integers() const;
  [[nodiscard]] std::vector<std::uint32_t> words() const;
  [[nodiscard]] std::vector<float> singles() const;
  [[nodiscard]] std::vector<std::string> texts() const;
  [[nodiscard]] std::vector<quantity> numbers() const;

  /// The object that this value is; `kind` selects the fields that are documented for it.
  [[nodiscard]] fields object(std::string_view kind) const;

 private:
  [[noreturn]] void wrong(std::string const& need) const;

  json const* node_;
  std::string place_;
  audit* log_;
};

/// One object of a case.
class fields {
 public:
  fields(json const& object, std::string place, audit& log)
      : object_(&object), place_(std::move(place)), log_(&log) {}

  /// Whether there is such a field; looking does not read it.
  [[nodiscard]] bool has(std::string const& key) const { return object_->contains(key); }

  /// The names of all fields, which does not read them.
  [[nodiscard]] std::vector<std::string> keys() const;

  /// The field, which has to be there; throws `case_error` otherwise.
  [[nodiscard]] value operator[](std::string const& key) const;

  /// The field where it is there.
  [[nodiscard]] std::optional<value> find(std::string const& key) const;

 private:
  [[nodiscard]] std::string place_of(std::string const& key) const {
    return place_.empty() ? key : place_ + "." + key;
  }

  json const* object_;
  std::string place_;
  audit* log_;
};

}  // namespace conformance
