// SPDX-License-Identifier: BSD-3-Clause
// Recognition of strong products: the numbers of neighbors and of common neighbors of two ranks determine the
// number of axes on which the ranks differ.
//
// Let N(x) be the closed neighborhood of x. On a ring of four or more ranks, |N(x)| = 3, and partners share
// 2. On a path of three or more ranks, an end has |N(x)| = 2, and shares both with its partner, which has 3.
// In a product these numbers are multiplied.
#include <algorithm>
#include <bit>

#include "topoloom/base/id.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/pattern/recognize/recognize.hpp"

namespace topoloom {

namespace {

/// A graph in which ranks with the same closed neighborhood (twins) are one vertex. Short axes create twins.
struct QuotientGraph {
    std::uint32_t twins = 1;  // number of ranks per vertex, equal for all vertices
    std::vector<std::uint64_t> first{0};
    std::vector<Rank> peers;
    std::vector<std::vector<Rank>> members;  // of each vertex

    [[nodiscard]] std::uint32_t vertex_of(Rank rank) const {
        const auto contains = [&](const std::vector<Rank>& list) {
            return std::ranges::find(list, rank) != list.end();
        };
        return static_cast<std::uint32_t>(std::ranges::find_if(members, contains) - members.begin());
    }
};

std::optional<QuotientGraph> join_twins(const Adjacency& graph, std::uint32_t twins) {
    std::vector<std::uint64_t> mark(graph.size());  // hash of a closed neighborhood
    for (std::uint32_t u = 0; u < graph.size(); ++u) {
        const auto draw = [](std::uint32_t v) {
            const auto block = philox({v, 0, 0, 0}, {1, 2});
            return std::uint64_t{block[0]} << 32 | block[1];
        };
        const std::uint64_t own = draw(u);
        mark[u] += own;
        for (const Rank v : graph.of(u)) mark[v.value] += own;
    }
    QuotientGraph joined;
    joined.twins = twins;
    std::vector<std::uint32_t> vertex(graph.size(), no_index);
    for (std::uint32_t u = 0; u < graph.size(); ++u) {
        if (vertex[u] != no_index) continue;
        vertex[u] = static_cast<std::uint32_t>(joined.members.size());
        joined.members.push_back({Rank{u}});
        for (const Rank v : graph.of(u)) {
            if (mark[v.value] != mark[u]) continue;
            vertex[v.value] = vertex[u];
            joined.members.back().push_back(v);
        }
        if (joined.members.back().size() != twins) return std::nullopt;
    }
    for (const auto& members : joined.members) {
        const std::uint32_t own = vertex[members.front().value];
        for (const Rank v : graph.of(members.front().value)) {
            const std::uint32_t other = vertex[v.value];
            if (other != own && joined.members[other].front() == v) joined.peers.push_back(Rank{other});
        }
        joined.first.push_back(joined.peers.size());
    }
    return joined;
}

/// Builds a grid without twins from a corner: rings of four or more ranks, paths of three or more.
class BoxBuilder {
   public:
    BoxBuilder(const Adjacency& graph, std::uint32_t corner) : graph_(graph), corner_(corner) {}

    /// Finds the ranks along every axis, starting with the corner. Returns false if the graph is not such a
    /// grid.
    bool find_lines() {
        if (!find_axes() || lines_.empty() || lines_.size() > 10) return false;
        std::uint64_t cells = 1;
        for (Line& line : lines_) {
            for (;;) {
                const std::uint32_t next = next_on_line(line[line.size() - 2], line.back());
                if (next == no_index || next == corner_ || line.size() > graph_.size()) break;
                line.push_back(next);
            }
            cells *= line.size();
            if (cells > graph_.size()) return false;
        }
        if (cells != graph_.size()) return false;
        std::stable_sort(lines_.begin(), lines_.end(),
                         [](const Line& a, const Line& b) { return a.size() > b.size(); });
        return true;
    }

    [[nodiscard]] std::vector<PatternAxis> axes() const {
        std::vector<PatternAxis> axes;
        for (const Line& line : lines_) axes.push_back({static_cast<std::uint32_t>(line.size()), kind(line)});
        return axes;
    }

