// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/routes/detours.hpp"

#include <algorithm>
#include <type_traits>

#include "topoloom/base/error.hpp"
#include "topoloom/network/routes/routing.hpp"

namespace topoloom {

namespace {

const DragonflySpec* dragonfly_of(const Machine& machine) {
    return with_topology(machine, [](const auto& topology) -> const DragonflySpec* {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(topology)>, Hosted<Dragonfly>>)
            return &topology.router_network().spec();
        else
            return nullptr;
    });
}

}  // namespace

Routing own_routing(const Machine& machine) {
    const DragonflySpec* const spec = dragonfly_of(machine);
    if (spec == nullptr || spec->routing == DragonflyRouting::minimal) return Routing::own;
    return spec->routing == DragonflyRouting::ugal ? Routing::ugal : Routing::valiant;
}

Detours::Detours(const Fabric& fabric) : fabric_(&fabric), node_channels_(fabric) {
    const DragonflySpec* const spec = dragonfly_of(fabric.machine());
    if (spec == nullptr)
        fail("Valiant and UGAL routing need the groups of a dragonfly, but '", fabric.machine().text(),
             "' has none; choose its own routing, or minimal-adaptive");
    groups_ = spec->groups;
    nodes_ = spec->rows * spec->columns * spec->nodes_per_router;
    for (const Node node : node_channels_.node_at) group_of_.push_back(group(node));
}

Node Detours::draw(Node from, Node to, Rng& rng) const {
    const std::uint32_t low = std::min(group(from), group(to)), high = std::max(group(from), group(to));
    std::uint32_t via = rng.below(groups_ - 2);
    if (via >= low) ++via;
    if (via >= high) ++via;
    return Node{via * nodes_ + rng.below(nodes_)};
}

void Detours::for_each_turn(const std::function<void(ChannelId, Node)>& visit) const {
    for (const ChannelId channel : ids<ChannelId>(fabric_->channel_count())) {
        if (!is_global(channel)) continue;
        const Channel& ends = fabric_->channel(channel);
        for (const Node to : node_channels_.node_at)
            if (group(to) != group_of_[ends.from] && group(to) != group_of_[ends.to]) visit(channel, to);
    }
}

}  // namespace topoloom
