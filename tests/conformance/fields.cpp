// Reading of values, and the list of what the format documents.
#include "conformance/fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace conformance {

namespace {

struct documented_object {
  std::string_view file;  // Empty: of every file.
  std::string_view kind;
  std::vector<std::string_view> names;
};

// cases/README.md, field by field. A file's kinds share one list: what is documented for one kind
// and stands in a case of another is not a later addition but a mistake.
std::vector<documented_object> const documented{
    {"", "file", {"format", "file", "cases"}},
    {"", "case", {"name", "why", "kind", "expect"}},
    {"law", "case", {"vocab", "parent", "token", "mass"}},
    {"law", "expect", {"status", "reach", "rho", "exit", "coverage", "law", "greedy", "bits"}},
    {"law", "greedy", {"path", "bonus"}},
    {"logits",
     "case",
     {"vocab", "logits", "temperature", "top_k", "top_p", "min_p", "mask", "masks", "parent",
      "token"}},
    {"logits", "expect", {"status", "support", "prob", "reach", "exit", "coverage", "law"}},
    {"tree_invalid",
     "case",
     {"vocab", "parent", "token", "budget", "first_child", "next_sibling", "stride"}},
    {"tree_invalid", "expect", {"reason", "accept"}},
    {"commit",
     "case",
     {"nodes", "path", "base", "keep", "page_size", "pages", "cache", "features"}},
    {"commit", "expect", {"moves", "overlap", "length", "pages_used", "committed", "features"}},
    {"stop", "case", {"path", "bonus", "stop", "remaining"}},
    {"stop",
     "expect",
     {"emitted", "committed", "accepted", "cache_rows", "bonus_emitted", "finish"}},
    {"batch",
     "case",
     {"input", "vocab", "stride", "pad", "requests", "identical", "row", "column"}},
    {"batch", "expect", {"rows", "row_offset", "requests", "element"}},
    {"batch",
     "request",
     {"parent", "token", "mass", "logits", "temperature", "top_k", "top_p", "min_p", "masks",
      "mask"}},
    {"batch", "result", {"status", "law", "coverage", "path", "bonus", "reason"}},
    {"builder",
     "case",
     {"marginals", "budget", "budgets", "rates", "nodes", "levels", "top_k", "depth", "delta",
      "vocab", "offset", "drafted", "siblings"}},
    {"builder",
     "expect",
     {"nodes", "parent", "token", "sum", "value", "levels", "same_as_best", "best_sum", "reason"}},
    {"builder", "node", {"ranks", "tokens", "prob"}},
    {"chain", "case", {"vocab", "length", "target", "draft"}},
    {"chain", "expect", {"standard", "capped", "sequence_law"}},
    {"chain", "rule", {"accept_length", "accepted", "blocks"}},
    {"mask",
     "case",
     {"parent", "token", "base", "first_child", "next_sibling", "retrieve", "nodes", "paths"}},
    {"mask",
     "expect",
     {"visible", "words", "depth", "position", "first_child", "next_sibling", "leaves", "retrieve",
      "parent", "children", "token"}},
};

}  // namespace

void audit::open(json const& object, std::string const& place, std::string_view kind) {
  opened_.try_emplace(&object, entry{place, std::string(kind), {}});
}

void audit::read(json const& object, std::string const& key) {
  if (auto const found = opened_.find(&object); found != opened_.end())
    found->second.read.insert(key);
}

bool audit::documents(entry const& e, std::string const& key) const {
  return e.kind == "prefixes" || std::ranges::any_of(documented, [&](documented_object const& d) {
           return d.kind == e.kind && (d.file.empty() || d.file == file_) &&
                  std::ranges::find(d.names, key) != d.names.end();
         });
}

std::vector<std::string> audit::unread() const {
  std::vector<std::string> places;
  for (auto const& [object, e] : opened_)
    for (auto const& [key, unused] : object->items())
      if (documents(e, key) && !e.read.contains(key))
        places.push_back(e.place.empty() ? key : e.place + "." + key);
  std::ranges::sort(places);
  return places;
}

std::size_t audit::undocumented() const {
  std::size_t count = 0;
  for (auto const& [object, e] : opened_)
    for (auto const& [key, unused] : object->items()) count += documents(e, key) ? 0 : 1;
  return count;
}

void value::wrong(std::string const& need) const {
  std::string shown = node_->dump();
  if (shown.size() > 60) shown = shown.substr(0, 57) + "...";
  throw case_error(place_ + " is " + shown + ", needs " + need);
}

