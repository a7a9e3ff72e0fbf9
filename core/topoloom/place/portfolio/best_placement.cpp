// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/best_placement.hpp"

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/parallel_search.hpp"

namespace topoloom::portfolio {

void try_all(const Problem& problem, const std::vector<std::string>& chains, BestPlacement& best,
             Meter& meter) {
    if (problem.rank_count() > max_ranks_in_parallel) {
        for (const std::string& chain : chains) {
            if (!meter.is_exhausted()) best.offer(place(problem, chain, meter));
        }
        return;
    }
    std::vector<std::optional<Placement>> found(chains.size());
    search_in_parallel(chains.size(), problem.threads(), meter, [&](std::size_t i, Meter& own) {
        found[i] = place(problem.with_seed(problem.seed() + i), chains[i], own);
    });
    for (std::optional<Placement>& placement : found) best.offer(std::move(*placement));
}

}  // namespace topoloom::portfolio
