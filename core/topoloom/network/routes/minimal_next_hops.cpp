// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/routes/minimal_next_hops.hpp"

#include <algorithm>
#include <map>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;

}  // namespace

MinimalNextHops::MinimalNextHops(const Fabric& fabric)
    : fabric_(&fabric), node_channels_(fabric), is_usable_(fabric.channel_count(), true) {
    const NetworkView view(fabric.machine().topology());
    for (const Link link : ids<Link>(view.link_count())) is_usable_[link.value] = view.is_up(link);
    std::map<std::vector<std::uint32_t>, std::uint32_t> sets;
    for (const Node node : ids<Node>(fabric.node_count())) {
        std::vector<std::uint32_t> last_routers;
        for (const ChannelId exit : node_channels_.exits[node.value])
            last_routers.push_back(fabric.channel(exit).from);
        std::ranges::sort(last_routers);
        const auto [place, is_new] = sets.emplace(last_routers, static_cast<std::uint32_t>(sets.size()));
        if (is_new) member_.push_back(node);
        set_of_.push_back(place->second);
    }
    const std::size_t bytes = sets.size() * fabric.router_count() * sizeof(std::uint16_t);
    if (bytes > most_bytes)
        fail("distances on '", fabric.machine().text(), "' take ", bytes >> 20, " MiB, more than ",
             most_bytes >> 20, "; choose the machine's own routing");
    distances_.assign(sets.size() * fabric.router_count(), no_distance);
    for (const auto& [last_routers, set] : sets) measure_distances(set, last_routers);
}

void MinimalNextHops::measure_distances(std::size_t set, const std::vector<std::uint32_t>& last_routers) {
    std::uint16_t* const away = distances_.data() + set * fabric_->router_count();
    std::vector<std::uint32_t> reached(last_routers);
    for (const std::uint32_t router : reached) away[router] = 1;
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const std::uint32_t router = reached[i];
        for (const ChannelId before : fabric_->inputs_of(router)) {
            const std::uint32_t from = fabric_->channel(before).from;
            if (from == no_index || away[from] != no_distance || !is_usable_[before.value]) continue;
            away[from] = static_cast<std::uint16_t>(away[router] + 1U);
            reached.push_back(from);
        }
    }
    longest_ = std::max<std::uint32_t>(longest_, away[reached.back()]);
}

Turns MinimalNextHops::turns() const {
    Turns turns(fabric_->channel_count());
    std::vector<std::size_t> first(fabric_->router_count() + 1, 0);  // [router]: first of its turns in `seen`
    for (std::uint32_t router = 0; router < fabric_->router_count(); ++router)
        first[router + 1] =
            first[router] + fabric_->inputs_of(router).size() * fabric_->outputs_of(router).size();
    std::vector<bool> seen(first.back(), false);
    std::vector<ChannelId> next;
    for (const Node to : member_)
        for (std::uint32_t router = 0; router < fabric_->router_count(); ++router) {
            const std::uint32_t here = distance(router, to);
            if (here == no_distance) continue;
            next.clear();
            for_each_output(router, to, [&](ChannelId channel) { next.push_back(channel); });
            for (const ChannelId before : fabric_->inputs_of(router)) {
                const Channel& came = fabric_->channel(before);
                if (!came.is_entry() && distance(came.from, to) != here + 1) continue;
                for (const ChannelId after : next) {
                    const std::size_t place =
                        first[router] +
                        (came.input - fabric_->first_input(router)) * fabric_->outputs_of(router).size() +
                        (fabric_->channel(after).output - fabric_->first_output(router));
                    if (seen[place]) continue;
                    seen[place] = true;
                    turns.add(before, after);
                }
            }
        }
    return turns;
}

}  // namespace topoloom
