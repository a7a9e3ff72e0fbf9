// SPDX-License-Identifier: BSD-3-Clause
// Predicted times of collectives on process grids that run along all lines of an axis at once, axis after axis.
#pragma once

#include "topoloom/metric/node_map.hpp"
#include "topoloom/schedule/cost/combining_cost.hpp"

namespace topoloom {

/// Hockney's model, T = latency + bytes * seconds per byte, between nodes and inside them. A node carries `channels`
/// messages at once as fast as one.
struct GridLinks {
    double latency_s = 0;
    double outer_s_per_byte = 0;
    double inner_s_per_byte = 0;
    double reduce_s_per_byte = 0;  // of an operation on the data that arrive
    std::uint32_t channels = 1;
};

enum class GridCollective { broadcast, reduce, scatter, gather };

/// A broadcast or, with reduce_s_per_byte, a reduction of `bytes` down the chains of every axis in segments of
/// `segment` bytes. Counted: in a step along an axis a node sends as many segments as it has external links along it,
/// and they share its channels: a byte takes max(1, links / channels) times as long as one alone, and a step as long as
/// its slowest link. Printed: all steps take the mean over all links of the grid, of which those between nodes are
/// `channels` times as fast as one alone, so that crossing can be cheaper than staying.
/// Throws Error unless 0 < segment <= bytes. Source: Karlsson 2012, eq. 5.2 to 5.7, with the constants 2d and d, and the
/// share of external links over the sum of the areas of the grid; see docs/how-to/place/process-grids.md.
[[nodiscard]] double pipelined_time(const NodeMap& map, const GridLinks& links, double bytes, double segment,
                                    FormulaVariant reading = FormulaVariant::counted);

/// The segment for which that is least: the root of d * bytes * latency / (sum of steps * seconds per byte), at most
/// `bytes` and at least one byte.
[[nodiscard]] double best_segment(const NodeMap& map, const GridLinks& links, double bytes,
                                  FormulaVariant reading = FormulaVariant::counted);

/// A collective along binomial trees takes at most this, where bytes inside nodes take no longer than between them: the
/// inner_rounds inside nodes, and the others, in which a node's messages take turns on its channels, as many as it has
/// external links along the axis. No round has more; those over long steps may have fewer. Scatter and gather have `bytes` for every process of a line, broadcast and reduce `bytes` in all.
/// Source: Karlsson 2012, sec. 5.3.4, with the factor of the channels on what leaves the node.
[[nodiscard]] double binomial_time(const NodeMap& map, GridCollective collective, const GridLinks& links,
                                   double bytes);

}  // namespace topoloom
