// SPDX-License-Identifier: BSD-3-Clause
// Recognition of Cartesian products: two edges at a rank are on different axes exactly if they span one
// square and no triangle.
#include <bit>

#include "topoloom/base/id.hpp"
#include "topoloom/pattern/recognize/recognize.hpp"

namespace topoloom {

namespace {

/// Whether the neighbors v and w of a rank are on the same axis through the rank.
bool are_on_same_axis(const Adjacency& graph, std::uint32_t v, std::uint32_t w) {
    return graph.are_adjacent(v, w) || graph.count_common_neighbors(v, w) == 1;
}

/// Returns the neighbors of a corner, grouped by axis, or an empty list if there are too many axes for the
/// number of ranks.
std::vector<std::vector<std::uint32_t>> group_neighbors_by_axis(const Adjacency& graph,
                                                                std::uint32_t corner) {
    const auto max_axes = static_cast<std::size_t>(std::bit_width(graph.size()));
    std::vector<std::vector<std::uint32_t>> axes;
    for (const Rank v : graph.of(corner)) {
        bool found = false;
        for (auto& axis : axes) {
            if (!are_on_same_axis(graph, axis.front(), v.value)) continue;
            axis.push_back(v.value);
            found = true;
            break;
        }
        if (!found) axes.push_back({v.value});
        if (axes.size() > max_axes) return {};
    }
    return axes;
}

/// Returns the rank that follows `before` and `at` on a path, or no_index if the path ends or forks.
std::uint32_t next_on_line(const Adjacency& graph, std::uint32_t before, std::uint32_t at) {
    std::uint32_t next = no_index;
    for (const Rank w : graph.of(at)) {
        if (w.value == before || are_on_same_axis(graph, before, w.value) == false) continue;
        if (next != no_index) return no_index;
        next = w.value;
    }
    return next;
}

struct Line {
    AxisKind kind;
    std::vector<std::uint32_t> ranks;  // starting with the corner
};

std::optional<Line> trace_line(const Adjacency& graph, std::uint32_t corner,
                               const std::vector<std::uint32_t>& beside) {
    Line line{AxisKind::path, {corner}};
    if (beside.size() > 1 && graph.are_adjacent(beside[0], beside[1])) {
        line.kind = AxisKind::clique;
        line.ranks.insert(line.ranks.end(), beside.begin(), beside.end());
        return line;
    }
    if (beside.size() > 2) return std::nullopt;
    line.ranks.push_back(beside[0]);
    for (;;) {
        const std::uint32_t next = next_on_line(graph, line.ranks[line.ranks.size() - 2], line.ranks.back());
        if (next == corner) line.kind = AxisKind::ring;
        if (next == no_index || next == corner) break;
        line.ranks.push_back(next);
        if (line.ranks.size() > graph.size()) return std::nullopt;
    }
    // A path leaves the corner on one side only, a ring on both sides.
    if ((line.kind == AxisKind::ring) != (beside.size() == 2)) return std::nullopt;
    return line;
}

/// Fills the grid in row-major order: two known neighbors of a cell have exactly one other common neighbor
/// besides the opposite corner of their square.
class StarBuilder {
   public:
    StarBuilder(const Adjacency& graph, const std::vector<Line>& lines, GridPattern& pattern)
        : graph_(graph),
          lines_(lines),
          stride_(strides_of(pattern.axes)),
          cells_(pattern.rank_of_cell),
          taken_(graph.size(), 0) {}

    bool run() {
        std::vector<std::uint32_t> at(lines_.size(), 0);
        for (std::uint32_t cell = 0; cell < graph_.size(); ++cell) {
            const std::uint32_t rank = rank_at(cell, at);
            if (rank == no_index || taken_[rank] != 0) return false;
            taken_[rank] = 1;
            cells_[cell] = Rank{rank};
            for (std::size_t i = at.size(); i-- > 0;) {
                if (++at[i] < lines_[i].ranks.size()) break;
                at[i] = 0;
            }
        }
        return true;
    }

   private:
    [[nodiscard]] std::uint32_t rank_at(std::uint32_t cell, const std::vector<std::uint32_t>& at) const {
        std::size_t last = at.size();
        std::size_t other = at.size();
        for (std::size_t i = at.size(); i-- > 0 && other == at.size();) {
            if (at[i] == 0) continue;
            (last == at.size() ? last : other) = i;
        }
        if (last == at.size()) return lines_[0].ranks[0];
        if (other == at.size()) return lines_[last].ranks[at[last]];
        const std::uint32_t across = cells_[cell - stride_[last] - stride_[other]].value;
        std::uint32_t found = no_index;
        graph_.for_each_common_neighbor(cells_[cell - stride_[last]].value,
                                        cells_[cell - stride_[other]].value, [&](std::uint32_t w) {
                                            if (w == across) return true;
                                            found = found == no_index ? w : graph_.size();
                                            return found != graph_.size();
                                        });
        return found == graph_.size() ? no_index : found;
    }

    const Adjacency& graph_;
    const std::vector<Line>& lines_;
    std::vector<std::uint32_t> stride_;
    std::vector<Rank>& cells_;
    std::vector<char> taken_;
};

}  // namespace

std::optional<GridPattern> propose_star(const Adjacency& graph, std::uint32_t corner) {
    std::vector<Line> lines;
    std::uint64_t cells = 1;
    for (const auto& beside : group_neighbors_by_axis(graph, corner)) {
        std::optional<Line> line = trace_line(graph, corner, beside);
        if (!line) return std::nullopt;
        cells *= line->ranks.size();
        if (cells > graph.size()) return std::nullopt;
        lines.push_back(std::move(*line));
    }
    if (cells != graph.size() || lines.empty()) return std::nullopt;
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line& a, const Line& b) { return a.ranks.size() > b.ranks.size(); });
    GridPattern pattern;
    for (const Line& line : lines) {
        pattern.axes.push_back({static_cast<std::uint32_t>(line.ranks.size()), line.kind});
    }
    pattern.rank_of_cell.resize(graph.size());
    if (!StarBuilder(graph, lines, pattern).run()) return std::nullopt;
    return pattern;
}

}  // namespace topoloom
