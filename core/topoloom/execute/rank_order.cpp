// SPDX-License-Identifier: BSD-3-Clause
// Checks whether a schedule supports non-commutative operators, by tracking intervals of ranks.
#include <algorithm>
#include <vector>

#include "topoloom/execute/compile.hpp"

namespace topoloom {

namespace {

/// The ranks whose contributions a sum contains: [begin, end).
struct RankInterval {
    std::uint32_t begin = 0, end = 0;
};

struct Contribution {
    Rank from;
    std::uint64_t block;
    RankInterval ranks;
};

/// Extends the sums by the contributions received in a round, nearest first. Returns false if one is not
/// adjacent to its sum.
bool extend_sums(std::vector<Contribution>& shares, Rank to, std::vector<RankInterval>& own) {
    std::ranges::sort(shares, [&](const Contribution& a, const Contribution& b) {
        const bool a_below = a.from < to, b_below = b.from < to;
        if (a_below != b_below) return a_below;
        return a_below ? a.from > b.from : a.from < b.from;
    });
    for (const Contribution& share : shares) {
        RankInterval& sum = own[share.block];
        if (share.from < to ? share.ranks.end != sum.begin : share.ranks.begin != sum.end) return false;
        sum = {std::min(sum.begin, share.ranks.begin), std::max(sum.end, share.ranks.end)};
    }
    return true;
}

bool combines_adjacent_ranges(const AnySchedule& schedule) {
    if (schedule.rounds() <= 1) return true;  // all contributions arrive at once, directly from their ranks
    const Collective& collective = schedule.collective();
    std::vector<std::vector<RankInterval>> sums(collective.ranks());
    for (const Rank rank : ids<Rank>(sums.size()))
        sums[rank.value].assign(collective.block_count(), RankInterval{rank.value, rank.value + 1});
    std::vector<std::vector<Contribution>> arriving(sums.size());
    for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
        for (const Rank from : ids<Rank>(sums.size())) {
            schedule.sends(from, round, [&](Rank to, Bytes) {
                schedule.blocks(from, to, round, [&](std::uint64_t block) {
                    arriving[to.value].push_back({from, block, sums[from.value][block]});
                });
            });
        }
        for (const Rank to : ids<Rank>(sums.size())) {
            std::vector<Contribution>& shares = arriving[to.value];
            if (schedule.transfer(round) == Transfer::combine) {
                if (!extend_sums(shares, to, sums[to.value])) return false;
            } else {
                for (const Contribution& share : shares) sums[to.value][share.block] = share.ranks;
            }
            shares.clear();
        }
    }
    return true;
}

}  // namespace

bool keeps_rank_order(const AnySchedule& schedule) {
    const Operation operation = schedule.collective().operation();
    // A scan never combines in the wrong order, and a barrier has no operator.
    if (!schedule.collective().reduces() || operation == Operation::barrier || operation == Operation::scan ||
        operation == Operation::exscan)
        return true;
    return combines_adjacent_ranges(schedule);
}

}  // namespace topoloom
