// SPDX-License-Identifier: BSD-3-Clause
// Host links in a machine's short text: cards=4, bandwidth.host=25GB/s, latency.host=200ns, or hosts=free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/text/text_piece.hpp"
#include "topoloom/machine/topologies/hosted.hpp"

namespace topoloom {

/// What routers are, if the text says nothing of cards.
enum class Routers {
    in_nodes,  // one in each node: no host links, unless several nodes share a router
    switches   // host links
};

/// Whether an option is one that read_hosts() reads.
[[nodiscard]] bool is_host_option(const Piece& key);

/// `fastest` is the bandwidth of the network's fastest link, which a card has if the text gives none.
[[nodiscard]] HostLinks read_hosts(const Section& section, Routers routers, std::uint32_t nodes_per_router,
                                   BytesPerSecond fastest);

/// T(spec), a network between routers, joined to its nodes as the text says.
template <class T, class Spec>
[[nodiscard]] Hosted<T> with_hosts(const Section& section, Routers routers, Spec spec) {
    T network = section.name.build([&] { return T(std::move(spec)); });
    BytesPerSecond fastest = unit_bandwidth;
    for (const LinkRun& run : network.bandwidth_runs()) fastest = std::max(fastest, run.bandwidth);
    const HostLinks hosts = read_hosts(section, routers, network.spec().nodes_per_router, fastest);
    return section.name.build([&] { return Hosted<T>(std::move(network), hosts); });
}

}  // namespace topoloom
