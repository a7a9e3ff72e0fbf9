// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/greedy/sparse_grasp.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "topoloom/place/greedy/growth.hpp"
#include "topoloom/place/local/swap.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/preparation.hpp"

namespace topoloom::greedy {

namespace {

std::size_t choose_restart_count(std::size_t edges) {
    constexpr std::size_t wanted_edges = 100'000;
    return std::clamp<std::size_t>(wanted_edges / std::max<std::size_t>(1, edges), 2, 16);
}

}  // namespace

Placement grasp_along_edges(const Problem& problem, std::span<const Placement> warm, Meter& meter,
                            const SparseGraspOptions& options) {
    if (!charge_preparation(meter, problem)) return warm.empty() ? fall_back_to_block(problem) : warm.front();
    const GrowthContext context(problem);
    const GrowthRule rule;
    const std::size_t restarts =
        options.restarts == 0 ? choose_restart_count(context.graph.edge_count()) : options.restarts;
    const auto start = [&](std::size_t i, Meter& own) -> Placement {
        if (i < warm.size()) return warm[i];
        Rng rng(problem.seed(), i);
        const Rank first{rng.below(static_cast<std::uint32_t>(problem.rank_count()))};
        const CandidateRandomization chance{.rng = rng, .ranks = options.alpha, .centers = options.beta};
        GreedyGrowth growth(context, rule, &chance);
        return {problem.allocation(), growth.run(first, [&](std::uint64_t work) { return own.spend(work); })};
    };
    std::vector<std::optional<Placement>> found(warm.size() + restarts);
    search_in_parallel(found.size(), problem.threads(), meter, [&](std::size_t i, Meter& own) {
        found[i] = local::improve_by_swaps(problem, start(i, own), own, {});
    });
    std::vector<std::int64_t> values;
    for (const std::optional<Placement>& placement : found)
        values.push_back(problem.value(placement->slots()));
    return *std::move(found[static_cast<std::size_t>(std::ranges::min_element(values) - values.begin())]);
}

}  // namespace topoloom::greedy
