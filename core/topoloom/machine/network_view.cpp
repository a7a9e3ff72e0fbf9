// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/network_view.hpp"

#include "topoloom/machine/topology.hpp"

namespace topoloom {

namespace {

/// Returns use(topology) with the concrete topology.
template <class Result, class Use>
Result visit_topology(const AnyTopology& topology, const Use& use) {
    return std::visit([&](const auto& t) -> Result { return use(t); }, topology);
}

}  // namespace

std::size_t NetworkView::node_count() const {
    return visit_topology<std::size_t>(*topology_, [&](const auto& t) { return t.node_count(); });
}

std::size_t NetworkView::link_count() const {
    return visit_topology<std::size_t>(*topology_, [&](const auto& t) { return t.link_count(); });
}

std::size_t NetworkView::vertex_count() const {
    return visit_topology<std::size_t>(*topology_, [&](const auto& t) { return t.vertex_count(); });
}

std::uint32_t NetworkView::hops(Node a, Node b) const {
    return visit_topology<std::uint32_t>(*topology_,
                                         [&](const auto& t) { return t.hops(t.point(a), t.point(b)); });
}

std::uint32_t NetworkView::diameter() const {
    return visit_topology<std::uint32_t>(*topology_, [&](const auto& t) { return t.diameter(); });
}

void NetworkView::visit_route(Node a, Node b, const RouteVisitor& visit) const {
    return visit_topology<void>(*topology_, [&](const auto& t) { return t.route(a, b, visit); });
}

std::uint32_t NetworkView::vertex(Node node) const {
    return visit_topology<std::uint32_t>(*topology_, [&](const auto& t) { return t.vertex(node); });
}

LinkEnds NetworkView::ends(Link link) const {
    return visit_topology<LinkEnds>(*topology_, [&](const auto& t) { return t.ends(link); });
}

BytesPerSecond NetworkView::bandwidth(Link link) const {
    return visit_topology<BytesPerSecond>(*topology_, [&](const auto& t) { return t.bandwidth(link); });
}

std::vector<LinkRun> NetworkView::bandwidth_runs() const {
    return visit_topology<std::vector<LinkRun>>(*topology_,
                                                [&](const auto& t) { return t.bandwidth_runs(); });
}

Seconds NetworkView::latency(Link link) const {
    return visit_topology<Seconds>(*topology_, [&](const auto& t) { return t.latency(link); });
}

std::string NetworkView::link_name(Link link) const {
    return visit_topology<std::string>(*topology_, [&](const auto& t) { return t.link_name(link); });
}

std::string NetworkView::describe() const {
    return visit_topology<std::string>(*topology_, [&](const auto& t) { return t.describe(); });
}

std::uint32_t NetworkView::host(Node node) const {
    return visit_topology<std::uint32_t>(*topology_, [&](const auto& t) { return host_of(t, node); });
}

std::uint32_t NetworkView::host_hops() const {
    return visit_topology<std::uint32_t>(*topology_, [](const auto& t) { return topoloom::host_hops(t); });
}

bool NetworkView::forwards(std::uint32_t vertex) const {
    return visit_topology<bool>(*topology_, [&](const auto& t) { return topoloom::forwards(t, vertex); });
}

bool NetworkView::is_adaptive() const {
    return visit_topology<bool>(*topology_, [](const auto& t) {
        if constexpr (requires { t.is_adaptive(); }) {
            return t.is_adaptive();
        } else {
            return false;
        }
    });
}

bool NetworkView::is_up(Link link) const {
    const auto* const degraded = std::get_if<DegradedTopology>(topology_);
    return degraded == nullptr || degraded->is_up(link);
}

}  // namespace topoloom
