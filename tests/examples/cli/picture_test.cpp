// A verified tree as SVG: well-formed, and every mark says what it is said to say.
#include "cli/picture.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "examples/llm/scratch_folder.hpp"
#include "llm/tokenizer.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/path.hpp"
#include "xml_elements.hpp"

namespace {

using cli_test::xml_element;

/// A tree with its law and what a picture needs besides.
struct scene {
  tev::draft_tree tree;
  tev::exit_law<double> law;
  std::vector<std::string> labels;
  tev::outcome outcome;
  std::string bonus = " bonus";

  [[nodiscard]] std::string draw() const {
    return cli::draw_svg({tree, law, labels, outcome, bonus, "position 57, budget 32"});
  }
};

/// A scene from parents and the share of its parent's flow that each node takes.
scene make_scene(std::vector<tev::node_id> const& parents, std::vector<double> const& shares) {
  scene s;
  std::vector<tev::token_id> tokens;
  for (std::size_t v = 0; v < parents.size(); ++v) tokens.push_back(static_cast<tev::token_id>(v));
  s.tree = tev::draft_tree::from_parents(parents, tokens);
  s.law.reach.assign(parents.size(), 1);
  for (std::size_t v = 1; v < parents.size(); ++v) {
    s.law.reach[v] = s.law.reach[parents[v]] * shares[v];
    s.law.coverage += s.law.reach[v];
  }
  s.law.exit = s.law.reach;
  for (std::size_t v = 1; v < parents.size(); ++v) s.law.exit[parents[v]] -= s.law.reach[v];
  for (double& w : s.law.exit) w = std::max(w, 0.0);
  s.law.local_exit.assign(parents.size(), 0);
  for (std::size_t v = 0; v < parents.size(); ++v)
    if (s.law.reach[v] > 0) s.law.local_exit[v] = s.law.exit[v] / s.law.reach[v];
  s.labels.assign(parents.size(), " x");
  s.outcome.bonus_token = 7;
  return s;
}

/// Any tree of [1, most] nodes, flows over many orders of magnitude, any exit node.
rc::Gen<scene> scenes(int most) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([most] {
                           int const size = *rc::gen::inRange(1, most + 1);
                           int const window = *rc::gen::inRange(1, size + 1);
                           std::vector<tev::node_id> parents{tev::no_node};
                           std::vector<double> shares{1}, left(static_cast<std::size_t>(size), 1);
                           for (int v = 1; v < size; ++v) {
                             parents.push_back(*rc::gen::inRange(std::max(0, v - window), v));
                             double const part = *rc::gen::element(0.0, 1e-6, 0.01, 0.3, 0.8);
                             shares.push_back(left[parents.back()] * part);
                             left[parents.back()] -= shares.back();
                           }
                           scene s = make_scene(parents, shares);
                           for (auto& label : s.labels)
                             label = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
                           s.outcome.exit_node = *rc::gen::inRange(0, size);
                           s.outcome.accepted_length = tev::depths(s.tree)[s.outcome.exit_node];
                           s.outcome.bonus_token = *rc::gen::element(7, tev::no_token);
                           return s;
                         }));
}

/// The elements of a picture, by what they stand for.
struct drawn {
  std::vector<xml_element> all;
  std::map<std::string, std::size_t> by_id;

  explicit drawn(std::string const& svg) : all(cli_test::elements_of(svg)) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto const id = all[i].attribute("id");
      if (!id.empty() && !by_id.emplace(id, i).second) ADD_FAILURE() << "id twice: " << id;
    }
  }
  [[nodiscard]] xml_element const* edge(int v) const { return find("e" + std::to_string(v)); }
  [[nodiscard]] xml_element const* node(int v) const { return find("n" + std::to_string(v)); }
  [[nodiscard]] xml_element const* find(std::string const& id) const {
    auto const found = by_id.find(id);
    return found == by_id.end() ? nullptr : &all[found->second];
  }
  /// The first element `name` inside the group `id`.
  [[nodiscard]] xml_element const* inside(std::string const& id, std::string const& name) const {
    auto const group = by_id.find(id);
    for (auto const& e : all)
      if (group != by_id.end() && e.parent == group->second && e.name == name) return &e;
    return nullptr;
  }
};

