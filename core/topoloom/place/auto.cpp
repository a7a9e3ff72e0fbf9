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

std::vector<std::string> alone_candidates(const Problem& problem, std::uint32_t effort) {
    const bool huge = problem.rank_count() > 300'000;
    if (effort == 0 || huge) return {"multisection,swap"};
    std::vector<std::string> chains{"multisection,swap", "multisection(starts=8;cycles=2),swap"};
    if (problem.rank_count() <= small) chains.insert(chains.end(), {"mahd,swap", "gge,swap"});
    if (effort == 2) chains.insert(chains.end(), 4, "multisection(starts=16;cycles=4),swap");
    return chains;
}

Placement place_alone(const Problem& problem, Meter& meter, std::uint32_t effort) {
    Best best(problem);
    best.offer(place_block(problem, meter));
    (void)problem.symmetric();  // made once, for all candidates
    try_all(problem, alone_candidates(problem, effort), best, meter);
    return best.placement();
}

Placement place_sharing(const Problem& problem, Meter& meter, std::uint32_t effort) {
    Best best(problem);
    const std::array<MultisectionOptions, 3> sections{{{4, 0}, {4, 1}, {8, 2}}};
    const std::array<RefineOptions, 3> refinements{{{0, 0, 8}, {2, 1, 20}, {24, 7, 20}}};
    Placement start = place_multisection(problem, meter, sections[effort]);
    best.offer(refine_shared(problem, std::move(start), meter, refinements[effort]));
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
