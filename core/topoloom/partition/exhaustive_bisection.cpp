// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/partition/exhaustive_bisection.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace topoloom::partition {

namespace {

/// The sides of all vertices: bit v is the side of vertex v.
using Sides = std::uint32_t;

struct Value {
    std::int64_t excess = 0;
    std::int64_t cost = 0;
    friend bool operator<(const Value& a, const Value& b) {
        return std::tie(a.excess, a.cost) < std::tie(b.excess, b.cost);
    }
};

Value evaluate(const WeightedGraph& graph, std::span<const std::int64_t> bias,
               const std::array<std::int64_t, 2>& capacity, Sides sides) {
    std::array<std::int64_t, 2> mass{};
    std::int64_t twice = 0;
    Value value;
    for (std::uint32_t v = 0; v < graph.size(); ++v) {
        const std::uint32_t side = sides >> v & 1U;
        mass[side] += graph.mass[v];
        if (side == 1 && !bias.empty()) value.cost += bias[v];
        for (std::uint32_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
            twice += (sides >> graph.peer[e].value & 1U) != side ? graph.weight[e] : 0;
    }
    value.cost += twice / 2;
    for (const std::size_t side : {0U, 1U})
        value.excess += std::max<std::int64_t>(0, mass[side] - capacity[side]);
    return value;
}

}  // namespace

Bisection bisect_exhaustively(const WeightedGraph& graph, std::span<const std::int64_t> bias,
                              std::array<std::int64_t, 2> capacity, std::vector<char> start) {
    Sides best = 0;
    for (std::uint32_t v = 0; v < graph.size(); ++v) best |= static_cast<Sides>(start[v]) << v;
    Value least = evaluate(graph, bias, capacity, best);
    const Sides end = Sides{1} << graph.size();
    for (Sides sides = 0; sides < end; ++sides) {
        if (const Value value = evaluate(graph, bias, capacity, sides); value < least) {
            least = value;
            best = sides;
        }
    }
    for (std::uint32_t v = 0; v < graph.size(); ++v) start[v] = static_cast<char>(best >> v & 1U);
    return {std::move(start), least.cost, least.excess, end};
}

}  // namespace topoloom::partition