RC_GTEST_PROP(Picture, IsWellFormedAndDrawsEachNodeAndEdgeOnce, ()) {
  auto const s = *scenes(60);
  drawn const d(s.draw());
  RC_ASSERT(d.all.front().name == "svg");
  RC_ASSERT(d.edge(0) == nullptr);
  for (int v = 0; v < s.tree.size(); ++v) {
    RC_ASSERT(d.node(v) != nullptr);
    if (v > 0) RC_ASSERT(d.edge(v) != nullptr);
  }
  RC_ASSERT(d.node(s.tree.size()) == nullptr);
  RC_ASSERT((d.find("bonus") != nullptr) == (s.outcome.bonus_token != tev::no_token));
}

RC_GTEST_PROP(Picture, BoxesDoNotOverlapAndLieOnThePaper, ()) {
  auto const s = *scenes(60);
  drawn const d(s.draw());
  std::vector<xml_element const*> boxes;
  for (int v = 0; v < s.tree.size(); ++v)
    boxes.push_back(d.inside("n" + std::to_string(v), "rect"));
  if (auto const* bonus = d.inside("bonus", "rect")) boxes.push_back(bonus);
  for (std::size_t a = 0; a < boxes.size(); ++a) {
    RC_ASSERT(boxes[a]->number("x") >= 0);
    RC_ASSERT(boxes[a]->number("x") + boxes[a]->number("width") < d.all.front().number("width"));
    RC_ASSERT(boxes[a]->number("y") + boxes[a]->number("height") < d.all.front().number("height"));
    for (std::size_t b = 0; b < a; ++b) {
      auto const clear = [&](char const* at, char const* extent) {
        return boxes[a]->number(at) + boxes[a]->number(extent) < boxes[b]->number(at) ||
               boxes[b]->number(at) + boxes[b]->number(extent) < boxes[a]->number(at);
      };
      RC_ASSERT(clear("x", "width") || clear("y", "height"));
    }
  }
}

RC_GTEST_PROP(Picture, EdgesAreAsWideAsTheirFlowAndDashedWhereItIsTiny, ()) {
  auto const s = *scenes(40);
  drawn const d(s.draw());
  for (int v = 1; v < s.tree.size(); ++v) {
    double const expected = std::max(0.75, 14 * s.law.reach[v]);
    RC_ASSERT(std::abs(d.edge(v)->number("stroke-width") - expected) < 1e-3);
    RC_ASSERT(d.edge(v)->attribute("stroke-dasharray").empty() == (s.law.reach[v] >= 1e-4));
  }
}

RC_GTEST_PROP(Picture, DiscAreasAreProportionalToTheExitMass, ()) {
  auto const s = *scenes(40);
  drawn const d(s.draw());
  for (int v = 0; v < s.tree.size(); ++v) {
    auto const* disc = d.inside("n" + std::to_string(v), "circle");
    RC_ASSERT((disc != nullptr) == (s.law.exit[v] > 0));
    if (disc == nullptr) continue;
    double const radius = disc->number("r");
    RC_ASSERT(std::abs(radius - 12 * std::sqrt(s.law.exit[v])) < 1e-3);
  }
}

RC_GTEST_PROP(Picture, MarksTheAcceptedPathAndNothingElse, ()) {
  auto const s = *scenes(40);
  drawn const d(s.draw());
  auto const path = tev::path_to(s.tree, s.outcome.exit_node);
  for (int v = 0; v < s.tree.size(); ++v) {
    bool const accepted = std::ranges::find(path, v) != path.end();
    RC_ASSERT(d.node(v)->has_class("accepted") == accepted);
    RC_ASSERT(d.node(v)->has_class("leaves") == (v == s.outcome.exit_node));
    if (v > 0) RC_ASSERT(d.edge(v)->has_class("accepted") == accepted);
    if (v > 0) RC_ASSERT((d.edge(v)->attribute("stroke") == "#0072b2") == accepted);
  }
}

TEST(Picture, NumbersExitMassesFromATenthOfAPercent) {
  auto const s = make_scene({-1, 0, 0, 0}, {1, 0.123, 0.001, 0.0009});
  std::string const svg = s.draw();
  drawn const d(svg);
  auto const number = [&](int v) -> std::string {
    for (auto const& e : d.all)
      if (e.parent == d.by_id.at("n" + std::to_string(v)) && e.attribute("class") == "mass")
        return e.text;
    return "";
  };
  EXPECT_EQ(number(0), "87.5\u2009%");
  EXPECT_EQ(number(1), "12.3\u2009%");
  EXPECT_EQ(number(2), "0.1\u2009%");
  EXPECT_EQ(number(3), "");
}

