// SPDX-License-Identifier: BSD-3-Clause
// The rank grid: specified by an option, or recognized in the communication graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/option.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom {

/// The options that mappers of grids share.
struct GridOptions {
    Extents grid;
    void visit(auto& field) {
        field("grid", grid, "cells of the ranks' grid along every axis; none: recognized");
    }
};

/// Assignment of ranks to the cells of a grid; cells are numbered row-major, last axis fastest.
struct RankGrid {
    Extents extents;
    std::vector<Rank> rank_of_cell;
    /// Bytes per axis, in both directions, between neighboring cells (bytes) and between the first and last
    /// cells (wrap_bytes). Messages between other cells are in neither.
    std::vector<double> bytes;
    std::vector<double> wrap_bytes;

    [[nodiscard]] std::size_t axes() const { return extents.size(); }
    [[nodiscard]] std::size_t cells() const { return rank_of_cell.size(); }
};

/// The rank grid with these extents and ranks numbered row-major; without extents, the grid of the problem's
/// pattern(). Throws Error, naming `mapper`, if no grid is recognized. Throws Error, naming the nearest
/// extents that fit, if the extents do not match the number of ranks. O(edges).
[[nodiscard]] RankGrid rank_grid(const Problem& problem, const Extents& extents, std::string_view mapper);

/// The grid of the problem's pattern(), if any. O(edges).
[[nodiscard]] std::optional<RankGrid> find_rank_grid(const Problem& problem);

/// The extents of `cells` cells in all that are nearest to the given ones, by the sum of log(new / given)^2;
/// ties go to the lexicographically first. Throws Error if there are no axes, no cells, or 2^31 cells or
/// more. O(divisors of cells, to the power of axes - 1).
[[nodiscard]] Extents nearest_extents(const Extents& extents, std::size_t cells);

}  // namespace topoloom
