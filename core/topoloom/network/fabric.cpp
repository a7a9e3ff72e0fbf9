// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/fabric.hpp"

#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

/// Sorts channel ids by router, and stores the index of each router's first channel.
template <class RouterOf>
void sort_by_router(std::size_t routers, std::size_t channels, const RouterOf& router_of,
                    std::vector<ChannelId>& sorted, std::vector<std::uint32_t>& first) {
    first.assign(routers + 1, 0);
    for (std::size_t c = 0; c < channels; ++c)
        if (router_of(c) != no_index) ++first[router_of(c) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    sorted.resize(first.back());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::size_t c = 0; c < channels; ++c)
        if (router_of(c) != no_index) sorted[next[router_of(c)]++] = ChannelId{c};
}

}  // namespace

Fabric::Fabric(const Machine& machine) : machine_(&machine), link_count_(machine.link_count()) {
    const NetworkView view(machine.topology());
    std::vector<std::uint32_t> router(view.vertex_count(), no_index);
    std::uint32_t routers = 0;
    for (std::uint32_t v = 0; v < view.vertex_count(); ++v)
        if (view.forwards(v)) router[v] = routers++;
    if (routers == 0) fail("'", machine.text(), "' has no switches");
    for (std::size_t l = 0; l < link_count_; ++l) {
        const LinkEnds ends = view.ends(Link{l});
        channels_.push_back({.from = router[ends.from], .to = router[ends.to]});
    }
    own_.assign(machine.node_count(), no_index);
    std::uint32_t own = 0;
    for (const Node node : ids<Node>(machine.node_count())) {
        const std::uint32_t at = router[view.vertex(node)];
        if (at == no_index) continue;
        own_[node.value] = own++;
        channels_.push_back({.to = at});
        channels_.push_back({.from = at});
    }
    sort_by_router(
        routers, channels_.size(), [&](std::size_t c) { return channels_[c].to; }, into_, first_input_);
    sort_by_router(
        routers, channels_.size(), [&](std::size_t c) { return channels_[c].from; }, out_of_, first_output_);
    for (std::uint32_t port = 0; port < into_.size(); ++port) channels_[into_[port].value].input = port;
    for (std::uint32_t port = 0; port < out_of_.size(); ++port) channels_[out_of_[port].value].output = port;
}

std::string Fabric::name(ChannelId id) const {
    if (id.value < link_count_) return NetworkView(machine_->topology()).link_name(Link{id.value});
    const std::uint32_t own = (id.value - static_cast<std::uint32_t>(link_count_)) / 2;
    std::uint32_t node = 0;
    while (own_[node] != own) ++node;
    return (channel(id).is_entry() ? "from node " : "to node ") + std::to_string(node);
}

}  // namespace topoloom
