// SPDX-License-Identifier: BSD-3-Clause
// Predicted times of collectives along all lines of a process-grid axis concurrently, axis after axis.
#pragma once

#include "topoloom/metric/node_map.hpp"
#include "topoloom/schedule/cost/combining_cost.hpp"

namespace topoloom {

/// Hockney's model, T = latency + bytes * seconds per byte, between and within nodes. A node transfers
/// `channels` messages concurrently at the speed of one.
struct GridLinks {
    double latency_s = 0;
    double outer_s_per_byte = 0;
    double inner_s_per_byte = 0;
    double reduce_s_per_byte = 0;  // seconds per byte of a reduction on received data
    std::uint32_t channels = 1;
};

enum class GridCollective { bcast, reduce, scatter, gather };

/// Returns the seconds of a pipelined bcast (a reduction if reduce_s_per_byte is set) of `bytes` along
/// the chains of every axis, in segments of `segment` bytes. Counted: in a step along an axis a node sends
/// one segment per external link on the axis, and these share its channels. A byte takes max(1, links /
/// channels) times as long as alone, and a step takes as long as its slowest link. Printed: all steps take
/// the mean over all links of the grid. Inter-node links count `channels` times as fast as one alone, so that
/// crossing nodes can be cheaper than staying. Throws Error unless 0 < segment <= bytes. Source: Karlsson
/// 2012, eq. 5.2 to 5.7, with the constants 2d and d, and the share of external links over the sum of the
/// areas of the grid; see docs/how-to/place/process-grids.md.
[[nodiscard]] double pipelined_time(const NodeMap& map, const GridLinks& links, double bytes, double segment,
                                    FormulaVariant variant = FormulaVariant::counted);

/// The segment size that minimizes pipelined_time(): the square root of d * bytes * latency / (sum of steps *
/// seconds per byte), clamped to 1 .. `bytes`.
[[nodiscard]] double best_segment(const NodeMap& map, const GridLinks& links, double bytes,
                                  FormulaVariant variant = FormulaVariant::counted);

/// Returns an upper bound on the seconds of a collective along binomial trees, if intra-node bytes are not
/// slower than inter-node bytes. inner_rounds are intra-node; in the others a node has one message per
/// external link along the axis, and they share its channels. No round has more inter-node messages; rounds
/// over long distances may have fewer. Scatter and gather have `bytes` per process of a line, bcast and
/// reduce `bytes` in total. Source: Karlsson 2012, sec. 5.3.4, with the channel factor on inter-node
/// messages.
[[nodiscard]] double binomial_time(const NodeMap& map, GridCollective collective, const GridLinks& links,
                                   double bytes);

}  // namespace topoloom