    /// Returns the rank of every cell, row-major, or an empty list if the neighborhoods are inconsistent.
    std::vector<std::uint32_t> fill_cells() {
        stride_ = strides_of(axes());
        across_ = 0;
        for (const std::uint32_t stride : stride_) across_ += stride;
        cells_.assign(graph_.size(), no_index);
        taken_.assign(graph_.size(), 0);
        std::vector<std::uint32_t> at(lines_.size(), 0);
        for (std::uint32_t cell = 0; cell < graph_.size(); ++cell) {
            const std::uint32_t rank = rank_at(cell, at);
            if (rank == no_index || taken_[rank] != 0) return {};
            taken_[rank] = 1;
            cells_[cell] = rank;
            for (std::size_t i = at.size(); i-- > 0;) {
                if (++at[i] < lines_[i].size()) break;
                at[i] = 0;
            }
        }
        return std::move(cells_);
    }

   private:
    using Line = std::vector<std::uint32_t>;

    /// Finds the first two ranks along every axis. Returns false if the partner of one on a ring is missing.
    bool find_axes() {
        const std::uint32_t closed = graph_.degree(corner_) + 1;
        std::vector<std::uint32_t> ring_partners;
        for (const Rank v : graph_.of(corner_)) {
            const std::uint32_t shared = graph_.count_closed_common_neighbors(corner_, v.value);
            const std::uint32_t theirs = graph_.degree(v.value) + 1;
            if (shared == closed && 2 * theirs == 3 * closed) lines_.push_back({corner_, v.value});
            if (3 * shared == 2 * closed && theirs == closed) ring_partners.push_back(v.value);
        }
        for (const std::uint32_t v : ring_partners) {
            const auto opposite = [&](std::uint32_t w) { return w != v && !graph_.are_adjacent(v, w); };
            const auto w = std::find_if(ring_partners.begin(), ring_partners.end(), opposite);
            if (w == ring_partners.end()) return false;
            if (v < *w) lines_.push_back({corner_, v});
        }
        return true;
    }

    [[nodiscard]] AxisKind kind(const Line& line) const {
        return line.size() > 2 && graph_.are_adjacent(line.front(), line.back()) ? AxisKind::ring
                                                                                 : AxisKind::path;
    }

    /// Returns the next rank along an axis. Of all ranks one step farther, this rank has the most common
    /// neighbors with `at`. At the border of the grid all candidates share the same number; there this rank
    /// has the fewest neighbors.
    [[nodiscard]] std::uint32_t next_on_line(std::uint32_t before, std::uint32_t at) const {
        std::uint32_t next = no_index;
        std::uint32_t most = 0;
        for (const Rank w : graph_.of(at)) {
            if (w.value == before || graph_.are_adjacent(before, w.value)) continue;
            const std::uint32_t shared = graph_.count_common_neighbors(at, w.value);
            const bool tie = next != no_index && shared == most;
            if (next == no_index || shared > most || (tie && graph_.degree(w.value) < graph_.degree(next))) {
                next = w.value;
                most = shared;
            }
        }
        return next;
    }

    [[nodiscard]] std::uint32_t rank_at(std::uint32_t cell, const std::vector<std::uint32_t>& at) const {
        std::size_t moved = 0;
        std::size_t longest = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
            moved += at[i] > 0 ? 1 : 0;
            if (at[i] > at[longest]) longest = i;
        }
        if (moved == 0) return corner_;
        if (moved == 1) return lines_[longest][at[longest]];
        if (moved == at.size() && at[longest] > 1) return inner_rank(cell);
        if (at[longest] == 1) return rank_beside_corner(at);
        return next_on_line(cells_[cell - 2 * stride_[longest]], cells_[cell - stride_[longest]]);
    }

