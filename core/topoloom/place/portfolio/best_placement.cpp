// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/best_placement.hpp"

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/parallel_search.hpp"

namespace topoloom::portfolio {

void try_all(const Problem& problem, const std::vector<std::string>& chains, BestPlacement& best,
             Meter& meter, std::uint64_t first_seed) {
    const auto seeded = [&](std::size_t i, int threads) {
        return problem.with_seed(problem.seed() + first_seed + i, threads);
    };
    if (problem.rank_count() > max_ranks_in_parallel) {
        for (std::size_t i = 0; i < chains.size() && !meter.is_exhausted(); ++i)
            best.offer(place(seeded(i, problem.threads()), chains[i], meter));
        return;
    }
    std::vector<std::optional<Placement>> found(chains.size());
    search_in_parallel(chains.size(), problem.threads(), meter,
                       [&](std::size_t i, Meter& own) { found[i] = place(seeded(i, 1), chains[i], own); });
    for (std::optional<Placement>& placement : found) best.offer(std::move(*placement));
}

}  // namespace topoloom::portfolio
