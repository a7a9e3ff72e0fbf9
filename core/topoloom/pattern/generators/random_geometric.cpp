// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/generators/random_geometric.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/pattern/argument_check.hpp"

namespace topoloom {

namespace {

struct Point {
    double x;
    double y;
};

/// Probability that two random points of the unit square are closer than r, for r <= 1.
double pair_probability(double r) { return r * r * (std::numbers::pi - r * (8.0 / 3) + r * r / 2); }

/// Returns r with share_within(r) = share, by bisection to the last bit.
double find_radius(double share) {
    double low = 0;
    double high = 1;
    for (int halving = 0; halving < 64; ++halving) {
        const double middle = (low + high) / 2;
        (pair_probability(middle) < share ? low : high) = middle;
    }
    return high;
}

/// Points sorted into square cells at least as wide as the radius, so neighbors are in the surrounding 3 x 3
/// cells.
class CellGrid {
   public:
    CellGrid(const std::vector<Point>& points, double radius) : points_(points), radius_(radius) {
        const double most = std::sqrt(static_cast<double>(points.size()));
        // Cells are slightly wider than the radius, so that despite rounding no neighbor is two cells away.
        side_ = static_cast<std::size_t>(std::max(1.0, std::floor(std::min(most, (1 - 1e-9) / radius))));
        start_.assign(side_ * side_ + 1, 0);
        for (const Point& point : points) ++start_[cell(point) + 1];
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        members_.resize(points.size());
        std::vector<std::uint32_t> next(start_.begin(), start_.end() - 1);
        for (const Rank u : ids<Rank>(points.size())) {
            members_[next[cell(points[u.value])]++] = {points[u.value], u};
        }
    }

    template <class Use>
    void for_each_neighbor(Rank u, const Use& use) const {
        const Point& here = points_[u.value];
        const std::size_t column = along(here.x);
        const std::size_t row = along(here.y);
        for (std::size_t y = row - std::min<std::size_t>(row, 1); y <= std::min(row + 1, side_ - 1); ++y) {
            for (std::size_t x = column - std::min<std::size_t>(column, 1);
                 x <= std::min(column + 1, side_ - 1); ++x) {
                for (std::uint32_t i = start_[y * side_ + x]; i < start_[y * side_ + x + 1]; ++i) {
                    const auto& [there, v] = members_[i];
                    const double dx = there.x - here.x;
                    const double dy = there.y - here.y;
                    if (v != u && dx * dx + dy * dy < radius_ * radius_) use(v);
                }
            }
        }
    }

   private:
    [[nodiscard]] std::size_t along(double coordinate) const {
        return std::min(static_cast<std::size_t>(coordinate * static_cast<double>(side_)), side_ - 1);
    }
    [[nodiscard]] std::size_t cell(const Point& point) const {
        return along(point.y) * side_ + along(point.x);
    }

    const std::vector<Point>& points_;
    double radius_;
    std::size_t side_;
    std::vector<std::uint32_t> start_;
    std::vector<std::pair<Point, Rank>> members_;
};

}  // namespace

CommGraph random_geometric(std::size_t rank_count, Bytes bytes, std::uint64_t seed, double average_degree) {
    check_pattern("random geometric graph", rank_count, bytes);
    const double others = static_cast<double>(rank_count) - 1;
    if (!(average_degree >= 0 && average_degree <= pair_probability(1) * others)) {
        fail("the average degree of a random geometric graph of ", rank_count, " ranks cannot be ",
             average_degree, "; give 0 to ", pair_probability(1) * others);
    }
    if (average_degree == 0) return CommGraph::from_rows(rank_count, [](Rank, const auto&) {});
    Rng rng(seed);
    std::vector<Point> points(rank_count);
    for (Point& point : points) {
        point.x = rng.uniform();
        point.y = rng.uniform();
    }
    const CellGrid cells(points, find_radius(average_degree / others));
    return CommGraph::from_rows(rank_count, [&](Rank u, const auto& add) {
        cells.for_each_neighbor(u, [&](Rank v) { add(Edge{v, bytes}); });
    });
}

}  // namespace topoloom
