// SPDX-License-Identifier: BSD-3-Clause
// Reference for judge(): every number by its definition, in loops over all pairs of ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topoloom/metric/judge.hpp"

struct ReferenceMessage {
    topoloom::Rank source;
    topoloom::Rank target;
    std::int64_t bytes;
    std::int64_t messages;
};

/// Traffic of every ordered pair of different ranks, including pairs without traffic.
inline std::vector<ReferenceMessage> all_pairs(const topoloom::CommGraph& graph) {
    using namespace topoloom;
    std::vector<ReferenceMessage> pairs;
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Rank v : ids<Rank>(graph.rank_count())) {
            if (u == v) continue;
            ReferenceMessage pair{u, v, 0, 0};
            for (const Edge edge : graph.sends(u)) {
                if (edge.peer != v) continue;
                pair.bytes += edge.bytes.value;
                pair.messages += edge.messages;
            }
            pairs.push_back(pair);
        }
    }
    return pairs;
}

/// The fraction of a message from a to b on each link. With adaptive routing, the fraction `minimal_share` of
/// it takes minimal routes.
inline std::map<std::uint32_t, double> route_shares(const topoloom::Machine& machine, topoloom::Node a,
                                                    topoloom::Node b, std::optional<double> minimal_share) {
    std::map<std::uint32_t, double> on_link;
    const auto add = [&](topoloom::Link link, double share) { on_link[link.value] += share; };
    topoloom::with_topology(machine, [&](const auto& t) {
        if constexpr (requires { t.with_minimal_share(0); }) {
            if (minimal_share) return t.with_minimal_share(*minimal_share).route(a, b, add);
        }
        t.route(a, b, add);
    });
    return on_link;
}

/// The host of a node: the node itself. On rail clusters, where nodes are GPUs, it is a group of host= GPUs,
/// or the NVLink domain.
inline std::uint32_t host_of(const topoloom::Machine& machine, topoloom::Node node) {
    const std::string text = machine.text();
    if (!text.starts_with("rails:")) return node.value;
    const std::size_t given = text.find(",host=");
    const std::string gpus = text.substr(given == std::string::npos ? 6 : given + 6);
    return node.value / static_cast<std::uint32_t>(std::stoul(gpus));
}

inline topoloom::Judgement reference_judge(const topoloom::CommGraph& graph, const topoloom::Machine& machine,
                                           const topoloom::Placement& placement,
                                           std::optional<double> minimal_share = {}) {
    using namespace topoloom;
    Judgement result;
    result.loads.assign(machine.link_count(), 0);
    result.bytes_in.assign(machine.node_count(), Bytes{});
    result.bytes_out = result.bytes_in;
    result.messages_in.assign(machine.node_count(), 0);
    result.messages_out = result.messages_in;
    std::map<std::uint32_t, Bytes> leaving;
    std::map<std::uint32_t, Bytes> entering;
    double all_bytes = 0;
    double all_messages = 0;
    double message_hops = 0;
    for (const ReferenceMessage& pair : all_pairs(graph)) {
        const Slot from = placement[pair.source];
        const Slot to = placement[pair.target];
        const Node a = machine.node(from);
        const Node b = machine.node(to);
        all_bytes += static_cast<double>(pair.bytes);
        all_messages += static_cast<double>(pair.messages);
        result.hop_bytes += pair.bytes * machine.distance(from, to);
        if (a == b) continue;
        if (host_of(machine, a) != host_of(machine, b)) {
            result.inter_node_bytes += Bytes{pair.bytes};
            leaving[host_of(machine, a)] += Bytes{pair.bytes};
            entering[host_of(machine, b)] += Bytes{pair.bytes};
        }
        result.bytes_out[a.value] += Bytes{pair.bytes};
        result.bytes_in[b.value] += Bytes{pair.bytes};
        result.messages_out[a.value] += pair.messages;
        result.messages_in[b.value] += pair.messages;
        for (const auto& [link, share] : route_shares(machine, a, b, minimal_share)) {
            result.loads[link] += share * static_cast<double>(pair.bytes);
        }
        const std::uint32_t hops = machine.hops(a, b);
        message_hops += hops * static_cast<double>(pair.messages);
        if (pair.messages > 0) result.dilation_max = std::max(result.dilation_max, hops);
    }
    for (const auto& way : {leaving, entering})
        for (const auto& [host, bytes] : way) result.inter_node_max = std::max(result.inter_node_max, bytes);
    result.hops_per_byte = all_bytes > 0 ? static_cast<double>(result.hop_bytes) / all_bytes : 0;
    result.dilation_average = all_messages > 0 ? message_hops / all_messages : 0;
    double sum = 0;
    double loaded = 0;
    for (const Link link : ids<Link>(machine.link_count())) {
        const double load = result.loads[link.value];
        const double rate = with_topology(machine, [&](const auto& t) { return t.bandwidth(link).value; });
        sum += load;
        loaded += load > 0 ? 1 : 0;
        result.congestion_max = std::max(result.congestion_max, load / rate);
    }
    result.traffic_average = loaded > 0 ? sum / loaded : 0;
    result.minimal_share = minimal_share;
    return result;
}
