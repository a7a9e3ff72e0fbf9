// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/host_notation.hpp"

#include <optional>
#include <string_view>

#include "topoloom/machine/notation/topology_notation.hpp"

namespace topoloom {

HostLinks read_host_links(const Section& section, RouterPlace place, std::uint32_t nodes_per_router,
                          BytesPerSecond fastest) {
    HostLinks hosts{.cards = place == RouterPlace::in_switches || nodes_per_router > 1 ? 1U : 0U,
                    .bandwidth = fastest,
                    .is_assumed = true};
    const TextPiece* link_key = nullptr;
    const TextPiece* hosts_key = nullptr;
    const TextPiece* cards_key = nullptr;
    for (const auto& [key, value] : section.options) {
        if (key.text() == "hosts") {
            (void)value.one_of(free_hosts);
            hosts.cards = 0;
            hosts_key = &key;
        } else if (key.text() == "cards") {
            hosts.cards = value.number();
            if (hosts.cards == 0)
                value.reject("a node has at least 1 network card; hosts=free has no links to routers;");
            hosts.is_assumed = false;
            cards_key = &key;
        } else if (key.text() == "latency") {
            hosts.latency = read_quantity(value, parse_time);
        }
    }
    if (hosts_key != nullptr && cards_key != nullptr)
        hosts_key->reject("hosts=free has no links to routers, and cards= has some; leave one of them out;");
    for (const auto& [key, value] : section.options) {
        if (key.text() == "bandwidth.host") {
            hosts.bandwidth = read_bandwidth(value, fastest);
            hosts.is_assumed = false;
            link_key = &key;
        } else if (key.text() == "latency.host") {
            hosts.latency = read_quantity(value, parse_time);
            link_key = &key;
        }
    }
    if (hosts.cards == 0 && link_key != nullptr)
        link_key->reject("here nodes have no links to routers; add cards=1, or leave this out;");
    return hosts;
}

}  // namespace topoloom
