// SPDX-License-Identifier: BSD-3-Clause
// Evaluation of a placement: all metrics in one pass over the messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

struct Judgement {
    std::int64_t hop_bytes = 0;      // sum of bytes * distance, each message once
    double hops_per_byte = 0;        // hop_bytes / all bytes between ranks
    double dilation_average = 0;     // average hops per message; intra-node messages count with 0 hops
    std::uint32_t dilation_max = 0;  // largest number of hops of a message
    Bytes inter_node_bytes;          // bytes between nodes, or between hosts on rail clusters
    /// Inter-node bytes of the busiest node: the maximum of bytes in and bytes out.
    Bytes inter_node_max;
    double traffic_average = 0;  // mean bytes over links with traffic
    double congestion_max = 0;   // max over links of bytes / bandwidth
    double load_max = 0;         // largest sum of compute loads of the ranks on one slot
    BigVector<double> loads;     // bytes per link, by link id
    /// [node]: inter-node bytes and messages, sent (out) and received (in).
    std::vector<Bytes> bytes_out;
    std::vector<Bytes> bytes_in;
    std::vector<std::int64_t> messages_out;
    std::vector<std::int64_t> messages_in;
    /// Share of traffic on minimal routes under adaptive routing. See best_minimal_share().
    std::optional<double> minimal_share;
};

/// Applies the proxies of the graph (see apply_proxies()), then computes all metrics of a placement. Loads
/// are exact if the total is below 2^53 bytes, except for shares such as 1/3. Throws Error if hop-bytes
/// exceed 64 bits. O(edges * axes) on a torus, O(edges * levels) on a fat tree, O(edges * hops) elsewhere.
[[nodiscard]] Judgement judge(const CommGraph& graph, const Machine& machine, const Placement& placement,
                              int threads = 0);

/// The bytes of one message on a link.
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
    std::vector<Contribution> contributors;  // at most 3 messages, in order of decreasing bytes
};

/// Returns the `count` links with the highest congestion and their largest contributors. O(edges * hops).
[[nodiscard]] std::vector<HotLink> hottest_links(const CommGraph& graph, const Machine& machine,
                                                 const Placement& placement, const Judgement& judgement,
                                                 std::size_t count = 10, int threads = 0);

}  // namespace topoloom
