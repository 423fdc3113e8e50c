// json_file: parsing with bounds, and the sentences of its errors.
#include "json_file.hpp"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "error.hpp"
#include "mapped_file.hpp"

namespace llm {
namespace {

using nlohmann::json;

std::string describe(json const& value) {
  switch (value.type()) {
    case json::value_t::object:
      return fmt::format("an object of {} fields", value.size());
    case json::value_t::array:
      return fmt::format("an array of {} elements", value.size());
    case json::value_t::string:
      return in_quotes(value.get_ref<std::string const&>());
    default:
      return value.dump();
  }
}

/// Watches a parse: stops it at a second use of a key and at too deep a nesting, neither of which
/// the parser minds.
class parse_guard {
 public:
  parse_guard(std::string const& name, int depth_limit) : name_(name), depth_limit_(depth_limit) {}

  bool operator()(int depth, json::parse_event_t event, json const& value) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        if (depth >= depth_limit_) {
          throw make_error("{}: nested deeper than {} levels; not a file this program reads", name_,
                           depth_limit_);
        }
        if (event == json::parse_event_t::object_start) seen_.emplace_back();
        break;
      case json::parse_event_t::object_end:
        seen_.pop_back();
        break;
      case json::parse_event_t::key:
        if (!seen_.back().insert(value.get_ref<std::string const&>()).second) {
          throw make_error("{}: field {} occurs twice in one object; keep one of them", name_,
                           in_quotes(value.get_ref<std::string const&>()));
        }
        break;
      default:
        break;
    }
    return true;
  }

 private:
  std::string const& name_;
  int depth_limit_;
  std::vector<std::unordered_set<std::string>> seen_;
};

std::string parser_message(std::string_view what) {
  // The library's own tag in brackets says nothing to a reader of the message.
  auto const tag_end = what.find("] ");
  return std::string(tag_end == std::string_view::npos ? what : what.substr(tag_end + 2));
}

}  // namespace

struct json_file::document {
  std::string name;
  json value;
};

json_file::json_file(std::unique_ptr<document const> parsed) : document_(std::move(parsed)) {}
json_file::json_file(json_file&&) noexcept = default;
json_file& json_file::operator=(json_file&&) noexcept = default;
json_file::~json_file() = default;

json_file json_file::read(std::filesystem::path const& file, json_limits limits) {
  mapped_file const content(file);
  auto const bytes = content.bytes();
  return parse({reinterpret_cast<char const*>(bytes.data()), bytes.size()}, file.string(), limits);
}

json_file json_file::parse(std::string_view text, std::string name, json_limits limits) {
  if (text.size() > limits.bytes) {
    throw make_error("{}: {} bytes, more than the {} that such a file may have", name, text.size(),
                     limits.bytes);
  }
  if (text.empty()) throw make_error("{}: is empty, expected JSON", name);
  auto parsed = std::make_unique<document>();
  parsed->name = std::move(name);
  parse_guard guard(parsed->name, limits.depth);
  try {
    parsed->value = json::parse(text.begin(), text.end(), std::ref(guard));
  } catch (json::exception const& failure) {
    throw make_error("{}: not valid JSON: {}", parsed->name, parser_message(failure.what()));
  }
  return json_file(std::move(parsed));
}

json_field json_file::root() const { return {document_->name, document_->value, ""}; }

void json_field::refuse(std::string_view expected) const {
  std::string const place = path_.empty() ? "the whole value" : "field " + path_;
  throw make_error("{}: {} is {}, but {}", *file_, place, describe(*value_), expected);
}

json_field json_field::at(std::string_view key) const {
  if (!value_->is_object()) refuse("an object with the field " + std::string(key) + " is needed");
  auto const found = value_->find(key);
  std::string inner = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  if (found == value_->end()) {
    throw make_error("{}: field {} is missing; add it", *file_, inner);
  }
  return {*file_, *found, std::move(inner)};
}

std::optional<json_field> json_field::find(std::string_view key) const {
  if (!value_->is_object()) refuse("an object is needed");
  auto const found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return at(key);
}

std::int64_t json_field::integer(std::int64_t least, std::int64_t most) const {
  auto const expected = [&] {
    return fmt::format("a whole number in [{}, {}] is needed", least, most);
  };
  if (!value_->is_number_integer()) refuse(expected());
  if (value_->is_number_unsigned()) {
    auto const value = value_->get<std::uint64_t>();
    if (most < 0 || value > static_cast<std::uint64_t>(most)) refuse(expected());
  }
  auto const value = value_->get<std::int64_t>();
  if (value < least || value > most) refuse(expected());
  return value;
}

double json_field::number(double least, double most) const {
  auto const expected = [&] { return fmt::format("a number in [{}, {}] is needed", least, most); };
  if (!value_->is_number()) refuse(expected());
  auto const value = value_->get<double>();
  if (!(value >= least && value <= most)) refuse(expected());
  return value;
}

bool json_field::boolean() const {
  if (!value_->is_boolean()) refuse("true or false is needed");
  return value_->get<bool>();
}

std::string const& json_field::text() const {
  if (!value_->is_string()) refuse("a string is needed");
  return value_->get_ref<std::string const&>();
}

std::vector<json_field> json_field::elements(std::size_t least, std::size_t most) const {
  if (!value_->is_array() || value_->size() < least || value_->size() > most) {
    std::string const count =
        least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
    refuse(fmt::format("an array of {} elements is needed", count));
  }
  std::vector<json_field> fields;
  fields.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    fields.emplace_back(*file_, (*value_)[i], fmt::format("{}[{}]", path_, i));
  }
  return fields;
}

std::vector<std::string> json_field::keys() const {
  if (!value_->is_object()) refuse("an object is needed");
  std::vector<std::string> names;
  for (auto const& item : value_->items()) names.push_back(item.key());
  return names;
}

bool json_field::is_null() const { return value_->is_null(); }
bool json_field::is_text() const { return value_->is_string(); }
bool json_field::is_array() const { return value_->is_array(); }
bool json_field::is_object() const { return value_->is_object(); }

}  // namespace llm
