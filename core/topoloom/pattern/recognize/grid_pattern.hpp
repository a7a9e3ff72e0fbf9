// SPDX-License-Identifier: BSD-3-Clause
// A communication graph that is a product of simple axes: stencils, rings, hypercubes, rows and columns that talk.
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
    path,    ///< neighbors; the ends do not meet. Two ranks are always a path.
    ring,    ///< neighbors, and the first with the last; at least four ranks
    clique,  ///< all-to-all; at least three ranks
    apart,   ///< no communication: disjoint copies of the other axes
};

struct PatternAxis {
    std::uint32_t extent;
    AxisKind kind;
    friend bool operator==(const PatternAxis&, const PatternAxis&) = default;
};

/// Ranks in the cells of a grid; cells are numbered row-major, the last axis fastest. In a star two ranks talk if
/// they are partners along one axis and equal on all others, in a box if they are partners or equal on every axis.
struct GridPattern {
    std::vector<PatternAxis> axes;
    StencilShape shape = StencilShape::star;
    std::vector<Rank> rank_of_cell;
    /// Mean bytes of a message by class. Star: one class per axis. Box: bit i of the class says that axis i is moved
    /// on.
    std::vector<double> weight;
    bool uniform = false;  ///< all messages of a class carry the same bytes

    [[nodiscard]] std::size_t class_count() const {
        return shape == StencilShape::star ? axes.size() : std::size_t{1} << axes.size();
    }
    /// A description such as `16x16 grid, 5 points, rings: 10`.
    [[nodiscard]] std::string text() const;
};

/// Distance in cell numbers between neighbors along each axis.
[[nodiscard]] Extents strides_of(std::span<const PatternAxis> axes);
[[nodiscard]] Extents extents_of(std::span<const PatternAxis> axes);

/// Returns whether the edges of the graph are exactly those of the pattern. If so, sets weight and uniform. O(edges *
/// log degree), on all cores.
[[nodiscard]] bool measure(const CommGraph& symmetric, GridPattern& pattern, int threads);

/// Ordered pairs of partners along an axis of `extent` cells, of which `whole` says that the axis is not cut.
[[nodiscard]] inline double partner_pairs(AxisKind kind, std::uint32_t extent, bool whole) {
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
