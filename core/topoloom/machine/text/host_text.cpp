// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/host_text.hpp"

#include <optional>
#include <string_view>

#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

bool is_host_option(const Piece& key) {
    const std::string_view name = key.text();
    return name == "cards" || name == "hosts" || name == "bandwidth.host" || name == "latency.host";
}

HostLinks read_hosts(const Section& section, Routers routers, std::uint32_t nodes_per_router,
                     BytesPerSecond fastest) {
    HostLinks hosts{.cards = routers == Routers::switches || nodes_per_router > 1 ? 1U : 0U,
                    .bandwidth = fastest,
                    .is_assumed = true};
    const Piece* speaks_of_links = nullptr;
    const Piece* frees = nullptr;
    const Piece* counts = nullptr;
    for (const auto& [key, value] : section.options) {
        if (key.text() == "hosts") {
            (void)value.one_of(free_hosts);
            hosts.cards = 0;
            frees = &key;
        } else if (key.text() == "cards") {
            hosts.cards = value.number();
            if (hosts.cards == 0)
                value.complain("a node has at least 1 network card; hosts=free has no links to routers;");
            hosts.is_assumed = false;
            counts = &key;
        } else if (key.text() == "latency") {
            hosts.latency = read_quantity(value, parse_time);
        }
    }
    if (frees != nullptr && counts != nullptr)
        frees->complain("hosts=free has no links to routers, and cards= has some; leave one of them out;");
    for (const auto& [key, value] : section.options) {
        if (key.text() == "bandwidth.host") {
            hosts.bandwidth = read_bandwidth(value, fastest);
            hosts.is_assumed = false;
            speaks_of_links = &key;
        } else if (key.text() == "latency.host") {
            hosts.latency = read_quantity(value, parse_time);
            speaks_of_links = &key;
        }
    }
    if (hosts.cards == 0 && speaks_of_links != nullptr)
        speaks_of_links->complain("here nodes have no links to routers; add cards=1, or leave this out;");
    return hosts;
}

}  // namespace topoloom
