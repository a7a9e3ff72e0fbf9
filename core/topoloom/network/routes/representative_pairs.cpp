// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/routes/representative_pairs.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace topoloom {

namespace {

using Visit = std::function<void(Node, Node)>;

void visit_pairs(const std::vector<Node>& nodes, const Visit& visit) {
    for (const Node from : nodes)
        for (const Node to : nodes)
            if (from != to) visit(from, to);
}

/// Returns the steps from a position on a ring or line to its neighbors.
std::set<std::uint32_t> neighbor_steps(std::uint32_t extent) {
    return extent == 1 ? std::set<std::uint32_t>{} : std::set<std::uint32_t>{1, extent - 1};
}

template <std::size_t Width>
void visit_representatives(const BasicTorus<Width>& torus, const Visit& visit) {
    const std::vector<std::uint32_t>& extents = torus.grid();
    const auto axes = static_cast<std::uint32_t>(extents.size());
    const std::uint32_t nodes_per_router = torus.spec().nodes_per_router;
    std::vector<std::uint32_t> strides(axes, nodes_per_router);
    for (std::uint32_t axis = axes - 1; axis > 0; --axis) strides[axis - 1] = strides[axis] * extents[axis];
    const auto moved = [&](std::uint32_t node, std::uint32_t axis, std::uint32_t by) {
        const std::uint32_t at = node / strides[axis] % extents[axis];
        return node - at * strides[axis] + (at + by) % extents[axis] * strides[axis];
    };
    for (std::uint32_t node = 0; node < torus.node_count(); node += nodes_per_router)
        for (std::uint32_t axis = 0; axis < axes; ++axis) {
            for (std::uint32_t by = 1; by < extents[axis]; ++by)
                visit(Node{node}, Node{moved(node, axis, by)});
            for (std::uint32_t other = 0; other < axis; ++other)
                for (const std::uint32_t by : neighbor_steps(extents[axis]))
                    for (const std::uint32_t aside : neighbor_steps(extents[other]))
                        visit(Node{node}, Node{moved(moved(node, axis, by), other, aside)});
        }
}

void visit_representatives(const Tree&, const Visit&) {}
void visit_representatives(const FatTree&, const Visit&) {}

template <class Base>
void visit_representatives(const Hosted<Base>& hosted, const Visit& visit) {
    const Base& base = hosted.router_network();
    if constexpr (requires { visit_representatives(base, visit); }) {
        visit_representatives(base, visit);
    } else {
        std::vector<Node> one_of_each;
        std::vector<bool> seen(base.vertex_count(), false);
        for (const Node node : ids<Node>(base.node_count())) {
            if (!seen[base.vertex(node)]) one_of_each.push_back(node);
            seen[base.vertex(node)] = true;
        }
        visit_pairs(one_of_each, visit);
    }
}

}  // namespace

void for_each_representative_pair(const Machine& machine, const Visit& visit) {
    with_topology(machine, [&](const auto& topology) {
        if constexpr (requires { visit_representatives(topology, visit); }) {
            visit_representatives(topology, visit);
        } else {
            std::vector<Node> all;
            for (const Node node : ids<Node>(topology.node_count())) all.push_back(node);
            visit_pairs(all, visit);
        }
    });
}

}  // namespace topoloom
