// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/allocations/territory.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

/// Disjoint sets of vertices, with path halving.
class VertexSets {
   public:
    explicit VertexSets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }

    std::uint32_t root(std::uint32_t v) {
        while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
        return v;
    }
    void join(std::uint32_t a, std::uint32_t b) {
        a = root(a);
        b = root(b);
        if (a < b) std::swap(a, b);
        parent_[a] = b;
    }

   private:
    std::vector<std::uint32_t> parent_;
};

template <class Use>
void for_each_link(const NetworkView& network, const Use& use) {
    for (const Link link : ids<Link>(network.link_count())) {
        if (network.is_up(link)) use(network.ends(link));
    }
}

/// Marks the vertices of the allocated nodes, and the switches one link away.
std::vector<char> mark_near_vertices(const NetworkView& network, std::span<const Node> nodes) {
    std::vector<char> has_node(network.vertex_count(), 0);
    for (const Node node : ids<Node>(network.node_count())) has_node[network.vertex(node)] = 1;
    std::vector<char> of_nodes(network.vertex_count(), 0);
    for (const Node node : nodes) of_nodes[network.vertex(node)] = 1;
    std::vector<char> near = of_nodes;
    for_each_link(network, [&](LinkEnds ends) {
        if (of_nodes[ends.from] && !has_node[ends.to]) near[ends.to] = 1;
        if (of_nodes[ends.to] && !has_node[ends.from]) near[ends.from] = 1;
    });
    return near;
}

/// Adds the enclosed vertices. `usable` lists the nodes that are up.
std::vector<char> add_enclosed_vertices(const NetworkView& network, std::vector<char> held,
                                        std::span<const Node> usable) {
    // A connected component of the remaining vertices is enclosed if it contains no node.
    VertexSets outside(held.size());
    for_each_link(network, [&](LinkEnds ends) {
        if (!held[ends.from] && !held[ends.to]) outside.join(ends.from, ends.to);
    });
    std::vector<char> reaches_node(held.size(), 0);
    for (const Node node : usable) {
        const std::uint32_t v = network.vertex(node);
        if (!held[v]) reaches_node[outside.root(v)] = 1;
    }
    for (std::uint32_t v = 0; v < held.size(); ++v) {
        if (!held[v] && !reaches_node[outside.root(v)]) held[v] = 1;
    }
    return held;
}

/// Marks the vertices that no route passes through, because they do not forward messages or have only one
/// neighbor.
std::vector<char> mark_dead_ends(const NetworkView& network) {
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> neighbor(network.vertex_count(), none);
    std::vector<char> ends(network.vertex_count(), 1);
    const auto add = [&](std::uint32_t v, std::uint32_t other) {
        if (neighbor[v] == none) neighbor[v] = other;
        if (neighbor[v] != other && network.forwards(v)) ends[v] = 0;
    };
    for_each_link(network, [&](LinkEnds link) {
        add(link.from, link.to);
        add(link.to, link.from);
    });
    return ends;
}

std::vector<Node> sort_nodes(std::span<const Node> nodes) {
    std::vector<Node> in_order(nodes.begin(), nodes.end());
    std::ranges::sort(in_order);
    return in_order;
}

}  // namespace

Territory::Territory(const Allocation& allocation) {
    constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();
    const NetworkView network(allocation.machine().topology());
    const std::vector<Node> usable = allocation.machine().usable_nodes();
    held_ = mark_near_vertices(network, allocation.nodes());
    owned_ = held_;
    std::vector<Node> others;
    std::ranges::set_difference(usable, sort_nodes(allocation.nodes()), std::back_inserter(others));
    const std::vector<char> of_others = mark_near_vertices(network, others);
    for (std::uint32_t v = 0; v < owned_.size(); ++v) {
        if (of_others[v]) owned_[v] = 0;
    }
    is_dead_end_ = mark_dead_ends(network);
    held_ = add_enclosed_vertices(network, std::move(held_), usable);
    owned_ = add_enclosed_vertices(network, std::move(owned_), usable);
    VertexSets components(held_.size());
    for_each_link(network, [&](LinkEnds ends) {
        if (holds(ends)) components.join(ends.from, ends.to);
    });
    std::vector<std::uint32_t> number(held_.size(), unseen);
    for (const Node node : allocation.nodes()) {
        std::uint32_t& component = number[components.root(network.vertex(node))];
        if (component == unseen) component = static_cast<std::uint32_t>(component_count_++);
        component_of_node_.push_back(component);
    }
}

}  // namespace topoloom
