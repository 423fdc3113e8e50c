// Drawing one verified draft tree as SVG.
#include "picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "llm/error.hpp"
#include "tev/core/status.hpp"
#include "tree_layout.hpp"
#include "visible_text.hpp"

namespace cli {
namespace {

// The palette of Okabe and Ito, which the colour-blind can tell apart, and greys.
namespace colour {
constexpr std::string_view paper = "#ffffff";
constexpr std::string_view frame = "#d0d7de";
constexpr std::string_view ink = "#1f2328";
constexpr std::string_view faint = "#59636e";
constexpr std::string_view flow = "#b4bcc6";
constexpr std::string_view outline = "#8c959f";
constexpr std::string_view accepted = "#0072b2";
constexpr std::string_view accepted_paper = "#dbeefb";
constexpr std::string_view exit = "#e69f00";
constexpr std::string_view bonus = "#00795a";
constexpr std::string_view bonus_paper = "#dcf5ec";
}  // namespace colour

constexpr double margin = 24;
constexpr double box_height = 24;
constexpr double text_size = 13;
constexpr double cell_width = 7.9;
constexpr double box_padding = 8;
constexpr double least_box_width = 30;
constexpr double least_exit_room = 21;
constexpr double caption_room = 13;
constexpr double widest_edge = 14;
constexpr double hairline = 0.75;
constexpr double dashed_below = 1e-4;
constexpr double number_from = 1e-3;
constexpr double disc_radius_at_one = 12;
constexpr double disc_offset = disc_radius_at_one + 1;
constexpr double number_width = 38;
constexpr double least_width = 720;
constexpr double sans_width = 6.3;
constexpr std::size_t most_label_cells = 12;
constexpr std::size_t most_tooltip_cells = 400;

double edge_width(double reach) { return std::max(hairline, widest_edge * reach); }

double probability(double value) { return value > 0 ? std::min(value, 1.0) : 0.0; }

double disc_radius(double exit) { return disc_radius_at_one * std::sqrt(exit); }

/// Height of what hangs below a box: its disc and number.
double exit_room(double exit) {
  return exit < number_from ? 0 : std::max(least_exit_room, 2 * disc_radius(exit) + 5);
}

/// Where the number begins, from the left edge of its box.
double number_offset(double exit) { return disc_offset + std::max(disc_radius(exit), 2.0) + 4; }

std::string percent(double probability) { return fmt::format("{:.1f}\u2009%", 100 * probability); }

/// One box: a node of the tree, or the bonus token behind the last of them.
struct box {
  tev::node_id node = 0;
  tev::node_id parent = tev::no_node;
  visible_text label{};
  std::string tooltip{};
  double width = 0;
  double exit = 0;
  bool accepted = false;
  bool is_exit = false;
  bool is_bonus = false;
};

class drawing {
 public:
  explicit drawing(tree_picture const& picture) : picture_(picture), size_(checked_size()) {
    fill_boxes();
    place();
  }

  std::string svg();

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
  }

  [[nodiscard]] std::size_t checked_size() const;
  void fill_boxes();
  void place();
  void add_edges();
  void add_edge(box const& child, double from_y);
  void add_box(box const& b);
  void add_exit_disc(box const& b);
  [[nodiscard]] double add_legend(double top, double right);

  [[nodiscard]] double box_right(tev::node_id v) const { return layout_.x[v] + boxes_[v].width; }
  [[nodiscard]] double reach(tev::node_id v) const { return probability(picture_.law.reach[v]); }

