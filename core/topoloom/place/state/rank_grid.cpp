// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/rank_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// For each axis, sums the bytes of the edges whose endpoints are neighbors along it.
void add_bytes(const CommGraph& graph, RankGrid& grid) {
    const std::size_t axes = grid.axes();
    std::vector<std::uint32_t> cell_of_rank(grid.cells());
    for (std::uint32_t cell = 0; cell < grid.cells(); ++cell)
        cell_of_rank[grid.rank_of_cell[cell].value] = cell;
    grid.bytes.assign(axes, 0);
    grid.wrap_bytes.assign(axes, 0);
    for (const Rank u : ids<Rank>(grid.cells())) {
        for (const Edge edge : graph.sends(u)) {
            std::uint32_t a = cell_of_rank[u.value];
            std::uint32_t b = cell_of_rank[edge.peer.value];
            std::size_t moved = 0;
            std::size_t along = 0;
            std::uint32_t step = 0;
            for (std::size_t i = axes; i-- > 0;) {
                const std::uint32_t x = a % grid.extents[i];
                const std::uint32_t y = b % grid.extents[i];
                a /= grid.extents[i];
                b /= grid.extents[i];
                if (x == y) continue;
                ++moved;
                along = i;
                step = x < y ? y - x : x - y;
            }
            if (moved != 1) continue;
            const auto bytes = static_cast<double>(edge.bytes.value);
            if (step == 1) {
                grid.bytes[along] += bytes;
            } else if (step + 1 == grid.extents[along]) {
                grid.wrap_bytes[along] += bytes;
            }
        }
    }
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
