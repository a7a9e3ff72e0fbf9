// SPDX-License-Identifier: BSD-3-Clause
// Communication graphs that are products of simple axes: stencils, rings, hypercubes, alltoall in rows and
// columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/extents.hpp"
#include "topoloom/pattern/comm_graph.hpp"
#include "topoloom/pattern/generators/stencil.hpp"

namespace topoloom {

/// Which ranks communicate along an axis.
enum class AxisKind : std::uint8_t {
    path,    ///< neighbors on a line with two ends; two ranks are always a path
    ring,    ///< neighbors on a ring; at least four ranks
    clique,  ///< alltoall; at least three ranks
    apart,   ///< no communication: disjoint copies of the other axes
};

struct PatternAxis {
    std::uint32_t extent;
    AxisKind kind;
    friend bool operator==(const PatternAxis&, const PatternAxis&) = default;
};

/// A pattern with one rank per grid cell. Cells are numbered row-major: the last axis varies fastest. In a
/// star, two ranks communicate if they are partners on one axis and equal on all others. In a box, they
/// communicate if they are partners or equal on every axis.
struct GridPattern {
    std::vector<PatternAxis> axes;
    StencilShape shape = StencilShape::star;
    std::vector<Rank> rank_of_cell;
    /// Mean bytes per message, by class. Star: one class per axis. Box: bit i of the class is set if the
    /// ranks differ on axis i.
    std::vector<double> weight;
    bool uniform = false;  ///< whether all messages of a class have the same bytes

    [[nodiscard]] std::size_t class_count() const {
        return shape == StencilShape::star ? axes.size() : std::size_t{1} << axes.size();
    }
    /// Returns a description such as `16x16 star grid, axes o|`.
    [[nodiscard]] std::string text() const;
};

/// For each axis, returns the difference between the cell numbers of neighbors.
[[nodiscard]] Extents strides_of(std::span<const PatternAxis> axes);
[[nodiscard]] Extents extents_of(std::span<const PatternAxis> axes);

/// Returns whether the graph has exactly the edges of the pattern. If so, sets weight and uniform. O(edges *
/// log degree), on all cores.
[[nodiscard]] bool measure(const CommGraph& symmetric, GridPattern& pattern, int threads);

/// Returns the number of ordered pairs of partners along `extent` cells of an axis. `whole` is false if these
/// cells are only a part of the axis.
[[nodiscard]] inline double count_partner_pairs(AxisKind kind, std::uint32_t extent, bool whole) {
    const double n = extent;
    switch (kind) {
        case AxisKind::path:
            return 2 * (n - 1);
        case AxisKind::ring:
            return whole ? 2 * n : 2 * (n - 1);
        case AxisKind::clique:
            return n * (n - 1);
        case AxisKind::apart:
            break;
    }
    return 0;
}

}  // namespace topoloom
