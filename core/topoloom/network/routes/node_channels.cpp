// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/routes/node_channels.hpp"

#include "topoloom/machine/network_view.hpp"

namespace topoloom {

NodeChannels::NodeChannels(const Fabric& fabric)
    : entries(fabric.node_count()), exits(fabric.node_count()), node_at(fabric.router_count(), Node::none) {
    const NetworkView view(fabric.machine().topology());
    std::vector<std::uint32_t> node_of(view.vertex_count(), no_index);
    for (const Node node : ids<Node>(fabric.node_count())) {
        if (fabric.is_own_router(node)) {
            entries[node.value].push_back(fabric.entry(node));
            exits[node.value].push_back(fabric.exit(node));
        } else {
            node_of[view.vertex(node)] = node.value;
        }
    }
    for (const Link link : ids<Link>(view.link_count())) {
        const ChannelId id{link.value};
        const Channel& channel = fabric.channel(id);
        if (channel.is_entry() == channel.is_exit()) continue;
        const LinkEnds ends = view.ends(link);
        if (channel.is_entry()) entries[node_of[ends.from]].push_back(id);
        if (channel.is_exit()) exits[node_of[ends.to]].push_back(id);
    }
    for (const Node node : ids<Node>(fabric.node_count()))
        for (const ChannelId entry : entries[node.value]) {
            Node& first = node_at[fabric.channel(entry).to];
            if (first == Node::none) first = node;
        }
}

}  // namespace topoloom
