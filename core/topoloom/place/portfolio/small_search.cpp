// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/small_search.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "topoloom/place/dense/enumerate_placements.hpp"
#include "topoloom/place/dense/exact.hpp"
#include "topoloom/place/dense/few_ranks.hpp"
#include "topoloom/place/portfolio/best_placement.hpp"

namespace topoloom::portfolio {

namespace {

enum class Method { none, branch_and_bound, shared_branch_and_bound, few_ranks, enumeration };

Method choose_method(const Problem& problem) {
    constexpr std::size_t max_slots = 16;
    constexpr std::size_t max_shared_ranks_and_slots = 40;
    const std::size_t slots = problem.allocation().slot_count();
    if (!problem.capacity().one_rank_per_slot()) {
        const bool is_small = problem.rank_count() + slots <= max_shared_ranks_and_slots;
        return is_small && !problem.uses_proxies() ? Method::shared_branch_and_bound : Method::none;
    }
    if (problem.is_for_hop_bytes() && slots <= max_slots) return Method::branch_and_bound;
    if (dense::has_few_ranks(problem)) return Method::few_ranks;
    return dense::is_enumerable(problem) ? Method::enumeration : Method::none;
}

/// Work of about 0.3 s; for the best effort on shared slots, up to 10 s.
std::uint64_t max_work(Method method, const EffortLimits& limits) {
    switch (method) {
        case Method::branch_and_bound:
            return 250'000;
        case Method::few_ranks:
            return 1'000'000;
        case Method::shared_branch_and_bound:
            return limits.exact_work;
        default:
            return 1'500'000;
    }
}

/// Finds a placement in milliseconds that is good enough to prune the search.
Placement find_start(const Problem& problem, Method method, Meter& meter) {
    BestPlacement best(problem);
    if (method == Method::shared_branch_and_bound) {
        best.offer(place(problem, "multisection", meter));
        return best.placement();
    }
    best.offer(place(problem, "block", meter));
    if (method == Method::branch_and_bound) {
        // Of placements with the optimum, keeps one that moves few ranks.
        best.offer(place(problem, "block+tabu(iterations=50)", meter));
        best.offer(place(problem, "multisection+swap+tabu(iterations=200)", meter));
        if (problem.migration() != nullptr) best.offer(place(problem, "previous+swap", meter));
    } else if (method == Method::few_ranks) {
        best.offer(place(problem, "block+swap", meter));
        best.offer(place(problem, "multisection+swap", meter));
    } else {
        best.offer(place(problem, "multisection+local-opt", meter));
        best.offer(place(problem, "block+local-opt", meter));
    }
    return best.placement();
}

SmallSearchResult solve(const Problem& problem, Method method, const Placement& start, Meter& meter) {
    if (method == Method::enumeration || method == Method::few_ranks) {
        auto [placement, is_optimal] = method == Method::few_ranks
                                           ? dense::search_few_ranks(problem, start, meter)
                                           : dense::enumerate_placements(problem, start, meter);
        return {std::move(placement), is_optimal};
    }
    auto [placement, lower_bound] = method == Method::branch_and_bound
                                        ? dense::improve_hop_bytes(problem, start, meter)
                                        : dense::improve_shared_placement(problem, start, meter);
    const std::int64_t value = problem.value(placement.slots());
    return {std::move(placement), value <= lower_bound};
}

}  // namespace

std::optional<SmallSearchResult> search_small_problem(const Problem& problem, Meter& meter,
                                                      const EffortLimits& limits) {
    const Method method = choose_method(problem);
    if (method == Method::none) return {};
    constexpr double share = 1.0 / 3;
    Budget part = meter.sub_budget(share);
    part.work = std::min(part.work, max_work(method, limits));
    Meter part_meter(part);
    const Problem one_thread = problem.with_seed(problem.seed());
    const Placement start = find_start(one_thread, method, part_meter);
    SmallSearchResult found = solve(one_thread, method, start, part_meter);
    meter.spend(part_meter.work_done());
    return found;
}

}  // namespace topoloom::portfolio
