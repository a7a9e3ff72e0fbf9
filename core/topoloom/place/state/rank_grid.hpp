// SPDX-License-Identifier: BSD-3-Clause
// The grid of the ranks: given by an option, or recognized in the communication graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/option.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom {

/// For mappers that place grids.
struct GridOptions {
    Extents grid;
    void visit(auto& field) {
        field("grid", grid, "cells of the ranks' grid along every axis; none: recognized");
    }
};

/// Ranks in the cells of a grid; cells are numbered row-major, the last axis fastest.
struct RankGrid {
    Extents extents;
    std::vector<Rank> rank_of_cell;
    /// Bytes in both directions between neighbors along every axis, all neighbors together; those of the wrap-around
    /// pairs, of first and last cells of an axis, apart. Messages between other cells are in neither.
    std::vector<double> bytes;
    std::vector<double> wrap_bytes;

    [[nodiscard]] std::size_t axes() const { return extents.size(); }
    [[nodiscard]] std::size_t cells() const { return rank_of_cell.size(); }
};

/// With `extents` the ranks are numbered row-major in them; without, they are in the grid of the problem's pattern().
/// Throws Error, for `mapper`, if the extents hold another number of ranks, naming extents close by that fit, and
/// where no grid is recognized. O(edges).
[[nodiscard]] RankGrid rank_grid(const Problem& problem, const Extents& extents, std::string_view mapper);

/// The grid of the problem's pattern(), if it has one. O(edges).
[[nodiscard]] std::optional<RankGrid> find_rank_grid(const Problem& problem);

/// Extents that hold `cells` cells and are the nearest to those given: the least sum of log(new / given)^2, then the
/// first in lexicographic order. Throws Error for no axes, no cells and 2^31 cells or more. O(divisors of cells, to the power of axes - 1).
[[nodiscard]] Extents nearest_extents(const Extents& extents, std::size_t cells);

}  // namespace topoloom