    /// Returns the only unplaced neighbor of the cell that is one step back on all axes.
    [[nodiscard]] std::uint32_t inner_rank(std::uint32_t cell) const {
        const std::uint32_t from = cell - across_;
        std::uint32_t found = no_index;
        for (const Rank w : graph_.of(cells_[from])) {
            if (taken_[w.value] != 0) continue;
            // On a ring, the cells at the far end of the grid are unplaced too, so check adjacency.
            const bool fits = std::all_of(stride_.begin(), stride_.end(), [&](std::uint32_t stride) {
                return graph_.are_adjacent(w.value, cells_[from + stride]);
            });
            if (!fits) continue;
            if (found != no_index) return no_index;
            found = w.value;
        }
        return found;
    }

    /// Returns the neighbor of the corner that differs by one step exactly on the axes with at[i] = 1.
    [[nodiscard]] std::uint32_t rank_beside_corner(const std::vector<std::uint32_t>& at) const {
        const std::uint32_t closed = graph_.degree(corner_) + 1;
        std::uint64_t shared = closed;  // number of neighbors shared with the corner
        std::uint64_t theirs = closed;
        for (std::size_t i = 0; i < at.size(); ++i) {
            if (at[i] == 0) continue;
            if (kind(lines_[i]) == AxisKind::ring) {
                shared = shared * 2 / 3;
            } else {
                theirs = theirs * 3 / 2;
            }
        }
        std::uint32_t found = no_index;
        for (const Rank w : graph_.of(corner_)) {
            if (taken_[w.value] != 0 || graph_.degree(w.value) + 1 != theirs ||
                graph_.count_closed_common_neighbors(corner_, w.value) != shared) {
                continue;
            }
            bool fits = true;
            for (std::size_t i = 0; i < at.size() && fits; ++i) {
                if (at[i] == 0) continue;
                // On axis i, w and its partner there share a whole neighborhood, not only the edge.
                fits = graph_.are_adjacent(w.value, lines_[i][1]) &&
                       2 * graph_.count_closed_common_neighbors(w.value, lines_[i][1]) == 3 * shared;
            }
            if (!fits) continue;
            if (found != no_index) return no_index;
            found = w.value;
        }
        return found;
    }

    const Adjacency& graph_;
    std::uint32_t corner_;
    std::vector<Line> lines_;
    std::vector<std::uint32_t> stride_;
    std::uint32_t across_ = 0;
    std::vector<std::uint32_t> cells_;
    std::vector<char> taken_;
};

std::uint32_t count_twins(const Adjacency& graph, std::uint32_t u) {
    std::uint32_t twins = 1;
    for (const Rank v : graph.of(u)) {
        if (graph.degree(v.value) == graph.degree(u) &&
            graph.count_closed_common_neighbors(u, v.value) == graph.degree(u) + 1) {
            ++twins;
        }
    }
    return twins;
}

}  // namespace

std::optional<GridPattern> propose_box(const Adjacency& graph, std::uint32_t corner) {
    const std::uint32_t twins = count_twins(graph, corner);
    if (twins == 0 || graph.size() % twins != 0) return std::nullopt;
    std::optional<QuotientGraph> joined;
    if (twins > 1) {
        joined = join_twins(graph, twins);
        if (!joined) return std::nullopt;
    }
    const Adjacency grid = joined ? Adjacency(joined->first, joined->peers) : graph;
    if (joined) corner = joined->vertex_of(Rank{corner});
    GridPattern pattern;
    pattern.shape = StencilShape::box;
    std::vector<std::uint32_t> cells(1, 0);
    if (grid.size() > 1) {
        BoxBuilder growth(grid, corner);
        if (!growth.find_lines()) return std::nullopt;
        pattern.axes = growth.axes();
        cells = growth.fill_cells();
        if (cells.empty()) return std::nullopt;
    }
    if (twins > 1) pattern.axes.push_back({twins, twins == 2 ? AxisKind::path : AxisKind::clique});
    for (const std::uint32_t cell : cells) {
        if (joined) {
            const auto& members = joined->members[cell];
            pattern.rank_of_cell.insert(pattern.rank_of_cell.end(), members.begin(), members.end());
        } else {
            pattern.rank_of_cell.push_back(Rank{cell});
        }
    }
    return pattern;
}

}  // namespace topoloom