TEST(Picture, ShowsTokensAndEscapesThem) {
  auto s = make_scene({-1, 0, 1, 1, 1}, {1, 0.5, 0.2, 0.2, 0.2});
  s.labels = {"<b>&amp;\"", "\n", "", "a very long token text", "\xff\u0301"};
  s.bonus = "]]>";
  std::string const svg = s.draw();
  drawn const d(svg);
  EXPECT_EQ(d.inside("n0", "text")->text, "<b>&amp;\"");
  EXPECT_EQ(d.inside("n1", "text")->text, "↵");
  EXPECT_EQ(d.inside("n2", "text")->text, "#2");
  EXPECT_EQ(d.inside("n3", "text")->text, "a␣very␣long…");
  EXPECT_NE(d.inside("n3", "title")->text.find("a␣very␣long␣token␣text"), std::string::npos);
  EXPECT_EQ(d.inside("n4", "text")->text, "\ufffd\u0301");
  EXPECT_EQ(d.inside("bonus", "text")->text, "]]>");
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
}

TEST(Picture, StandsAlone) {
  auto const s = make_scene({-1, 0}, {1, 0.5});
  std::string const svg = s.draw();
  for (char const* banned : {"<script", "<style", "href", "url(", "@import", "<foreignObject"})
    EXPECT_EQ(svg.find(banned), std::string::npos) << banned;
  EXPECT_NE(svg.find("position 57, budget 32"), std::string::npos);
}

TEST(Picture, SaysWhyThereIsNoBonusToken) {
  auto s = make_scene({-1, 0}, {1, 0.5});
  s.outcome = {.exit_node = 1, .accepted_length = 1, .state = tev::status::no_mass};
  std::string const svg = s.draw();
  EXPECT_NE(svg.find("exit: no_mass"), std::string::npos);
  EXPECT_EQ(svg.find("bonus token</text>"), std::string::npos);
}

TEST(Picture, DrawsTreesOfAThousandNodes) {
  std::vector<tev::node_id> chain, star, mixed;
  for (int v = 0; v < 1024; ++v) {
    chain.push_back(v - 1);
    star.push_back(v == 0 ? -1 : 0);
    mixed.push_back(v == 0 ? -1 : (v * 7919) % v / 2);
  }
  for (auto const& parents : {chain, star, mixed}) {
    auto const s = make_scene(parents, std::vector<double>(1024, 0.0005));
    drawn const d(s.draw());
    EXPECT_NE(d.node(1023), nullptr);
  }
}

TEST(Picture, RefusesWhatDoesNotBelongToTheTree) {
  auto s = make_scene({-1, 0}, {1, 0.5});
  s.outcome.exit_node = 2;
  llm_test::expect_error([&] { (void)s.draw(); }, {"exit node 2", "[0, 2)"});
  s.outcome.exit_node = -1;
  llm_test::expect_error([&] { (void)s.draw(); }, {"exit node -1"});
  s.outcome.exit_node = 0;
  s.labels.pop_back();
  llm_test::expect_error([&] { (void)s.draw(); }, {"2 nodes", "1 labels"});
}

TEST(Picture, DrawsTheBundledTrees) {
  auto const golden =
      nlohmann::json::parse(llm_test::read_text(llm_test::golden() / "tree_forward.json"));
  auto const tokenizer = llm::tokenizer::open(llm_test::tiny_models() / "tiny-qwen3");
  for (auto const& c : golden.at("cases")) {
    scene s;
    auto const tokens = c.at("ids").get<std::vector<tev::token_id>>();
    s.tree = tev::draft_tree::from_parents(c.at("parents"), tokens);
    s.law.reach = c.at("T1.0").at("reach").get<std::vector<double>>();
    s.law.exit = c.at("T1.0").at("w").get<std::vector<double>>();
    for (tev::token_id const id : tokens) s.labels.emplace_back(tokenizer.bytes(id));
    s.outcome.exit_node = c.at("greedy_path").get<std::vector<tev::node_id>>().back();
    s.outcome.bonus_token = c.at("greedy_next");
    s.bonus = tokenizer.bytes(s.outcome.bonus_token);
    drawn const d(s.draw());
    EXPECT_TRUE(d.node(s.outcome.exit_node)->has_class("leaves"));
  }
}

}  // namespace
