// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/rank_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/grid_edges.hpp"

namespace topoloom {

namespace {

/// For each axis, sums the bytes of the edges whose endpoints are neighbors along it.
void add_bytes(const CommGraph& graph, RankGrid& grid) {
    grid.bytes.assign(grid.axes(), 0);
    grid.wrap_bytes.assign(grid.axes(), 0);
    visit_edges_along_axes(graph, grid.extents, grid.rank_of_cell,
                           [&](std::size_t axis, std::uint32_t step, Bytes bytes) {
                               if (step == 1) {
                                   grid.bytes[axis] += static_cast<double>(bytes.value);
                               } else if (step + 1 == grid.extents[axis]) {
                                   grid.wrap_bytes[axis] += static_cast<double>(bytes.value);
                               }
                           });
}

class ExtentsSearch {
   public:
    ExtentsSearch(const Extents& wanted, std::size_t cells) : wanted_(wanted), now_(wanted.size()) {
        for (std::size_t extent = 1; extent * extent <= cells; ++extent) {
            if (cells % extent == 0) divisors_.insert(divisors_.end(), {extent, cells / extent});
        }
        std::ranges::sort(divisors_);
        divisors_.erase(std::unique(divisors_.begin(), divisors_.end()), divisors_.end());
        choose_extents(0, cells, 0);
    }
    [[nodiscard]] const Extents& best() const { return best_; }

   private:
    void choose_extents(std::size_t axis, std::size_t cells, double off) {
        if (off >= least_) return;
        if (axis + 1 == wanted_.size()) {
            now_[axis] = static_cast<std::uint32_t>(cells);
            off += apart(axis);
            if (off < least_) {
                least_ = off;
                best_ = now_;
            }
            return;
        }
        for (const std::size_t extent : divisors_) {
            if (cells % extent != 0) continue;
            now_[axis] = static_cast<std::uint32_t>(extent);
            choose_extents(axis + 1, cells / extent, off + apart(axis));
        }
    }
    [[nodiscard]] double apart(std::size_t axis) const {
        return std::pow(std::log(static_cast<double>(now_[axis]) / std::max(1U, wanted_[axis])), 2);
    }

    const Extents& wanted_;
    Extents now_;
    Extents best_;
    std::vector<std::size_t> divisors_;  // divisors of the cell count, ascending
    double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Extents nearest_extents(const Extents& extents, std::size_t cells) {
    constexpr std::size_t most = (std::size_t{1} << 31) - 1;
    if (extents.empty()) fail("a grid needs at least one axis");
    if (cells == 0 || cells > most) fail("a grid of ", cells, " cells; there must be 1 to ", most);
    return ExtentsSearch(extents, cells).best();
}

std::optional<RankGrid> find_rank_grid(const Problem& problem) {
    const std::optional<GridPattern>& pattern = problem.pattern();
    if (!pattern) return std::nullopt;
    RankGrid grid;
    grid.extents = extents_of(pattern->axes);
    grid.rank_of_cell = pattern->rank_of_cell;
    add_bytes(problem.graph(), grid);
    return grid;
}

RankGrid rank_grid(const Problem& problem, const Extents& extents, std::string_view mapper) {
    const std::size_t ranks = problem.rank_count();
    if (extents.empty()) {
        if (auto found = find_rank_grid(problem)) return *std::move(found);
        const auto side = static_cast<std::uint32_t>(std::lround(std::sqrt(ranks)));
        fail(mapper, ": the ranks form no grid that is recognized; say which, as in ", mapper,
             "(grid=", format_extents(nearest_extents({side, side}, ranks)), ")");
    }
    if (cell_count(extents) != ranks) {
        fail(mapper, ": a grid of ", format_extents(extents), " does not have the ", ranks,
             " cells that the ranks need; the nearest that does is ",
             format_extents(nearest_extents(extents, ranks)));
    }
    RankGrid grid{extents, {}, {}, {}};
    for (const Rank rank : ids<Rank>(ranks)) grid.rank_of_cell.push_back(rank);
    add_bytes(problem.graph(), grid);
    return grid;
}

}  // namespace topoloom
