// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/network_graph.hpp"

#include <algorithm>
#include <cmath>

#include "topoloom/machine/allocations/territory.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

NetworkGraph::NetworkGraph(const BoundProblem& problem) {
    struct Arc {
        std::uint32_t vertex, other;
        std::int64_t out, in;
    };
    std::vector<Arc> arcs;
    const NetworkView network(problem.machine().topology());
    const auto runs = network.bandwidth_runs();
    double most = 0;
    for (const LinkRun& run : runs) most = std::max(most, run.bandwidth.value);
    // With 2^39 units for the fastest link, sums over 2^23 links do not overflow, and bandwidths that are
    // halved remain exact.
    if (most > 0) unit_ = std::ldexp(most, -39);
    for (const LinkRun& run : runs) {
        const auto units = static_cast<std::int64_t>(std::ceil(run.bandwidth.value / unit_));
        for (std::size_t i = 0; i < run.count; ++i) {
            const Link link{run.first.value + i};
            if (!network.is_up(link)) continue;
            const LinkEnds ends = network.ends(link);
            arcs.push_back({ends.from, ends.to, units, 0});
            arcs.push_back({ends.to, ends.from, 0, units});
        }
    }
    capacity_.assign(network.vertex_count(), 0);
    for (const Node node : ids<Node>(network.node_count())) vertex_of_node_.push_back(network.vertex(node));
    std::ranges::sort(arcs, {}, [](const Arc& arc) { return std::pair(arc.vertex, arc.other); });
    first_.assign(capacity_.size() + 1, 0);
    for (std::size_t i = 0; i < arcs.size(); ++i) {
        const Arc& arc = arcs[i];
        if (i == 0 || arcs[i - 1].vertex != arc.vertex || arcs[i - 1].other != arc.other) {
            neighbors_.push_back({arc.other, 0, 0});
            ++first_[arc.vertex + 1];
        }
        neighbors_.back().out += arc.out;
        neighbors_.back().in += arc.in;
    }
    for (std::size_t v = 0; v < capacity_.size(); ++v) first_[v + 1] += first_[v];
    for (std::size_t s = 0; s < problem.capacity().size(); ++s)
        capacity_[vertex(problem.machine().node(problem.allocation().slots()[s]))] += problem.capacity()[s];
}

void NetworkCut::clear() {
    for (const std::uint32_t vertex : members_) inside_[vertex] = 0;
    members_.clear();
    capacity_ = 0;
    out_ = in_ = 0;
}

void NetworkCut::add(std::uint32_t vertex) {
    inside_[vertex] = 1;
    members_.push_back(vertex);
    capacity_ += graph_.capacity(vertex);
    for (const NetworkGraph::Neighbor& neighbor : graph_.neighbors(vertex)) {
        if (inside_[neighbor.vertex]) {
            out_ -= neighbor.in;
            in_ -= neighbor.out;
        } else {
            out_ += neighbor.out;
            in_ += neighbor.in;
        }
    }
    visits_ += graph_.neighbors(vertex).size();
}

void NetworkCut::add_switches() {
    for (std::size_t m = 0; m < members_.size(); ++m) {
        for (const NetworkGraph::Neighbor& near : graph_.neighbors(members_[m])) {
            if (inside_[near.vertex] || graph_.capacity(near.vertex) > 0) continue;
            std::int64_t to_part = 0;
            std::int64_t to_others = 0;
            for (const NetworkGraph::Neighbor& neighbor : graph_.neighbors(near.vertex))
                (inside_[neighbor.vertex] ? to_part : to_others) += neighbor.out + neighbor.in;
            visits_ += graph_.neighbors(near.vertex).size();
            if (to_part > to_others) add(near.vertex);
        }
    }
}

}  // namespace topoloom
