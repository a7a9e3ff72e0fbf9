// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/contention.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"

namespace topoloom {

namespace {

void require_permutation(const FatTree& tree, std::span<const Node> targets) {
    if (targets.size() != tree.node_count()) {
        fail("a permutation of ", tree.node_count(), " nodes needs as many targets, not ", targets.size());
    }
    std::vector<char> taken(targets.size(), 0);
    for (const Node target : targets) {
        if (target.value >= targets.size()) {
            fail("node ", target.value, " is a target, but there are only ", targets.size(), " nodes");
        }
        if (taken[target.value]++) fail("node ", target.value, " is a target twice");
    }
}

}  // namespace

bool congestion_free(const FatTree& tree, std::span<const Node> targets) {
    require_permutation(tree, targets);
    std::uint32_t size = 1;  // of a subtree
    for (const std::uint32_t arity : tree.spec().arity) {
        size *= arity;
        std::vector<std::uint32_t> entered_from(targets.size() / size, no_index);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const auto from = static_cast<std::uint32_t>(i / size);
            const std::uint32_t to = targets[i].value / size;
            if (from == to) continue;
            if (entered_from[to] != no_index && entered_from[to] != from) return false;
            entered_from[to] = from;
        }
    }
    return true;
}

HeaviestLinks heaviest_links(const FatTree& tree, std::span<const Node> targets) {
    require_permutation(tree, targets);
    std::vector<double> load(tree.link_count(), 0);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        tree.route(Node{i}, targets[i], [&](Link link, double share) { load[link.value] += share; });
    }
    HeaviestLinks heaviest;
    for (std::size_t link = 0; link < load.size(); ++link) {
        const LinkEnds ends = tree.ends(Link{link});
        double& most = ends.from < ends.to ? heaviest.up : heaviest.down;  // levels are numbered bottom-up
        most = std::max(most, load[link]);
    }
    return heaviest;
}

}  // namespace topoloom
