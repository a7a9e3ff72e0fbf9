// SPDX-License-Identifier: BSD-3-Clause
// Contents of combined messages: data from several origins to several targets.
#pragma once

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Calls visit(block) for each block that one of the targets requires from another rank among the origins.
/// each_origin(visit) lists the origins. O(origins * targets).
template <class Origins, class Visit>
void each_combined_block(const Collective& collective, const Origins& each_origin, const EveryNth& targets,
                         const Visit& visit) {
    const std::size_t ranks = collective.ranks();
    each_origin([&](Rank origin) {
        bool is_wanted = false;
        for (std::size_t target = targets.first; target < ranks; target += targets.step) {
            if (target == origin.value || !collective.is_target(origin, Rank{target})) continue;
            is_wanted = true;
            if (collective.is_personalized()) visit(std::uint64_t{origin.value} * ranks + target);
        }
        if (is_wanted && !collective.is_personalized()) visit(std::uint64_t{origin.value});
    });
}

/// Returns the number and total bytes of these blocks. Without a demand O(1), from the numbers of origins and
/// targets.
template <class Origins>
Copies count_combined_data(const Collective& collective, std::uint64_t origin_count,
                           std::uint64_t target_count, const Origins& each_origin, const EveryNth& targets) {
    const Demand* demand = collective.demand();
    if (demand == nullptr) {
        const std::uint64_t blocks =
            collective.is_personalized() ? origin_count * target_count : origin_count;
        return {collective.bytes() * static_cast<std::int64_t>(blocks), blocks};
    }
    Copies sum;
    each_origin([&](Rank origin) {
        const Demand::DemandSum demanded = demand->sum_demand(origin, targets);
        if (demanded.targets == 0) return;
        sum.bytes += collective.is_personalized() ? demanded.bytes : demand->max_bytes(origin);
        sum.blocks += collective.is_personalized() ? demanded.targets : 1;
    });
    return sum;
}

/// Calls visit(rank) for ranks that probably include the busiest sender. With a demand, any rank can be the
/// busiest; among more than 1,024 ranks only a sample is visited because counting forwarded data is slow.
template <class Visit>
void each_candidate(std::size_t ranks, const Visit& visit) {
    constexpr std::size_t max_in_full = 1024, sample = 16;
    const std::size_t step = ranks <= max_in_full ? 1 : ranks / sample;
    for (std::size_t rank = 0; rank < ranks; rank += step) visit(Rank{rank});
}

}  // namespace topoloom