std::int64_t value::integer() const {
  std::string const need = "an integer of 64 bits";
  if (!node_->is_number_integer()) wrong(need);
  if (node_->is_number_unsigned() &&
      node_->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    wrong(need);
  return node_->get<std::int64_t>();
}

std::int32_t value::index() const {
  std::int64_t const x = node_->is_number_integer() ? integer() : (wrong("an integer"), 0);
  if (x != static_cast<std::int32_t>(x)) wrong("an integer of 32 bits");
  return static_cast<std::int32_t>(x);
}

std::uint64_t value::mass() const {
  if (!node_->is_number_unsigned()) wrong("an integer in [0, 2^64)");
  return node_->get<std::uint64_t>();
}

bool value::flag() const {
  if (!node_->is_boolean()) wrong("true or false");
  return node_->get<bool>();
}

std::string value::text() const {
  if (!node_->is_string()) wrong("a string");
  return node_->get<std::string>();
}

double value::real() const {
  if (node_->is_number()) return node_->get<double>();
  if (node_->is_string()) {
    auto const word = node_->get<std::string>();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  }
  wrong(R"(a number, "inf", "-inf" or "nan")");
}

float value::single() const {
  double const x = real();
  // From here on the nearest float is infinite, which a conversion need not say.
  if (std::abs(x) >= 0x1.ffffffp127)
    return std::copysign(std::numeric_limits<float>::infinity(),
                         static_cast<float>(x > 0 ? 1 : -1));
  return static_cast<float>(x);
}

rational value::exact() const {
  auto const digits = [](std::string_view s) {
    return !s.empty() && std::ranges::all_of(s, [](char c) { return '0' <= c && c <= '9'; });
  };
  std::string const fraction = node_->is_string() ? node_->get<std::string>() : std::string();
  std::size_t const bar = fraction.find('/');
  std::size_t const sign = fraction.starts_with('-') ? 1 : 0;
  if (bar == std::string::npos || !digits(std::string_view(fraction).substr(sign, bar - sign)) ||
      !digits(std::string_view(fraction).substr(bar + 1)))
    wrong(R"(a fraction "num/den")");
  big_integer const above(fraction.substr(sign, bar - sign)), below(fraction.substr(bar + 1));
  if (below == 0) wrong("a denominator above 0");
  rational const magnitude(above, below);
  return sign == 1 ? rational(-magnitude) : magnitude;
}

quantity value::number() const {
  if (node_->is_string()) return {exact(), 0.0};
  double const x = real();
  if (!std::isfinite(x)) wrong("a finite number");
  return {std::nullopt, x};
}

std::vector<value> value::items() const {
  if (!node_->is_array()) wrong("a list");
  std::vector<value> list;
  for (std::size_t i = 0; i < node_->size(); ++i)
    list.emplace_back((*node_)[i], place_ + "[" + std::to_string(i) + "]", *log_);
  return list;
}

namespace {

template <class Read>
auto read_all(std::vector<value> const& items, Read&& read) {
  std::vector<decltype(read(items.front()))> list;
  list.reserve(items.size());
  for (auto const& item : items) list.push_back(read(item));
  return list;
}

}  // namespace

std::vector<std::int32_t> value::indices() const {
  return read_all(items(), [](value const& v) { return v.index(); });
}

std::vector<std::int64_t> value::integers() const {
  return read_all(items(), [](value const& v) { return v.integer(); });
}

std::vector<std::uint32_t> value::words() const {
  return read_all(items(), [](value const& v) {
    std::int64_t const word = v.integer();
    if (word != static_cast<std::uint32_t>(word)) v.wrong("a word of 32 bits");
    return static_cast<std::uint32_t>(word);
  });
}

std::vector<float> value::singles() const {
  return read_all(items(), [](value const& v) { return v.single(); });
}

std::vector<std::string> value::texts() const {
  return read_all(items(), [](value const& v) { return v.text(); });
}

std::vector<quantity> value::numbers() const {
  return read_all(items(), [](value const& v) { return v.number(); });
}

fields value::object(std::string_view kind) const {
  if (!node_->is_object()) wrong("an object");
  log_->open(*node_, place_, kind);
  return {*node_, place_, *log_};
}

value fields::operator[](std::string const& key) const {
  if (auto found = find(key)) return *found;
  throw case_error(place_of(key) + " is missing");
}

std::vector<std::string> fields::keys() const {
  std::vector<std::string> keys;
  for (auto const& [key, unused] : object_->items()) keys.push_back(key);
  return keys;
}

std::optional<value> fields::find(std::string const& key) const {
  auto const found = object_->find(key);
  if (found == object_->end()) return std::nullopt;
  log_->read(*object_, key);
  return value(*found, place_of(key), *log_);
}

}  // namespace conformance
