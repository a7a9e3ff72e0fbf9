// SPDX-License-Identifier: BSD-3-Clause
// Everything worth knowing about a placement, measured in one pass over the messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

struct Evaluation {
    std::int64_t hop_bytes = 0;      // sum of bytes * distance, each message once
    double hops_per_byte = 0;        // hop_bytes / all bytes between ranks
    double dilation_average = 0;     // hops per message; messages within a node count with 0 hops
    std::uint32_t dilation_max = 0;  // hops of the longest message
    Bytes inter_node_bytes;          // bytes that leave a node, or on rails the host that GPUs are in
    Bytes inter_node_max;            // the most of them that leave or enter one
    double traffic_average = 0;      // bytes on a link, averaged over the links that carry any
    double congestion_max = 0;       // max over links of bytes / bandwidth
    double load_max = 0;             // largest sum of loads on one slot
    BigVector<double> loads;         // bytes on every link, by link id
    std::vector<Bytes> bytes_out;    // per node of the machine, messages within the node excluded
    std::vector<Bytes> bytes_in;
    std::vector<std::int64_t> messages_out;
    std::vector<std::int64_t> messages_in;
    /// Where routing adapts to the load: how much of the traffic goes minimally. See best_minimal_share().
    std::optional<double> minimal_share;
};

/// Loads are exact while all bytes together stay below 2^53, but for shares such as a third. Throws Error where
/// hop-bytes would not fit 64 bits. Messages of proxied ranks are those of apply_proxies(). O(edges * axes) on a torus, O(edges * levels) on a fat tree, O(edges * hops) elsewhere.
[[nodiscard]] Evaluation evaluate(const CommGraph& graph, const Machine& machine, const Placement& placement,
                                  int threads = 0);

/// What one message adds to a link.
struct Contribution {
    Rank source;
    Rank target;
    double bytes;
};

struct HotLink {
    Link link;
    std::string name;
    double bytes = 0;
    double congestion = 0;                   // bytes / bandwidth
    std::vector<Contribution> contributors;  // the heaviest first, at most 3
};

/// The `count` links with the highest congestion, and who loads them most. O(edges * hops).
[[nodiscard]] std::vector<HotLink> hottest_links(const CommGraph& graph, const Machine& machine,
                                                 const Placement& placement, const Evaluation& evaluation,
                                                 std::size_t count = 10, int threads = 0);

}  // namespace topoloom
