// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/bisection_bound.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr std::uint64_t max_visits = 20'000'000;  // limit of link visits along routes; takes 1 to 2 s
constexpr double unlimited = std::numeric_limits<double>::infinity();

/// All-pairs traffic. Dimension-ordered routes load the links of an axis of k positions evenly. On a ring the
/// mean distance is k/4; on a line k/2 * k/2 pairs cross the middle link in each direction.
template <std::size_t Width>
double bound_bandwidth(const BasicTorus<Width>& torus, const NodeHalves& halves) {
    const TorusSpec& spec = torus.spec();
    const auto nodes = static_cast<double>(torus.node_count());
    const auto routers = static_cast<double>(torus.vertex_count());
    double rate = unlimited;
    for (std::uint32_t axis = 0; axis < torus.axis_count(); ++axis) {
        const std::uint32_t extent = spec.size[axis];
        if (extent == 1) continue;
        const auto k = static_cast<double>(extent);
        const auto middle = static_cast<double>(extent / 2) * static_cast<double>((extent + 1) / 2);
        // On a ring, traffic uses both directions, and `middle` is the sum of distances to all other
        // positions.
        const double load = spec.wrap[axis] ? nodes * nodes / k * middle / (2 * routers)
                                            : nodes * nodes / k * middle / routers;
        const auto [up, down] = spec.bandwidth[axis];
        rate = std::min(rate, std::min(up, down).value / load);
    }
    return 2 * rate * static_cast<double>(halves.larger) * static_cast<double>(halves.smaller);
}

/// All-pairs traffic. The links of an axis share the traffic between its coordinates evenly.
template <class Space>
double bound_bandwidth(const BasicHyperX<Space>& network, const NodeHalves& halves) {
    const auto nodes = static_cast<double>(network.node_count());
    const auto routers = static_cast<double>(network.vertex_count());
    double rate = unlimited;
    for (std::size_t axis = 0; axis < network.spec().size.size(); ++axis) {
        const std::uint32_t extent = network.spec().size[axis];
        if (extent == 1) continue;
        rate = std::min(rate, network.spec().bandwidth[axis].value * extent * routers / (nodes * nodes));
    }
    return 2 * rate * static_cast<double>(halves.larger) * static_cast<double>(halves.smaller);
}

/// All-pairs traffic. Groups use all their global links equally; inside groups, routes follow the row, then
/// the column.
double bound_bandwidth(const Dragonfly& network, const NodeHalves& halves) {
    const DragonflySpec& spec = network.spec();
    const auto rows = static_cast<double>(spec.rows);
    const auto columns = static_cast<double>(spec.columns);
    const auto on_router = static_cast<double>(spec.nodes_per_router);
    const double in_group = rows * columns * on_router;
    double rate = unlimited;
    double through_port = 0;
    if (spec.groups > 1) {
        through_port = in_group * in_group / network.links_between_groups();
        rate = spec.bandwidth[2].value / through_port;
    }
    // Traffic between a router and another router of its group: over the ports of the other router, and to
    // its nodes.
    const double ports = spec.groups > 1 ? *spec.global_links : 0;
    const double between = 2 * ports * through_port / (rows * columns) + on_router * on_router;
    if (columns > 1) rate = std::min(rate, spec.bandwidth[0].value / (rows * between));
    if (rows > 1) rate = std::min(rate, spec.bandwidth[1].value / (columns * between));
    return 2 * rate * static_cast<double>(halves.larger) * static_cast<double>(halves.smaller);
}

/// All-pairs traffic. Groups use all their global links equally, and leaves use all spines of the group
/// equally.
double bound_bandwidth(const DragonflyPlus& network, const NodeHalves& halves) {
    const DragonflyPlusSpec& spec = network.spec();
    const auto on_leaf = static_cast<double>(spec.nodes_per_router);
    const double in_group = on_leaf * spec.leaves;
    double to_spine = on_leaf * (in_group - on_leaf) / spec.spines;
    double rate = unlimited;
    if (spec.groups > 1) {
        const double through_port = in_group / network.links_between_groups();
        rate = spec.bandwidth[1].value / (in_group * through_port);
        to_spine += on_leaf * *spec.global_links * through_port;
    }
    if (to_spine > 0) rate = std::min(rate, spec.bandwidth[0].value / to_spine);
    return 2 * rate * static_cast<double>(halves.larger) * static_cast<double>(halves.smaller);
}

