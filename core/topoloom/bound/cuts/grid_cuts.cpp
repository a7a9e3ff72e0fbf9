// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/cuts/grid_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "topoloom/pattern/grid_edges.hpp"
#include "topoloom/pattern/recognize/recognize.hpp"

namespace topoloom::bound {

namespace {

/// Minimum bytes between two partners on each axis.
std::vector<std::int64_t> min_bytes_along_axes(const CommGraph& symmetric, const GridPattern& grid) {
    std::vector<std::int64_t> least(grid.axes.size(), std::numeric_limits<std::int64_t>::max());
    visit_edges_along_axes(symmetric, extents_of(grid.axes), grid.rank_of_cell,
                           [&](std::size_t axis, std::uint32_t, Bytes bytes) {
                               least[axis] = std::min(least[axis], bytes.value);
                           });
    return least;
}

/// Minimum number of messages between two parts of a line.
std::int64_t min_messages_across(const PatternAxis& axis) {
    switch (axis.kind) {
        case AxisKind::path:
            return 1;
        case AxisKind::ring:
            return 2;
        case AxisKind::clique:
            return axis.extent - 1;
        case AxisKind::apart:
            break;
    }
    return 0;
}

}  // namespace

GridCuts grid_cuts(const CommGraph& symmetric, int threads) {
    const std::optional<GridPattern> grid = recognize(symmetric, threads);
    if (!grid) return {};
    const std::vector<std::int64_t> bytes = min_bytes_along_axes(symmetric, *grid);
    std::vector<double> costs;  // of a mixed line, divided by its length
    std::int64_t unit = 0;      // divides every cut along the axes
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::int64_t messages = min_messages_across(grid->axes[i]);
        if (messages == 0) return {};
        costs.push_back(static_cast<double>(messages) * static_cast<double>(bytes[i]) / grid->axes[i].extent);
        unit = std::gcd(unit, messages * bytes[i]);
    }
    if (grid->shape != StencilShape::star || !grid->uniform) unit = 1;
    if (unit == 0) return {};
    // The best set of r axes consists of the r cheapest.
    std::ranges::sort(costs);
    const auto ranks = static_cast<double>(symmetric.rank_count());
    std::vector<std::int64_t> cuts(symmetric.rank_count() + 1, 0);
    for (std::size_t k = 1; 2 * k <= symmetric.rank_count(); ++k) {
        const double share = static_cast<double>(k) / ranks;
        double least = std::numeric_limits<double>::infinity();
        double log_costs = 0;
        for (std::size_t r = 1; r <= costs.size(); ++r) {
            log_costs += std::log(costs[r - 1]);
            const auto axes = static_cast<double>(r);
            least =
                std::min(least, ranks * axes * std::exp(log_costs / axes) * std::pow(share, 1 - 1 / axes));
        }
        const double units = least / static_cast<double>(unit);
        const auto whole = static_cast<std::int64_t>(std::ceil(units * (1 - 1e-12) - 1e-9));
        cuts[k] = cuts[symmetric.rank_count() - k] = whole * unit;
    }
    const bool has_clique = std::ranges::any_of(
        grid->axes, [](const PatternAxis& axis) { return axis.kind == AxisKind::clique; });
    return {std::move(cuts), grid->shape == StencilShape::star && !has_clique};
}

}  // namespace topoloom::bound
