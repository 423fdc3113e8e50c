// Least models of the library's concepts. What a concept does not promise is deleted here, so that
// an algorithm that asks for more than its concept does not compile.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>

#include "tev/build/concept.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/random/concept.hpp"
#include "tev/team/concept.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/concept.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/verify/concept.hpp"

namespace tev_test {

/// From which alone archetypes are made.
struct archetype_key {};

/// Neither default constructible nor copyable, comparable or addressable.
struct bare {
  bare() = delete;
  explicit constexpr bare(archetype_key) {}
  bare(bare const&) = delete;
  bare& operator=(bare const&) = delete;
  void operator&() const = delete;
  template <class Other>
  void operator,(Other const&) const = delete;
  template <class Other>
  bool operator==(Other const&) const = delete;
};

/// Takes a `T` and nothing that would have to be converted to one.
template <class T>
struct exactly {
  template <std::same_as<T> U>
  constexpr exactly(U const& u) : value(u) {}
  T value;
};

/// `tev::tree` and no more: a lone root.
struct tree_archetype : bare {
  using bare::bare;
  [[nodiscard]] std::int32_t size() const { return 1; }
  [[nodiscard]] tev::node_id parent(exactly<tev::node_id>) const { return tev::no_node; }
  [[nodiscard]] tev::token_id token(exactly<tev::node_id>) const { return tev::no_token; }
};

/// `tev::linked_tree` and no more.
struct linked_tree_archetype : tree_archetype {
  using tree_archetype::tree_archetype;
  [[nodiscard]] tev::node_id first_child(exactly<tev::node_id>) const { return tev::no_node; }
  [[nodiscard]] tev::node_id next_sibling(exactly<tev::node_id>) const { return tev::no_node; }
};

/// A mass of which the exit law can be made: copied, taken away from another, made a number.
struct mass_archetype {
  mass_archetype() = delete;
  explicit constexpr mass_archetype(archetype_key) {}
  void operator&() const = delete;
  mass_archetype& operator-=(mass_archetype const&) { return *this; }
};

/// A field for the exit law: made of small integers and of masses.
class field_archetype {
 public:
  field_archetype() = default;
  explicit constexpr field_archetype(std::int32_t n) : value_(n) {}
  explicit constexpr field_archetype(mass_archetype const&) : value_(1) {}
  void operator&() const = delete;
  field_archetype& operator+=(field_archetype const& b) { return value_ += b.value_, *this; }
  friend field_archetype operator-(field_archetype const& a, field_archetype const& b) {
    return field_archetype(a.value_ - b.value_);
  }
  friend field_archetype operator*(field_archetype const& a, field_archetype const& b) {
    return field_archetype(a.value_ * b.value_);
  }
  friend field_archetype operator/(field_archetype const& a, field_archetype const& b) {
    return field_archetype(b.value_ == 0 ? 0 : a.value_ / b.value_);
  }

 private:
  std::int32_t value_ = 0;
};

/// `tev::distribution` and no more: rows with all mass on token 0.
template <class Mass = mass_archetype>
struct distribution_archetype : bare {
  using bare::bare;
  using mass_type = Mass;
  [[nodiscard]] std::int32_t vocab_size() const { return 1; }
  [[nodiscard]] Mass total(exactly<tev::node_id>) const { return one(); }
  [[nodiscard]] Mass mass(exactly<tev::node_id>, exactly<tev::token_id>) const { return one(); }
  [[nodiscard]] tev::status row_status(exactly<tev::node_id>) const { return tev::status::ok; }

 private:
  [[nodiscard]] static Mass one() {
    if constexpr (std::constructible_from<Mass, archetype_key>)
      return Mass(archetype_key{});
    else
      return Mass(1);
  }
};

/// A mass that can be ranked: ordered, made of 0, turned into a double where that is asked for.
class ordered_mass_archetype {
 public:
  ordered_mass_archetype() = delete;
  explicit constexpr ordered_mass_archetype(int value) : value_(value) {}
  void operator&() const = delete;
  explicit operator double() const { return value_; }
  friend auto operator<=>(ordered_mass_archetype const&, ordered_mass_archetype const&) = default;

 private:
  int value_;
};

/// `tev::draft_rows` and no more.
struct draft_archetype : distribution_archetype<ordered_mass_archetype> {
  using distribution_archetype<ordered_mass_archetype>::distribution_archetype;
  void prepare(tev::serial_team const&, exactly<tev::node_id>) const {}
};

/// `tev::team` and no more: one thread.
struct team_archetype : bare {
  using bare::bare;
  [[nodiscard]] std::int32_t rank() const { return 0; }
  [[nodiscard]] std::int32_t size() const { return 1; }
  [[nodiscard]] std::uint64_t sum(std::uint64_t w) const { return w; }
  [[nodiscard]] std::uint64_t max(std::uint64_t w) const { return w; }
  [[nodiscard]] bool any(bool b) const { return b; }
  [[nodiscard]] tev::picked pick(std::uint64_t w, std::uint64_t r) const {
    return tev::serial_team{}.pick(w, r);
  }
  [[nodiscard]] std::uint64_t broadcast(std::uint64_t w, std::int32_t) const { return w; }
  void barrier() const {}
};

/// `tev::drawable` and no more.
struct drawable_archetype : distribution_archetype<std::uint64_t> {
  using distribution_archetype<std::uint64_t>::distribution_archetype;
  template <tev::team Team>
  void prepare(Team const&, exactly<tev::node_id>) const {}
  template <tev::team Team, class Tokens>
  [[nodiscard]] tev::token_id draw(Team const&, exactly<tev::node_id>, std::uint64_t r,
                                   Tokens const& skip) const {
    return r == 0 && !tev::contains(skip, 0) ? 0 : tev::no_token;
  }
  template <tev::team Team>
  [[nodiscard]] tev::token_id best(Team const&, exactly<tev::node_id>) const {
    return 0;
  }
};

/// `tev::uniform_source` and no more.
struct source_archetype : bare {
  using bare::bare;
  [[nodiscard]] std::uint64_t below(exactly<tev::decision>, std::uint64_t) const { return 0; }
};

/// `tev::verifier` and no more.
struct verifier_archetype : bare {
  using bare::bare;
  template <tev::team Team, class Problem, tev::uniform_source Source>
    requires tev::drawable<typename Problem::target_type, Team>
  [[nodiscard]] tev::outcome operator()(Team const&, Problem const&, Source const&) const {
    return {};
  }
};

/// `tev::builder` and no more: the lone root.
struct builder_archetype : bare {
  using bare::bare;
  template <class Draft>
  [[nodiscard]] tev::built_tree operator()(Draft const&, std::int32_t, std::int32_t) const {
    return {{}, {1.0}};
  }
};

using problem_archetype = tev::problem<linked_tree_archetype, drawable_archetype>;

/// A problem of archetypes.
inline problem_archetype archetype_problem() {
  constexpr archetype_key key;
  return {linked_tree_archetype(key), drawable_archetype(key), 0, 0};
}

}  // namespace tev_test
