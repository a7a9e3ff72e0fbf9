// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/machine_neighbors.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "topoloom/balance/near/near_order.hpp"

namespace topoloom {

namespace {

using RankPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// The ranks of each router, in the order of the curve.
using RouterRanks = std::vector<std::vector<std::uint32_t>>;

/// Joins the first ranks of both routers, the second ones, and so on.
void join_routers(const RouterRanks& ranks, std::uint32_t a, std::uint32_t b, RankPairs& pairs) {
    const std::size_t both = std::min(ranks[a].size(), ranks[b].size());
    for (std::size_t i = 0; i < both; ++i) pairs.emplace_back(ranks[a][i], ranks[b][i]);
}

/// Pairs of ranks that share a router or are on adjacent routers of a torus or mesh. Empty for other networks.
RankPairs list_grid_pairs(const Machine& machine, std::span<const Slot> slots,
                          std::span<const std::uint32_t> order) {
    RankPairs pairs;
    with_geometry(machine, [&](const auto& network) {
        if constexpr (requires { network.axis_count(); }) {
            RouterRanks ranks(network.vertex_count());
            for (const std::uint32_t rank : order)
                ranks[network.vertex(machine.node(slots[rank]))].push_back(rank);
            for (const auto& here : ranks)
                for (std::size_t i = 1; i < here.size(); ++i) pairs.emplace_back(here[i - 1], here[i]);
            std::uint32_t stride = 1;
            for (std::uint32_t axis = network.axis_count(); axis-- > 0; stride *= network.grid()[axis]) {
                const std::uint32_t length = network.grid()[axis];
                for (std::uint32_t router = 0; router < ranks.size(); ++router) {
                    const std::uint32_t at = router / stride % length;
                    if (at + 1 < length)
                        join_routers(ranks, router, router + stride, pairs);
                    else if (network.wraps(axis) && length > 2)
                        join_routers(ranks, router, router - at * stride, pairs);
                }
            }
        }
    });
    return pairs;
}

/// Joins separate parts where ranks of different parts are adjacent along the curve.
void join_parts(std::span<const std::uint32_t> order, RankPairs& pairs) {
    std::vector<std::uint32_t> part(order.size());
    std::iota(part.begin(), part.end(), 0U);
    const auto find = [&](std::uint32_t rank) {
        while (part[rank] != rank) rank = part[rank] = part[part[rank]];
        return rank;
    };
    for (const auto& [a, b] : pairs) part[find(a)] = find(b);
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (find(order[i - 1]) == find(order[i])) continue;
        part[find(order[i - 1])] = find(order[i]);
        pairs.emplace_back(order[i - 1], order[i]);
    }
}

/// Numbers ranks breadth first, so that the spanning tree is shallow and parents have lower numbers.
NumberedNetwork number_breadth_first(std::size_t ranks, std::uint32_t root, const RankPairs& pairs) {
    std::vector<std::vector<std::uint32_t>> peers(ranks);
    for (const auto& [a, b] : pairs) {
        peers[a].push_back(b);
        peers[b].push_back(a);
    }
    constexpr std::uint32_t none = ~0U;
    std::vector<std::uint32_t> number(ranks, none), parent(ranks, none), rank_of_number{root};
    number[root] = 0;
    for (std::uint32_t i = 0; i < rank_of_number.size(); ++i) {
        for (const std::uint32_t peer : peers[rank_of_number[i]]) {
            if (number[peer] != none) continue;
            number[peer] = static_cast<std::uint32_t>(rank_of_number.size());
            parent[number[peer]] = i;
            rank_of_number.push_back(peer);
        }
    }
    RankNetwork network{
        ranks, {}, std::vector<std::uint32_t>(ranks), std::vector<std::size_t>(ranks, no_pair)};
    for (std::uint32_t low = 0; low < ranks; ++low) {
        std::vector<std::uint32_t> higher;
        for (const std::uint32_t peer : peers[rank_of_number[low]])
            if (number[peer] > low) higher.push_back(number[peer]);
        std::ranges::sort(higher);
        for (const std::uint32_t high : higher) {
            if (parent[high] == low) network.pair_to_root[high] = network.pairs.size();
            network.pairs.push_back({low, high});
            ++network.degree[low];
            ++network.degree[high];
        }
    }
    return {std::move(network), std::move(rank_of_number)};
}

}  // namespace

NumberedNetwork join_machine_neighbors(const Machine& machine, std::span<const Slot> slots) {
    std::vector<std::uint32_t> order = near_order(machine, slots);
    RankPairs pairs = list_grid_pairs(machine, slots, order);
    if (pairs.empty()) return {make_rank_network(NeighborRule::hypercube, slots.size()), std::move(order)};
    join_parts(order, pairs);
    return number_breadth_first(slots.size(), order.front(), pairs);
}

}  // namespace topoloom