  tree_picture const& picture_;
  std::size_t size_;
  std::vector<box> boxes_;
  std::vector<std::size_t> depth_;
  tree_layout layout_;
  std::string body_;
};

std::size_t drawing::checked_size() const {
  auto const size = static_cast<std::size_t>(picture_.tree.size());
  auto const& law = picture_.law;
  if (picture_.labels.size() != size || law.reach.size() != size || law.exit.size() != size) {
    throw llm::make_error(
        "picture: a tree of {} nodes with {} labels, {} reaches and {} exits; give one of each a "
        "node",
        size, picture_.labels.size(), law.reach.size(), law.exit.size());
  }
  tev::node_id const exit = picture_.outcome.exit_node;
  if (exit < 0 || static_cast<std::size_t>(exit) >= size) {
    throw llm::make_error("picture: exit node {} is not in [0, {}); give the outcome of this tree",
                          exit, size);
  }
  return size;
}

std::string label_of(std::string const& text, tev::token_id token) {
  if (!text.empty()) return text;
  return token == tev::no_token ? "(root)" : fmt::format("#{}", token);
}

void drawing::fill_boxes() {
  for (tev::node_id v = 0; v < picture_.tree.size(); ++v) {
    box b{.node = v, .parent = picture_.tree.parent(v)};
    std::string const text = label_of(picture_.labels[v], picture_.tree.token(v));
    b.label = make_visible(text, most_label_cells);
    b.exit = probability(picture_.law.exit[v]);
    b.tooltip = fmt::format("node {}, token {}: {}\ntarget flow {:.6g}, exit mass {:.6g}", v,
                            picture_.tree.token(v), make_visible(text, most_tooltip_cells).text,
                            reach(v), b.exit);
    boxes_.push_back(std::move(b));
  }
  tev::node_id const exit = picture_.outcome.exit_node;
  boxes_[exit].is_exit = true;
  for (tev::node_id v = exit; v != tev::no_node; v = boxes_[v].parent) boxes_[v].accepted = true;

  tev::token_id const bonus = picture_.outcome.bonus_token;
  if (bonus != tev::no_token) {
    box b{.node = static_cast<tev::node_id>(size_), .parent = exit, .is_bonus = true};
    std::string const text = label_of(picture_.bonus, bonus);
    b.label = make_visible(text, most_label_cells);
    b.tooltip =
        fmt::format("bonus token {}: {}", bonus, make_visible(text, most_tooltip_cells).text);
    boxes_.push_back(std::move(b));
  }
  for (box& b : boxes_) {
    double const text = cell_width * static_cast<double>(b.label.cells) + 2 * box_padding;
    b.width = std::max(least_box_width, text);
  }
}

void drawing::place() {
  std::vector<tev::node_id> parents;
  std::vector<node_extent> extents;
  for (box const& b : boxes_) {
    parents.push_back(b.parent);
    depth_.push_back(b.parent == tev::no_node ? 0 : depth_[b.parent] + 1);
    bool const captioned = b.is_exit || b.is_bonus;
    bool const numbered = b.exit >= number_from;
    double const number_end = numbered ? number_offset(b.exit) + number_width : 0;
    extents.push_back({.width = std::max(b.width, number_end),
                       .above = box_height / 2 + (captioned ? caption_room : 0),
                       .below = box_height / 2 + exit_room(b.exit)});
  }
  layout_ = place_nodes(parents, extents, {.between_rows = 9});
}

/// Draws one edge: straight to the end of its parent's column, then a curve to the child.
void drawing::add_edge(box const& child, double from_y) {
  double const begin = box_right(child.parent);
  double const bend = std::max(begin, layout_.column_end[depth_[child.parent]]);
  double const end = layout_.x[child.node];
  double const to_y = layout_.y[child.node];
  double const middle = (bend + end) / 2;
  std::string const path =
      fmt::format("M{:.1f} {:.2f}H{:.1f}C{:.1f} {:.2f} {:.1f} {:.2f} {:.1f} {:.2f}", begin - 1,
                  from_y, bend, middle, from_y, middle, to_y, end, to_y);
  if (child.is_bonus) {
    add("<path class=\"bonus\" d=\"{}\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"2 4\" "
        "stroke-linecap=\"round\"/>\n",
        path, colour::bonus);
    return;
  }
  double const flow = reach(child.node);
  double const width = edge_width(flow);
  if (child.accepted) {
    add("<path class=\"halo\" d=\"{}\" stroke=\"{}\" stroke-opacity=\"0.2\" "
        "stroke-width=\"{:.2f}\"/>\n",
        path, colour::accepted, width + 8);
  }
  add("<path class=\"edge{}\" id=\"e{}\" d=\"{}\" stroke=\"{}\" stroke-width=\"{:.4f}\"{}/>\n",
      child.accepted ? " accepted" : "", child.node, path,
      child.accepted ? colour::accepted : colour::flow, width,
      flow < dashed_below ? " stroke-dasharray=\"4 3\"" : "");
}

/// Draws the edges of all nodes, the accepted path last so that it lies on top.
void drawing::add_edges() {
  std::vector<double> from(boxes_.size());
  std::vector<double> passed(boxes_.size());
  for (std::size_t v = 1; v < boxes_.size(); ++v) {
    tev::node_id const parent = boxes_[v].parent;
    double const share = boxes_[v].is_bonus ? 0 : widest_edge * reach(boxes_[v].node);
    double const top = layout_.y[parent] - widest_edge * reach(parent) / 2;
    from[v] = boxes_[v].is_bonus ? layout_.y[parent] : top + passed[parent] + share / 2;
    passed[parent] += share;
  }
  add("<g fill=\"none\">\n");
  for (bool const highlighted : {false, true}) {
    for (std::size_t v = 1; v < boxes_.size(); ++v) {
      bool const on_top = boxes_[v].accepted || boxes_[v].is_bonus;
      if (on_top == highlighted) add_edge(boxes_[v], from[v]);
    }
  }
  add("</g>\n");
}

void drawing::add_exit_disc(box const& b) {
  double const x = layout_.x[b.node] + disc_offset;
  double const y =
      layout_.y[b.node] + box_height / 2 + std::max(exit_room(b.exit), least_exit_room) / 2 + 0.5;
  if (b.exit > 0) {
    add("<circle class=\"exit\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.4f}\" "
        "fill=\"{}\"/>\n",
        x, y, disc_radius(b.exit), colour::exit);
  }
  if (b.exit >= number_from) {
    add("<text class=\"mass\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10.5\" fill=\"{}\">{}</text>\n",
        layout_.x[b.node] + number_offset(b.exit), y + 3.8, colour::faint, percent(b.exit));
  }
}

/// The outline, paper and weight of a kind of box.
struct box_look {
  std::string_view stroke;
  std::string_view paper;
  double weight;
  std::string_view dashes;
  bool bold;
};

box_look look_of(box const& b) {
  if (b.is_bonus) return {colour::bonus, colour::bonus_paper, 1.6, "4 2.5", true};
  if (b.is_exit) return {colour::accepted, colour::accepted_paper, 3, "", true};
  if (b.accepted) return {colour::accepted, colour::accepted_paper, 1.8, "", true};
  return {colour::outline, colour::paper, 1, "", false};
}

std::string box_markup(box_look const& look, double x, double y, double width,
                       std::string_view text) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\" fill=\"{}\" "
      "stroke=\"{}\" stroke-width=\"{}\"{}/>\n"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-family=\"monospace\" font-size=\"{}\" "
      "text-anchor=\"middle\"{} fill=\"{}\">{}</text>\n",
      x, y - box_height / 2, width, box_height, look.dashes.empty() ? 6 : 12, look.paper,
      look.stroke, look.weight,
      look.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", look.dashes),
      x + width / 2, y + 4.5, text_size, look.bold ? " font-weight=\"bold\"" : "", colour::ink,
      xml_escaped(text));
}

