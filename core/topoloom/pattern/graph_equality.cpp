// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/graph_equality.hpp"

#include <algorithm>
#include <cstdint>

namespace topoloom {

bool are_equal(const CommGraph& a, const CommGraph& b) {
    if (&a == &b) return true;
    const auto same_load = [&](Rank u) { return a.load(u) == b.load(u); };
    return std::ranges::equal(a.first(), b.first()) && std::ranges::equal(a.all_peers(), b.all_peers()) &&
           std::ranges::equal(a.all_bytes(), b.all_bytes()) &&
           std::ranges::equal(a.all_messages(), b.all_messages()) &&
           std::ranges::equal(a.all_self_bytes(), b.all_self_bytes()) &&
           std::ranges::equal(a.all_self_messages(), b.all_self_messages()) &&
           std::ranges::equal(a.proxied(), b.proxied()) &&
           std::ranges::all_of(ids<Rank>(a.rank_count()), same_load);
}

std::size_t hash_graph(const CommGraph& graph) {
    std::uint64_t hash = static_cast<std::uint64_t>(graph.total_bytes().value);
    const auto mix = [&](std::uint64_t value) {
        hash = (hash ^ value) * 0x9E3779B97F4A7C15U + (hash >> 29U);
    };
    mix(static_cast<std::uint64_t>(graph.total_messages()));
    for (const std::uint64_t first : graph.first()) mix(first);
    return hash;
}

}  // namespace topoloom
