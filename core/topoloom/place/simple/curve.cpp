// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/simple/curve.hpp"

#include <array>
#include <numeric>
#include <string_view>

#include "topoloom/place/simple/simple.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 4> names{"hilbert", "morton", "peano", "snake"};

std::vector<std::uint32_t> order_of_ranks(Curve curve, const Problem& problem, const CurveOptions& options) {
    std::vector<std::uint32_t> ranks(problem.rank_count());
    if (options.ranks == 0 && options.grid.empty()) {
        std::iota(ranks.begin(), ranks.end(), 0U);
        return ranks;
    }
    const RankGrid grid = rank_grid(problem, options.grid, names[static_cast<std::size_t>(curve)]);
    const std::vector<std::uint32_t> cells = curve_order(curve, grid.extents);
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = grid.rank_of_cell[cells[i]].value;
    return ranks;
}

}  // namespace

Placement place_along(Curve curve, const Problem& problem, Meter& meter, const CurveOptions& options) {
    meter.spend(problem.rank_count());
    return place_in_order(problem, order_of_ranks(curve, problem, options),
                          curve_order(curve, problem.allocation()));
}

}  // namespace topoloom