void drawing::add_box(box const& b) {
  double const x = layout_.x[b.node];
  double const y = layout_.y[b.node];
  if (b.is_bonus) {
    add("<g class=\"node bonus\" id=\"bonus\">\n");
  } else {
    add("<g class=\"node{}{}\" id=\"n{}\">\n", b.accepted ? " accepted" : "",
        b.is_exit ? " leaves" : "", b.node);
  }
  add("<title>{}</title>\n", xml_escaped(b.tooltip));
  body_ += box_markup(look_of(b), x, y, b.width, b.label.text);
  if (b.is_exit || b.is_bonus) {
    auto const state = picture_.outcome.state;
    std::string const exit =
        state == tev::status::ok ? "exit" : fmt::format("exit: {}", name(state));
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10.5\" font-weight=\"bold\" "
        "fill=\"{}\">{}</text>\n",
        x + 2, y - box_height / 2 - 4.5, b.is_bonus ? colour::bonus : colour::accepted,
        b.is_bonus ? "bonus" : exit);
  }
  if (!b.is_bonus) add_exit_disc(b);
  add("</g>\n");
}

/// Cuts `text` at spaces into lines of at most `most` bytes; a longer word stays whole.
std::vector<std::string> wrapped(std::string_view text, std::size_t most) {
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    std::size_t const end = std::min(text.find(' '), text.size());
    std::string_view const word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > most) {
      lines.emplace_back();
    }
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

/// A sample of one mark, drawn around (0, 0) to the right, and what it means.
struct legend_item {
  double width;
  std::string markup;
  std::string_view meaning;
};

std::string line_markup(std::string_view stroke, double reach) {
  return fmt::format("<path d=\"M0 0H26\" stroke=\"{}\" stroke-width=\"{}\"{}/>", stroke,
                     edge_width(reach), reach < dashed_below ? " stroke-dasharray=\"4 3\"" : "");
}

