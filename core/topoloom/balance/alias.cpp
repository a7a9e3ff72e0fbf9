// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/alias.hpp"

#include <algorithm>
#include <vector>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/ends.hpp"

namespace topoloom {

namespace {

/// What a rank has too much, or lacks.
struct Excess {
    std::uint32_t rank;
    std::int64_t tasks;
};

/// The core. `phantoms`: the lowest ranks, this many, hold a task that is not there; once a rank hands over anything, that is
/// the first to go. As printed, a rank that is down to its share still serves the next one.
Plan serve(BigVector<Excess> surplus, const BigVector<Excess>& deficits, std::size_t phantoms,
           bool gives_at_share) {
    Plan plan;
    plan.reserve(surplus.size() + deficits.size());
    std::size_t served = 0;  // of the deficits, and after them of the ranks that gave too much
    for (std::size_t giver = 0; giver < surplus.size(); ++giver) {
        std::int64_t phantom = surplus[giver].rank < phantoms ? 1 : 0;
        std::int64_t left = surplus[giver].tasks;
        const std::size_t begin = served;
        const auto first = static_cast<std::ptrdiff_t>(plan.size());
        const std::int64_t least = gives_at_share ? 0 : 1;
        while (left >= least && served < deficits.size() + giver) {
            const bool first_time = served < deficits.size();
            const Excess receiver = first_time ? deficits[served] : surplus[served - deficits.size()];
            const std::int64_t tasks = first_time ? receiver.tasks : -receiver.tasks;
            ++served;
            if (tasks == 0) continue;
            left -= tasks;
            if (tasks > phantom)
                plan.push_back({Rank{surplus[giver].rank}, Rank{receiver.rank}, tasks - phantom});
            phantom = 0;
        }
        surplus[giver].tasks = left;
        if (begin < deficits.size() && served > deficits.size())
            std::ranges::sort(plan.begin() + first, plan.end(), {}, &TaskMove::to);
    }
    return plan;
}

struct AliasOptions {
    Remainder remainder = Remainder::phantoms;
    void visit(auto& field) {
        field("remainder", remainder, Choices{"phantoms", "exact"},
              "loads whose sum the number of ranks does not divide end within k-2..k, k the ceiling of their "
              "mean; or exactly at k-1 or k, and ranks that are down to their share give no more");
    }
};

Plan by_alias(const BalanceProblem& problem, const AliasOptions& options) {
    return alias_plan(problem.loads, options.remainder);
}

}  // namespace

Plan alias_plan(std::span<const std::int64_t> loads, Remainder remainder) {
    const EvenLoad even = even_load(loads);
    const bool exact = remainder == Remainder::exact && even.with_one_more > 0;
    const std::vector<std::int64_t> ends = exact ? calm_ends(loads) : std::vector<std::int64_t>{};
    const std::size_t phantoms = exact || even.with_one_more == 0 ? 0 : loads.size() - even.with_one_more;
    BigVector<Excess> surplus;
    BigVector<Excess> deficits;
    for (std::uint32_t i = 0; i < loads.size(); ++i) {
        const std::int64_t excess = loads[i] + (i < phantoms ? 1 : 0) - (exact ? ends[i] : even.ceiling);
        if (excess > 0) surplus.push_back({i, excess});
        if (excess < 0) deficits.push_back({i, -excess});
    }
    return serve(std::move(surplus), deficits, phantoms, remainder == Remainder::phantoms);
}

Balancer alias_balancer() {
    return balancer<by_alias>({.name = "alias",
                               .summary = "every rank that lacks tasks is given all of them by one other",
                               .source = "Sudheer 2012, ch. 5"});
}

}  // namespace topoloom