/// Traffic between partners, divided equally over all routes up the tree. The cables above a subtree carry at
/// most the traffic of its nodes.
template <class Spec>
double bound_upward_bandwidth(const Spec& spec, const std::vector<double>& cables, const NodeHalves& halves) {
    double rate = unlimited;
    double nodes_below = 1;
    for (std::size_t level = 0; level < spec.arity.size(); ++level) {
        const bool some_outside = nodes_below < static_cast<double>(halves.larger + halves.smaller);
        if (some_outside) rate = std::min(rate, spec.bandwidth[level].value * cables[level] / nodes_below);
        nodes_below *= spec.arity[level];
    }
    return 2 * rate * static_cast<double>(halves.smaller);
}

double bound_bandwidth(const Tree& tree, const NodeHalves& halves) {
    return bound_upward_bandwidth(tree.spec(), std::vector<double>(tree.spec().arity.size(), 1.0), halves);
}

double bound_bandwidth(const FatTree& tree, const NodeHalves& halves) {
    std::vector<double> cables;
    double roots = 1;
    for (std::size_t level = 0; level < tree.spec().arity.size(); ++level) {
        roots *= tree.spec().up[level];
        cables.push_back(roots * tree.spec().parallel[level]);
    }
    return bound_upward_bandwidth(tree.spec(), cables, halves);
}

/// Traffic between partners: by NVLink to all GPUs of the sender's domain equally, along the rails, then by
/// NVLink to the target.
double bound_bandwidth(const RailCluster& network, const NodeHalves& halves) {
    const RailClusterSpec& spec = network.spec();
    const auto [nvlink, rail, spine] = spec.bandwidth;
    double rate = std::min(nvlink.value / 2, rail.value);
    if (spec.units > 1) {
        const double on_leaf = static_cast<double>(spec.gpus) * spec.domains / spec.rails;
        rate = std::min(rate, *spec.spines * spine.value / on_leaf);
    }
    return 2 * rate * static_cast<double>(halves.smaller);
}

/// The nodes of a router: one of them, and their number.
struct NodeGroup {
    Node node;
    double nodes;
};

/// A type-erased Topology with the functions that bound_by_routes() needs.
struct RoutedNetwork {
    std::size_t vertex_count;
    std::size_t link_count;
    std::uint32_t diameter;
    std::function<std::uint32_t(Node)> vertex;
    std::function<void(Node, Node, const RouteVisitor&)> route;
    std::function<BytesPerSecond(Link)> bandwidth;
};

template <Topology T>
RoutedNetwork erase_network_type(const T& network) {
    return {network.vertex_count(),
            network.link_count(),
            network.diameter(),
            [&](Node node) { return network.vertex(node); },
            [&](Node from, Node to, const RouteVisitor& visit) { network.route(from, to, visit); },
            [&](Link link) { return network.bandwidth(link); }};
}

std::vector<NodeGroup> group_by_vertex(const RoutedNetwork& network, std::span<const Node> nodes) {
    std::vector<std::uint32_t> site(network.vertex_count, std::numeric_limits<std::uint32_t>::max());
    std::vector<NodeGroup> sites;
    for (const Node node : nodes) {
        std::uint32_t& index = site[network.vertex(node)];
        if (index == std::numeric_limits<std::uint32_t>::max()) {
            index = static_cast<std::uint32_t>(sites.size());
            sites.push_back({node, 0});
        }
        ++sites[index].nodes;
    }
    return sites;
}

