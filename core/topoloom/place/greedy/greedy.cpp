// SPDX-License-Identifier: BSD-3-Clause
// Greedy constructors: GGE, MAHD, EMAHD and MHT.
#include <algorithm>

#include "topoloom/base/error.hpp"
#include "topoloom/place/greedy/centroid.hpp"
#include "topoloom/place/greedy/growth.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/preparation.hpp"

namespace topoloom::greedy {

namespace {

struct GrowthOptions {
    RankKey key = RankKey::bytes;
    void visit(auto& field) {
        field("key", key, rank_key_names,
              "the next rank has most partners (algorithm 1 to the letter), most placed partners, or most "
              "bytes to placed partners");
    }
};

struct WeightedOptions : GrowthOptions {
    std::uint32_t weighted = 1;
    void visit(auto& field) {
        GrowthOptions::visit(field);
        field("weighted", weighted, Range{0, 1},
              "1: each partner counts by the bytes exchanged with it; 0: all alike (algorithm 1 to the "
              "letter)");
    }
    [[nodiscard]] GrowthRule rule() const { return {.key = key, .weighted = weighted != 0}; }
};

struct EmahdOptions : WeightedOptions {
    std::uint32_t starts = 0;
    void visit(auto& field) {
        WeightedOptions::visit(field);
        field("starts", starts, Range{0, 1e9}, "first ranks to try, spread evenly; 0: every rank");
    }
};

Placement grow_placement(const Problem& problem, Meter& meter, const GrowthRule& rule,
                         const CandidateRandomization* chance = nullptr) {
    if (!charge_preparation(meter, problem)) return fall_back_to_block(problem);
    const GrowthContext context(problem);
    GreedyGrowth growth(context, rule, chance);
    return {problem.allocation(),
            growth.run(context.by_degree.front(), [&](std::uint64_t work) { return meter.spend(work); })};
}

/// The i-th of `count` start ranks, evenly spaced in the order of degrees.
Rank start_rank(const std::vector<Rank>& by_degree, std::size_t i, std::size_t count) {
    return by_degree[i * by_degree.size() / count];
}

/// GGE, to which the source of MAHD (see place_mahd()) compares it: like MAHD, but considers only the most
/// recently placed partner.
Placement place_gge(const Problem& problem, Meter& meter, const GrowthOptions& options) {
    return grow_placement(problem, meter, {.key = options.key, .latest_only = true});
}

/// MAHD (Sudheer 2012, ch. 6, algorithm 1): starts with the rank of highest degree on the most central
/// node. Then it repeatedly selects a neighbor of the placed ranks and puts it on the free slot with the
/// smallest average distance to its placed partners.
///
/// The source leaves the choice of the neighbor open. Read literally, it is the neighbor of highest degree
/// (key=degree,weighted=0), which gives three times the hop-bytes of GRASP; table 6.1 of the source has a
/// ratio of 1.25. Selecting and weighting by bytes reproduces that ratio.
///
/// Ties go to the lowest index. Every component of the graph restarts at the most central free slot. About
/// O(edges * log ranks + ranks * log slots) on a torus.
Placement place_mahd(const Problem& problem, Meter& meter, const WeightedOptions& options) {
    return grow_placement(problem, meter, options.rule());
}

/// EMAHD: runs MAHD from every start rank, or from evenly spaced ones, on all cores. Returns the best
/// placement by the objective.
Placement place_emahd(const Problem& problem, Meter& meter, const EmahdOptions& options) {
    struct GrownPlacement {
        std::vector<Slot> slots;
        CongestionKey key;
    };
    if (!charge_preparation(meter, problem)) return fall_back_to_block(problem);
    const GrowthContext context(problem);
    // Growth from fixed ranks does not depend on the first rank.
    const std::size_t most = context.fixed.empty() ? problem.rank_count() : 1;
    const std::size_t starts = options.starts == 0 ? most : std::min<std::size_t>(options.starts, most);
    const GrowthRule rule = options.rule();
    const Problem one_thread = problem.with_seed(problem.seed());
    GrownPlacement best;
    // The number of starts in a round does not depend on threads. The first start runs alone, to see how many
    // more the budget allows at a time.
    constexpr double max_round = 32;
    std::size_t next = 0;
    for (std::size_t round_size = 1; next < starts && (next == 0 || meter.poll());) {
        std::vector<GrownPlacement> round(std::min(round_size, starts - next));
        const double used_before = meter.used_share();
        search_in_parallel(round.size(), problem.threads(), meter, [&](std::size_t i, Meter& own) {
            if (own.is_exhausted()) return;
            GreedyGrowth growth(context, rule);
            round[i].slots = growth.run(start_rank(context.by_degree, next + i, starts),
                                        [&](std::uint64_t work) { return own.spend(work); });
            round[i].key = one_thread.key(round[i].slots);
        });
        for (GrownPlacement& run : round) {
            if (!run.slots.empty() && (best.slots.empty() || run.key < best.key)) best = std::move(run);
        }
        next += round.size();
        const double used = meter.used_share();
        const double used_per_start = (used - used_before) / static_cast<double>(round.size());
        round_size = static_cast<std::size_t>(
            used_per_start > 0 ? std::clamp((1 - used) / used_per_start, 1.0, max_round) : max_round);
    }
    return {problem.allocation(), std::move(best.slots)};
}

/// MHT, to which the source of MAHD compares it on meshes. Like MAHD, but puts a rank on the free slot
/// closest to the centroid of its placed partners. The first rank of each component of the graph goes to a
/// random free slot. On a ring, the centroid minimizes the sum of squared distances. Throws Error if nodes
/// have no coordinates. O(ranks * slots).
Placement place_mht(const Problem& problem, Meter& meter, const WeightedOptions& options) {
    const Allocation& allocation = problem.allocation();
    if (!problem.machine().has_grid()) {
        fail("mapper 'mht' needs coordinates, which nodes of ", problem.machine().text(),
             " do not have; use mahd");
    }
    if (!charge_step(meter, allocation.slot_count())) return fall_back_to_block(problem);
    const Centroid centroid(allocation);
    GrowthRule rule = options.rule();
    rule.nearest = [&](const FreeSlots& free, const FreeSlots::WeightedPartners& partners) {
        return centroid.find_nearest(free, partners);
    };
    const CandidateRandomization chance{.rng = Rng(problem.seed())};
    return grow_placement(problem, meter, rule, &chance);
}

}  // namespace

MapperEntry gge_mapper() {
    return mapper_entry<place_gge>(
        {.name = "gge",
         .summary = "greedy graph embedding: beside the most recently placed partner",
         .source = "Sudheer 2012, sec. 6.2",
         .needs = "graph, distances",
         .occupancy = Occupancy::alone});
}

MapperEntry mahd_mapper() {
    return mapper_entry<place_mahd>({.name = "mahd",
                                     .summary = "minimum average hop distance to all placed partners",
                                     .source = "Sudheer 2012, ch. 6, alg. 1",
                                     .needs = "graph, distances",
                                     .occupancy = Occupancy::alone});
}

MapperEntry emahd_mapper() {
    return mapper_entry<place_emahd>({.name = "emahd",
                                      .summary = "mahd from every possible first rank, the best of them",
                                      .source = "Sudheer 2012, sec. 6.2",
                                      .needs = "graph, distances, time",
                                      .occupancy = Occupancy::alone,
                                      .minimizes = SearchObjective::objective});
}

MapperEntry mht_mapper() {
    return mapper_entry<place_mht>(
        {.name = "mht",
         .summary = "closest to the centroid of the placed partners, from a random slot",
         .source = "Sudheer 2012, sec. 6.2",
         .needs = "graph, coordinates of nodes",
         .occupancy = Occupancy::alone});
}

}  // namespace topoloom::greedy