std::string disc_markup(double exit) {
  double const radius = disc_radius(exit);
  return fmt::format("<circle cx=\"{0}\" cy=\"0\" r=\"{0:.3f}\" fill=\"{1}\"/>", radius,
                     colour::exit);
}

std::vector<legend_item> legend_items(bool with_bonus) {
  auto const sample = [](box const& b) { return box_markup(look_of(b), 0, 0, 30, "\u00b7"); };
  std::vector<legend_item> items{
      {26, line_markup(colour::flow, 0.5), "flow 50 %"},
      {26, line_markup(colour::flow, 0.1), "10 %"},
      {26, line_markup(colour::flow, 0), "below 0.01 %"},
      {17, disc_markup(0.5), "exit mass 50 %"},
      {8, disc_markup(0.1), "10 %"},
      {3, disc_markup(0.01), "1 %"},
      {30, sample({}), "drafted"},
      {30, sample({.accepted = true}), "accepted"},
      {30, sample({.accepted = true, .is_exit = true}), "exit node"},
  };
  if (with_bonus) items.push_back({30, sample({.is_bonus = true}), "bonus token"});
  return items;
}

constexpr std::string_view footer =
    "Edge width = target flow P(v), the probability that the target's continuation passes through "
    "v. Disc area = exit mass w(v), the probability that it leaves the tree there. Coloured = "
    "accepted; the bonus token is drawn from what the exit node's children leave.";

/// Draws legend and footer from `top` down, no wider than `right`; returns where they end.
double drawing::add_legend(double top, double right) {
  double x = margin;
  double y = top + 20;
  add("<path d=\"M{0} {1:.1f}H{2:.1f}\" stroke=\"{3}\" stroke-width=\"1\"/>\n", margin, top,
      right - margin, colour::frame);
  for (legend_item const& item : legend_items(boxes_.size() > size_)) {
    double const width = item.width + 7 + sans_width * static_cast<double>(item.meaning.size());
    if (x > margin && x + width > right - margin) {
      x = margin;
      y += 32;
    }
    add("<g transform=\"translate({:.1f} {:.1f})\">{}<text x=\"{:.1f}\" y=\"4\" "
        "font-size=\"11.5\" fill=\"{}\">{}</text></g>\n",
        x, y, item.markup, item.width + 6, colour::ink, item.meaning);
    x += width + 16;
  }
  y += 34;
  auto const most = static_cast<std::size_t>((right - 2 * margin) / (sans_width * 0.95));
  for (std::string const& line : wrapped(footer, most)) {
    add("<text x=\"{}\" y=\"{:.1f}\" font-size=\"11.5\" fill=\"{}\">{}</text>\n", margin, y,
        colour::faint, xml_escaped(line));
    y += 16;
  }
  return y;
}

std::string drawing::svg() {
  double right = margin;
  for (box const& b : boxes_) right = std::max(right, layout_.x[b.node] + b.width);
  right = std::max(right, layout_.width);
  double const width = std::max(least_width, right + 2 * margin);
  auto const most = static_cast<std::size_t>((width - 2 * margin) / 8.6);
  double y = margin + 12;
  for (std::string const& line : wrapped(llm::one_line(picture_.title), most)) {
    add("<text x=\"{}\" y=\"{:.1f}\" font-size=\"15\" font-weight=\"bold\" fill=\"{}\">{}</text>\n",
        margin, y, colour::ink, xml_escaped(line));
    y += 21;
  }
  double const left = std::max(margin, (width - right) / 2);
  add("<g transform=\"translate({:.1f} {:.1f})\">\n", left, y);
  add_edges();
  for (box const& b : boxes_) add_box(b);
  add("</g>\n");
  double const height = add_legend(y + layout_.height + 22, width) + 6;

  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" "
      "font-family=\"sans-serif\">\n"
      "<title>{2}</title>\n"
      "<rect x=\"0.5\" y=\"0.5\" width=\"{3:.0f}\" height=\"{4:.0f}\" rx=\"8\" fill=\"{5}\" "
      "stroke=\"{6}\"/>\n{7}</svg>\n",
      width, height, xml_escaped(picture_.title), std::round(width) - 1, std::round(height) - 1,
      colour::paper, colour::frame, body_);
}

}  // namespace

std::string draw_svg(tree_picture const& picture) { return drawing(picture).svg(); }

}  // namespace cli
