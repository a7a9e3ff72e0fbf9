// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/auto.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "topoloom/place/mappers.hpp"

namespace topoloom {

namespace {

/// The best placement met so far.
class Best {
   public:
    explicit Best(const Problem& problem) : problem_(problem) {}

    void offer(Placement placement) {
        const std::int64_t value = problem_.value(placement.slots());
        if (placement_ && value >= value_) return;
        placement_ = std::move(placement);
        value_ = value;
    }
    [[nodiscard]] const Placement& placement() const { return *placement_; }
    [[nodiscard]] std::int64_t value() const { return value_; }

   private:
    const Problem& problem_;
    std::optional<Placement> placement_;
    std::int64_t value_ = 0;
};

/// Up to here candidates are tried side by side; larger ones use all cores by themselves.
constexpr std::size_t small = 20'000;

/// Runs mappers one after the other or side by side; all work counts.
void try_all(const Problem& problem, const std::vector<std::string>& chains, Best& best, Meter& meter) {
    if (problem.rank_count() > small) {
        for (const std::string& chain : chains) {
            if (!meter.exhausted()) best.offer(place(problem, chain, meter));
        }
        return;
    }
    struct Result {
        std::optional<Placement> placement;
        std::uint64_t work = 0;
    };
    std::vector<Result> results(chains.size());
    const Budget budget = meter.rest();
    parallel_for(chains.size(), problem.threads(), [&](std::size_t i, int) {
        // The work of all is within the budget if each stays within its share.
        const Budget share{.work = budget.work / chains.size(), .seconds = budget.seconds};
        PlaceResult result = place(problem.with_seed(problem.seed() + i), chains[i], share);
        results[i] = {std::move(result.placement), result.work};
    });
    for (Result& result : results) {
        meter.spend(result.work);
        best.offer(std::move(*result.placement));
    }
}

std::vector<std::string> candidates(std::size_t ranks, std::uint32_t effort) {
    // Larger neighborhoods cost minutes there, and annealing looks around better.
    if (ranks > small) return {"multisection,swap(reach=1)"};
    if (effort == 0) return {"multisection,swap"};
    const std::string good = "multisection(starts=8;cycles=2),swap";
    std::vector<std::string> chains{good, "mahd,swap", "gge,swap", "multisection,swap"};
    if (effort == 2) chains.insert(chains.end(), 4, "multisection(starts=16;cycles=4),swap");
    return chains;
}

/// How long to anneal: proposals for each chain, about 10 million of which are made in a second.
AnnealOptions annealing(const Problem& problem, const Meter& meter, std::uint32_t effort) {
    const auto ranks = static_cast<double>(problem.rank_count());
    const double fast = 300 * std::min(ranks, 5e3);
    const double standard = 6e6 * std::clamp(ranks / 1e3, 1.0, 4.0);
    const std::array proposals{fast, standard, 12 * standard};
    const auto sweeps = static_cast<std::uint32_t>(proposals[effort] / ranks);
    // A budget that the user gave is used up, whatever the effort.
    if (meter.limited()) return {.sweeps = 0, .heat = 300, .chains = 2};
    return {.sweeps = sweeps, .heat = sweeps < 1000 ? 100U : 300U, .chains = effort == 0 ? 1U : 2U};
}

/// With an earlier placement: from there, and from the best new one, as far as moving pays.
void weigh_moves(const Problem& problem, Best& best, Meter& meter) {
    if (problem.migration() == nullptr) return;
    Placement renewed = best.placement();
    best.offer(improve_by_resettling(problem, std::move(renewed), meter));
    best.offer(improve_by_resettling(problem, place_previous(problem, meter), meter));
}

Placement place_alone(const Problem& problem, Meter& meter, std::uint32_t effort) {
    Best best(problem);
    best.offer(place_block(problem, meter));
    const CommGraph& partners = problem.symmetric();  // made once, for all candidates
    if (auto structured = place_by_structure(problem, meter)) {
        best.offer(std::move(structured->placement));
        if (structured->optimal && problem.migration() == nullptr) return best.placement();
    }
    if (partners.edge_count() == 0) return best.placement();
    try_all(problem, candidates(problem.rank_count(), effort), best, meter);
    const AnnealOptions anneal = annealing(problem, meter, effort);
    if (!meter.exhausted() && (anneal.sweeps > 0 || meter.limited()))
        best.offer(improve_by_annealing(problem, best.placement(), meter, anneal));
    weigh_moves(problem, best, meter);
    return best.placement();
}

Placement place_sharing(const Problem& problem, Meter& meter, std::uint32_t effort) {
    Best best(problem);
    const std::array<MultisectionOptions, 3> sections{{{.starts = 1, .family = 2, .cuts = 0},
                                                       {.starts = 2, .family = 8},
                                                       {.starts = 2, .family = 12, .islands = 5}}};
    best.offer(place_multisection(problem, meter, sections[effort]));
    if (problem.migration() != nullptr)
        best.offer(refine_shared(problem, place_previous(problem, meter), meter, {.cycles = 0}));
    if (effort == 2) best.offer(refine_shared(problem, best.placement(), meter, {.cycles = 2}));
    // Ranks of different loads may not fit in their order.
    if (std::ranges::adjacent_find(problem.room().masses(), std::not_equal_to<>{}) ==
        problem.room().masses().end()) {
        best.offer(place_block(problem, meter));
    }
    return best.placement();
}

}  // namespace

Placement place_auto(const Problem& problem, Meter& meter, const AutoOptions& options) {
    return problem.room().one_rank_per_slot() ? place_alone(problem, meter, options.effort)
                                              : place_sharing(problem, meter, options.effort);
}

}  // namespace topoloom
