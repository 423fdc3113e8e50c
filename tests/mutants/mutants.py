"""The faults that the tests have to notice: (name, file under include/tev, old text, new text).

Each changes one line of a copy of the library. The old text has to occur exactly once in its file.
"""

TREE_EXIT = "verify/tree_exit.hpp"
SEQUENTIAL = "verify/sequential_residual.hpp"
PREDRAW = "verify/predraw.hpp"
SOFTMAX = "distribution/softmax_rows.hpp"
MASS_ROWS = "distribution/mass_rows.hpp"
FLOW = "exit_law/flow.hpp"
EXIT_LAW = "exit_law/exit_law.hpp"
PHILOX = "random/philox.hpp"
BUILDER = "build/best_first.hpp"

MUTANTS = [
    # Verifiers.
    ("tree_exit takes the first number of the next interval", TREE_EXIT,
     "return r < end;", "return r <= end;"),
    ("tree_exit does not accumulate the running mass", TREE_EXIT,
     "running += mass;", "running = mass;"),
    ("tree_exit does not subtract the begin of the interval", TREE_EXIT,
     "r -= begin;", ""),
    ("tree_exit hands the running flow to the child", TREE_EXIT,
     "flow = end - begin;", "flow = end;"),
    ("tree_exit's residual includes the children", TREE_EXIT,
     "depth, total - running);", "depth, total);"),
    ("tree_exit keys the exit by the token's position", TREE_EXIT,
     "{p.request, p.position, purpose::exit, 0}", "{p.request, p.position + 1, purpose::exit, 0}"),
    ("the residual draw does not skip the children", "verify/residual.hpp",
     "child_tokens<typename Problem::tree_type> const children{p.tree, v};",
     "no_tokens const children{};"),
    ("sequential_residual does not remove a rejected child's mass", SEQUENTIAL,
     "remaining -= mass;", ""),
    ("sequential_residual accepts at equality", SEQUENTIAL,
     "source.below(test, remaining) < mass)", "source.below(test, remaining) <= mass)"),
    ("sequential_residual tosses the same coin for every child", SEQUENTIAL,
     "purpose::sibling, tested++)", "purpose::sibling, tested)"),
    ("predraw never draws the last of the mass", PREDRAW,
     "purpose::token), p.target.total(v));", "purpose::token), p.target.total(v) - 1);"),
    ("predraw follows the children of the root everywhere", PREDRAW,
     "find_child(p.tree, v, [&](node_id c) { return p.tree.token(c) == token; });",
     "find_child(p.tree, 0, [&](node_id c) { return c > v && p.tree.token(c) == token; });"),
    ("predraw_eager uses one position for all depths", PREDRAW,
     "depth[above] + 1 : 0", "depth[above] : 0"),
    ("greedy follows a child of another token", "verify/greedy.hpp",
     "return p.tree.token(c) == token;", "return p.tree.token(c) >= token;"),
    ("decisions use the position of the token before", "verify/concept.hpp",
     "static_cast<std::uint32_t>(depth) + 1, what", "static_cast<std::uint32_t>(depth), what"),
    # Flow and exit law.
    ("a child's interval begins with its parent's", FLOW,
     "node.begin + passed;", "node.begin;"),
    ("the exit keeps the flow of the children", FLOW,
     "node.exit = node.flow - passed;", "node.exit = node.flow;"),
    ("flow is multiplied in 64 bits", "core/wide.hpp",
     "static_cast<uint128>(a) * b / c", "a * b / c"),
    ("the local exit includes the children", EXIT_LAW,
     "residual -= mass;", ""),
    ("coverage counts the root", EXIT_LAW,
     "if (v > 0) law.coverage", "if (v >= 0) law.coverage"),
    # Draws and masses.
    ("locate takes the first number of the next weight", "team/locate.hpp",
     "if (rest < w)", "if (rest <= w)"),
    ("draws from mass rows skip nothing", MASS_ROWS,
     "contains(skip, x) ? 0 : at(v, x)", "at(v, x)"),
    ("a chunk's mass keeps the skipped tokens", SOFTMAX,
     "left = m < left ? left - m : 0;", "left = m < left ? left : 0;"),
    ("a draw inside a chunk skips nothing", SOFTMAX,
     "m != 0 && contains(skip, x) ? 0 : m;", "m;"),
    ("chunks are pruned while they have mass", SOFTMAX,
     "summary.masses(largest) != 0)", "summary.masses(largest) > 1)"),
    ("the last token of a chunk is lost", "distribution/chunks.hpp",
     "chunk_begin(chunk) + chunk_size;", "chunk_begin(chunk) + chunk_size - 1;"),
    ("masses end an octave early", "distribution/fixed_point.hpp",
     "if (!(octaves < 41.0f))", "if (!(octaves < 39.0f))"),
    # Randomness.
    ("Philox's key schedule has a wrong constant", PHILOX,
     "key1 += 0xBB67AE85u;", "key1 += 0xBB67AE84u;"),
    ("the words of u are read in the other order", PHILOX,
     "std::uint64_t{u[3]} << 32 | u[2]", "std::uint64_t{u[2]} << 32 | u[3]"),
    ("the index covers the purpose", PHILOX,
     "static_cast<std::uint32_t>(d.what) << 24", "static_cast<std::uint32_t>(d.what) << 23"),
    ("the lower half of u does not carry", "core/wide.hpp",
     "n + carried) >> 64", "n) >> 64"),
    # Tree.
    ("a list of children may run in a circle", "tree/concept.hpp",
     "child > last && child < t.size();", "child >= 0 && child < t.size();"),
    ("siblings are lost", "tree/links.hpp",
     "next_sibling[v] = first_child[parent];", "next_sibling[v] = no_node;"),
    ("a node does not see itself", "tree/attention.hpp",
     "row[v / 32] |= 1u << (v % 32);", "row[v / 32] |= v == 0 ? 1u : 0u;"),
    ("committed rows move one slot too far", "tree/commit.hpp",
     "to = base + static_cast<std::int64_t>(i);", "to = base + static_cast<std::int64_t>(i) + 1;"),
    ("a path misses its last node", "tree/path.hpp",
     "for (; v > 0; v = t.parent(v)) path.push_back(v);",
     "for (; v > 0; v = t.parent(v)) path.push_back(t.parent(v));"),
    # Builder.
    ("the builder offers no siblings", BUILDER,
     "offer(best.parent, best.rank + 1);", ""),
    ("equal scores come deeper first", BUILDER,
     "return a.depth < b.depth;", "return a.depth > b.depth;"),
    ("equal scores and depths come in the other order", BUILDER,
     "return rank_a < rank_b;", "return rank_a > rank_b;"),
    ("equal masses rank the higher token first", "build/ranked_tokens.hpp",
     "a.token < b.token;", "a.token > b.token;"),
]

# Mutants that another probe than their folder's has to notice.
PROBE_OF = {
    "flow is multiplied in 64 bits": "laws",
    "draws from mass rows skip nothing": "laws",
}