/// Returns the worst load of each link if every node sends one message. The worst message of a node is the
/// message with the largest share on the link. `visit(site, other, add)` calls add(link, share) for a route.
template <class Visit>
std::vector<double> sum_worst_shares(std::size_t links, const std::vector<NodeGroup>& sites,
                                     const Visit& visit) {
    std::vector<double> sum(links, 0.0);
    std::vector<double> largest(links, 0.0);
    std::vector<std::uint32_t> touched;
    std::vector<double> share_here(links, 0.0);
    std::vector<std::uint32_t> on_route;
    for (const NodeGroup& site : sites) {
        for (const NodeGroup& other : sites) {
            visit(site, other, [&](Link link, double share) {
                if (share_here[link.value] == 0) on_route.push_back(link.value);
                share_here[link.value] += share;
            });
            for (const std::uint32_t link : on_route) {
                if (largest[link] == 0) touched.push_back(link);
                largest[link] = std::max(largest[link], share_here[link]);
                share_here[link] = 0;
            }
            on_route.clear();
        }
        for (const std::uint32_t link : touched) {
            sum[link] += site.nodes * largest[link];
            largest[link] = 0;
        }
        touched.clear();
    }
    return sum;
}

/// Computes one bound from all-pairs traffic and one from traffic between partners, on the routes between
/// these nodes. Returns the higher bound.
double bound_by_routes(const RoutedNetwork& network, std::span<const Node> nodes, const NodeHalves& halves) {
    const std::vector<NodeGroup> sites = group_by_vertex(network, nodes);
    if (sites.size() * sites.size() * network.diameter > max_visits) return 0;
    std::vector<double> load(network.link_count, 0.0);
    const std::vector<double> out = sum_worst_shares(
        load.size(), sites, [&](const NodeGroup& from, const NodeGroup& to, const auto& add) {
            const auto visit = [&](Link link, double share) {
                load[link.value] += from.nodes * to.nodes * share;
                add(link, share);
            };
            network.route(from.node, to.node, RouteVisitor(visit));
        });
    const std::vector<double> in = sum_worst_shares(
        load.size(), sites, [&](const NodeGroup& to, const NodeGroup& from, const auto& add) {
            network.route(from.node, to.node, RouteVisitor(add));
        });
    double all_pairs = unlimited;
    double partners = unlimited;
    for (const Link link : ids<Link>(load.size())) {
        if (load[link.value] == 0) continue;
        const double bandwidth = network.bandwidth(link).value;
        all_pairs = std::min(all_pairs, bandwidth / load[link.value]);
        partners = std::min(partners, bandwidth / std::min(out[link.value], in[link.value]));
    }
    return 2 * static_cast<double>(halves.smaller) *
           std::max(partners, all_pairs * static_cast<double>(halves.larger));
}

template <Topology T>
double bound_bandwidth(const T& network, const NodeHalves& halves) {
    const ids<Node> all(network.node_count());
    return bound_by_routes(erase_network_type(network), std::vector<Node>(all.begin(), all.end()), halves);
}

double bound_bandwidth(const DegradedTopology& network, const NodeHalves& halves) {
    const std::vector<Node> nodes = network.usable_nodes();
    try {
        network.require_usable(nodes, "the allocation");
    } catch (const Error&) {
        return 0;  // nothing is guaranteed if failures disconnect the nodes
    }
    return bound_by_routes(erase_network_type(network), nodes, halves);
}

}  // namespace

NodeHalves halve_nodes(const Machine& machine) {
    const std::vector<Node> nodes = machine.usable_nodes();
    std::vector<std::uint32_t> on_vertex;
    with_topology(machine, [&](const auto& topology) {
        const auto& network = router_network(topology);
        on_vertex.assign(network.vertex_count(), 0);
        for (const Node node : nodes) ++on_vertex[network.vertex(node)];
    });
    const std::uint64_t together = *std::ranges::max_element(on_vertex);
    const std::uint64_t larger = (nodes.size() + 2 * together - 1) / (2 * together) * together;
    return {larger, nodes.size() - std::min<std::uint64_t>(nodes.size(), larger)};
}

BytesPerSecond bisection_lower_bound(const Machine& machine) {
    const NodeHalves halves = halve_nodes(machine);
    if (halves.smaller == 0) return BytesPerSecond{0};
    return BytesPerSecond{
        with_topology(machine, [&](const auto& t) { return bound_bandwidth(router_network(t), halves); })};
}

}  // namespace topoloom
