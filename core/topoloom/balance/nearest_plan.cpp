// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/nearest_plan.hpp"

#include <numeric>
#include <vector>

#include "topoloom/balance/alias.hpp"
#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/near/near_order.hpp"
#include "topoloom/balance/target_loads.hpp"
#include "topoloom/base/id.hpp"

namespace topoloom {

namespace {

/// The open positions of an order; finds the nearest open position in one direction. Positions cannot be
/// reopened.
class OpenPositions {
   public:
    /// Each step leads from position i to next[i]; the last position is past the end.
    explicit OpenPositions(std::vector<std::uint32_t> next) : next_(std::move(next)) {}
    void close(std::uint32_t place, std::uint32_t step) { next_[place] = step; }
    /// Returns the position itself if it is open.
    std::uint32_t find(std::uint32_t place) {
        while (next_[place] != place) {
            next_[place] = next_[next_[place]];
            place = next_[place];
        }
        return place;
    }

   private:
    std::vector<std::uint32_t> next_;
};

}  // namespace

Plan nearest_plan(std::span<const std::int64_t> loads, std::span<const std::uint32_t> order) {
    const std::vector<std::int64_t> ends = target_loads(loads);
    const auto count = static_cast<std::uint32_t>(order.size());
    std::vector<std::int64_t> excess(order.size());
    for (std::uint32_t i = 0; i < count; ++i) excess[i] = loads[order[i]] - ends[order[i]];
    // Positions are numbered from 1, which leaves room for one position before the first and one after the
    // last.
    std::vector<std::uint32_t> places(order.size() + 2);
    std::iota(places.begin(), places.end(), 0U);
    OpenPositions before(places);
    OpenPositions after(places);
    const auto close = [&](std::uint32_t i) {
        before.close(i + 1, i);
        after.close(i + 1, i + 2);
    };
    std::vector<std::uint32_t> lacking;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (excess[i] <= 0) close(i);
        if (excess[i] < 0) lacking.push_back(i);
    }
    Plan moves;
    moves.reserve(order.size());
    for (std::size_t k = 0; k < lacking.size(); ++k) {
        const std::uint32_t receiver = lacking[k];
        const std::uint32_t low = before.find(receiver + 1);
        const std::uint32_t high = after.find(receiver + 1);
        const bool earlier = low > 0 && (high > count || receiver + 1 - low <= high - (receiver + 1));
        const std::uint32_t sender = (earlier ? low : high) - 1;
        moves.push_back({Rank{order[sender]}, Rank{order[receiver]}, -excess[receiver]});
        excess[sender] += excess[receiver];
        if (excess[sender] <= 0) close(sender);
        if (excess[sender] < 0) lacking.push_back(sender);
    }
    return make_plan(std::move(moves));
}

namespace {

enum class Partners { nearest, order };

struct CurveOptions {
    Partners partners = Partners::nearest;
    void visit(auto& field) {
        field(
            "partners", partners, Choices{"nearest", "order"},
            "nearest: each receiver gets tasks from the nearest sender along the curve, and loads end at the "
            "floor or ceiling of the mean; order: the alias method with ranks in curve order");
    }
};

Plan run_curve(const BalanceProblem& problem, const CurveOptions& options) {
    const std::vector<std::uint32_t> order = near_order(*problem.machine, problem.slots);
    return options.partners == Partners::order ? alias_plan(problem.loads, Remainder::phantoms, order)
                                               : nearest_plan(problem.loads, order);
}

}  // namespace

Balancer curve_balancer() {
    return balancer<run_curve>(
        {.name = "curve",
         .summary = "one sender for each receiver, near it along a Hilbert curve through the machine",
         .source = "partners=order: Sudheer 2012, sec. 5.5",
         .needs_machine = true});
}

}  // namespace topoloom
