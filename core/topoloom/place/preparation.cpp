// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/preparation.hpp"

#include <span>

#include "topoloom/machine/network_view.hpp"

namespace topoloom {

bool charge_preparation(Meter& meter, const Problem& problem) {
    if (!charge_step(meter,
                     problem.allocation().slot_count() + problem.rank_count() + problem.graph().edge_count()))
        return false;
    (void)problem.symmetric();
    return meter.poll();
}

double estimate_links_per_route(const Allocation& allocation) {
    constexpr std::size_t samples = 64;
    const std::span<const Node> nodes = allocation.nodes();
    double visits = 0;
    const NetworkView network(allocation.machine().topology());
    for (std::size_t i = 0; i < samples; ++i) {
        const Node from = nodes[i * nodes.size() / samples];
        const Node to = nodes[(i * 37 + nodes.size() / 2) % nodes.size()];
        if (from != to) network.route(from, to, [&](Link, double) { visits += 1; });
    }
    return visits / samples;
}

bool charge_link_loads(Meter& meter, const Problem& problem) {
    constexpr double visits_per_unit = 64;
    constexpr double seconds_per_visit = 3e-8;  // measured on tori and dragonflies
    const double visits = static_cast<double>(problem.graph().edge_count()) *
                          (1 + estimate_links_per_route(problem.allocation()));
    meter.spend(1 + static_cast<std::uint64_t>(visits / visits_per_unit));
    return meter.poll() && meter.remaining().seconds >= seconds_per_visit * visits;
}

}  // namespace topoloom
