// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/dense/route_table.hpp"

#include <algorithm>

#include "topoloom/machine/network_view.hpp"

namespace topoloom::dense {

RouteTable::RouteTable(const Allocation& allocation)
    : nodes_(allocation.nodes().size()),
      routes_(nodes_ * nodes_),
      latency_(nodes_ * nodes_),
      transfer_(nodes_ * nodes_) {
    const NetworkView network(allocation.machine().topology());
    std::vector<std::uint32_t> number(network.link_count(), no_index);
    const auto number_of = [&](Link link) {
        std::uint32_t& known = number[link.value];
        if (known == no_index) {
            known = static_cast<std::uint32_t>(links_.size());
            links_.push_back(link);
            link_costs_.push_back(1 / network.bandwidth(link).value);
            link_latencies_.push_back(network.latency(link).value);
        }
        return known;
    };
    for (std::size_t from = 0; from < nodes_; ++from) {
        for (std::size_t to = 0; to < nodes_; ++to) {
            if (from == to) continue;
            const std::size_t pair = from * nodes_ + to;
            network.route(allocation.nodes()[from], allocation.nodes()[to], [&](Link link, double share) {
                const std::uint32_t numbered = number_of(link);
                routes_[pair].push_back({numbered, share});
                latency_[pair] += share * network.latency(link).value;
                transfer_[pair] = std::max(transfer_[pair], share * link_costs_[numbered]);
            });
        }
    }
}

}  // namespace topoloom::dense
