// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/locality_order.hpp"

namespace topoloom {

namespace {

std::vector<Rank> order_breadth_first(const CommGraph& graph) {
    std::vector<Rank> order;
    order.reserve(graph.rank_count());
    std::vector<char> seen(graph.rank_count(), 0);
    const auto see = [&](Rank u) {
        if (seen[u.value] != 0) return;
        seen[u.value] = 1;
        order.push_back(u);
    };
    std::size_t next = 0;
    for (const Rank root : ids<Rank>(graph.rank_count())) {
        for (see(root); next < order.size(); ++next) {
            for (const Rank peer : graph.peers(order[next])) see(peer);
        }
    }
    return order;
}

std::vector<Rank> invert_order(const std::vector<Rank>& order) {
    std::vector<Rank> number(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i].value] = Rank{i};
    return number;
}

}  // namespace

std::vector<Rank> locality_order(const CommGraph& symmetric) {
    std::vector<Rank> order = order_breadth_first(symmetric);
    const std::vector<Rank> number = invert_order(order);
    const auto difference = [](Rank u, Rank v) {
        return static_cast<double>(u.value < v.value ? v.value - u.value : u.value - v.value);
    };
    double now = 0;  // sum of differences between the numbers of two partners
    double then = 0;
    for (const Rank u : ids<Rank>(symmetric.rank_count())) {
        for (const Rank v : symmetric.peers(u)) {
            now += difference(u, v);
            then += difference(number[u.value], number[v.value]);
        }
    }
    constexpr double worth_it = 4;
    return worth_it * then < now ? order : std::vector<Rank>{};
}

}  // namespace topoloom
