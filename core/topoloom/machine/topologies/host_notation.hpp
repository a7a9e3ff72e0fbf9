// SPDX-License-Identifier: BSD-3-Clause
// Host links in machine text: cards=4, bandwidth.host=25GB/s, latency.host=200ns, or hosts=free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/notation/text_piece.hpp"
#include "topoloom/machine/topologies/hosted.hpp"

namespace topoloom {

/// Where routers are assumed to be if the machine text does not describe NICs.
enum class RouterPlace {
    in_nodes,    ///< in nodes: no host links, unless several nodes share a router
    in_switches  ///< outside nodes: each node has host links
};

/// Reads the options cards, hosts, bandwidth.host, latency.host and latency. `fastest` is the bandwidth of
/// the network's fastest link, the default of a NIC.
[[nodiscard]] HostLinks read_host_links(const Section& section, RouterPlace place,
                                        std::uint32_t nodes_per_router, BytesPerSecond fastest);

/// Makes the network T(spec) between routers, with the host links that the text describes.
template <class T, class Spec>
[[nodiscard]] Hosted<T> with_hosts(const Section& section, RouterPlace place, Spec spec) {
    T network = section.name.add_context([&] { return T(std::move(spec)); });
    BytesPerSecond fastest = unit_bandwidth;
    for (const LinkRun& run : network.bandwidth_runs()) fastest = std::max(fastest, run.bandwidth);
    const HostLinks hosts = read_host_links(section, place, network.spec().nodes_per_router, fastest);
    return section.name.add_context([&] { return Hosted<T>(std::move(network), hosts); });
}

}  // namespace topoloom
