// SPDX-License-Identifier: BSD-3-Clause
// Placements along space-filling curves through the slots. Ranks follow in rank order, or along the same
// curve through the rank grid.
#include <array>
#include <string_view>

#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"
#include "topoloom/place/state/curve_positions.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom::simple {

namespace {

enum class RankOrder { by_number, by_curve };

struct CurveOptions {
    RankOrder ranks = RankOrder::by_number;
    Extents grid;
    void visit(auto& field) {
        field("ranks", ranks, Choices{"by-number", "by-curve"},
              "their order: as numbered, or along the curve through the grid that they form");
        field("grid", grid,
              "order ranks along the curve through this grid; none: recognized where asked for");
    }
};

constexpr std::array<std::string_view, 4> names{"hilbert", "morton", "peano", "snake"};

std::vector<Rank> order_ranks(Curve curve, const Problem& problem, const CurveOptions& options) {
    if (options.ranks == RankOrder::by_number && options.grid.empty())
        return id_list<Rank>(problem.rank_count());
    const RankGrid grid = rank_grid(problem, options.grid, names[static_cast<std::size_t>(curve)]);
    std::vector<Rank> ranks;
    for (const std::uint32_t cell : sort_along_curve(curve, grid.extents))
        ranks.push_back(grid.rank_of_cell[cell]);
    return ranks;
}

/// Puts the i-th rank on the i-th slot along the curve through the slots, or fills shared slots in this
/// order. O(ranks log ranks).
template <Curve curve>
Placement place_along_curve(const Problem& problem, Meter& meter, const CurveOptions& options) {
    meter.spend(problem.rank_count());
    return place_in_order(problem, order_ranks(curve, problem, options),
                          curve_positions(curve, problem.allocation()));
}

}  // namespace

MapperEntry hilbert_mapper() {
    return mapper_entry<place_along_curve<Curve::hilbert>>(
        {.name = "hilbert",
         .summary = "ranks in order along a Hilbert curve through the nodes",
         .source = "Skilling 2004; Sudheer 2012, sec. 5.5",
         .needs = "coordinates",
         .occupancy = Occupancy::both});
}

MapperEntry morton_mapper() {
    return mapper_entry<place_along_curve<Curve::morton>>(
        {.name = "morton",
         .summary = "along a Morton curve: by the interleaved bits of the coordinates",
         .source = "Morton 1966",
         .needs = "coordinates",
         .occupancy = Occupancy::both});
}

MapperEntry peano_mapper() {
    return mapper_entry<place_along_curve<Curve::peano>>(
        {.name = "peano",
         .summary = "along a Peano curve, which suits extents of powers of three",
         .source = "Peano 1890",
         .needs = "coordinates",
         .occupancy = Occupancy::both});
}

MapperEntry snake_mapper() {
    return mapper_entry<place_along_curve<Curve::snake>>({.name = "snake",
                                                          .summary = "row by row, every other row backwards",
                                                          .needs = "coordinates",
                                                          .occupancy = Occupancy::both});
}

}  // namespace topoloom::simple
