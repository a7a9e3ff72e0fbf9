// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/routes/node_clusters.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "topoloom/machine/network_view.hpp"

namespace topoloom::bound {

namespace {

struct Join {
    std::uint32_t hops, a, b;
};

/// A minimum spanning tree of the nodes, shortest edges first (Prim 1957).
std::vector<Join> span_nodes(const NetworkView& network, std::span<const Node> nodes) {
    std::vector<Join> nearest(nodes.size(), {std::numeric_limits<std::uint32_t>::max(), 0, 0});
    std::vector<std::uint32_t> outside(nodes.size() - 1);
    std::iota(outside.begin(), outside.end(), 1U);
    std::vector<Join> tree;
    std::uint32_t newest = 0;
    while (!outside.empty()) {
        for (const std::uint32_t v : outside) {
            const std::uint32_t hops = network.hops(nodes[newest], nodes[v]);
            if (hops < nearest[v].hops) nearest[v] = {hops, newest, v};
        }
        const auto next =
            std::ranges::min_element(outside, {}, [&](std::uint32_t v) { return nearest[v].hops; });
        newest = *next;
        tree.push_back(nearest[newest]);
        *next = outside.back();
        outside.pop_back();
    }
    std::ranges::stable_sort(tree, {}, &Join::hops);
    return tree;
}

}  // namespace

std::vector<NodePart> list_node_clusters(const Allocation& allocation) {
    const std::size_t nodes = allocation.nodes().size();
    if (nodes < 3) return {};
    const std::vector<Join> tree =
        span_nodes(NetworkView(allocation.machine().topology()), allocation.nodes());
    std::vector<NodePart> part_of(nodes);  // by component
    std::vector<std::uint32_t> component(nodes);
    std::iota(component.begin(), component.end(), 0U);
    for (std::uint32_t v = 0; v < nodes; ++v) part_of[v] = {v};
    std::vector<NodePart> parts;
    std::vector<std::uint32_t> changed;
    for (std::size_t i = 0; i < tree.size(); ++i) {
        std::uint32_t into = component[tree[i].a];
        std::uint32_t from = component[tree[i].b];
        if (part_of[into].size() < part_of[from].size()) std::swap(into, from);
        for (const std::uint32_t v : part_of[from]) component[v] = into;
        part_of[into].insert(part_of[into].end(), part_of[from].begin(), part_of[from].end());
        part_of[from].clear();
        changed.push_back(into);
        if (i + 1 < tree.size() && tree[i + 1].hops == tree[i].hops) continue;
        std::ranges::sort(changed);
        changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
        for (const std::uint32_t c : changed) {
            if (part_of[c].empty() || part_of[c].size() >= nodes) continue;
            parts.push_back(part_of[c]);
            std::ranges::sort(parts.back());
        }
        changed.clear();
    }
    std::ranges::reverse(parts);
    return parts;
}

}  // namespace topoloom::bound
