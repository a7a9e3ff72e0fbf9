// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/congestion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/metric/objective_loads.hpp"
#include "topoloom/place/congestion_descent.hpp"
#include "topoloom/place/cooling.hpp"

namespace topoloom {

namespace {

template <class Loads>
class CongestionAnnealing {
   public:
    CongestionAnnealing(Loads& loads, const Allocation& allocation, Rng rng)
        : loads_(loads), free_(free_slots_of(loads, allocation)), rng_(rng) {
        keep();
    }
    [[nodiscard]] const std::vector<Slot>& best() const { return best_; }

    void run(Meter& meter, std::uint32_t sweeps) {
        // Relative to what one of the busiest links counts; found on meshes and collectives on fragments of tori.
        const Cooling cooling{0.3 * soft_unit, 0.003 * soft_unit};
        constexpr double share_for_cooling = 0.9;  // of a budget
        const double share_at_start = meter.share();
        for (std::uint32_t sweep = 0; sweep < sweeps && !meter.exhausted(); ++sweep) {
            if (loads_.key().links_at_maximum == 0) return;
            loads_.set_soft_scale();
            const double share =
                (meter.share() - share_at_start) / (share_for_cooling * (1 - share_at_start));
            const double progress = std::max(share, static_cast<double>(sweep) / sweeps);
            if (progress >= 1) return;
            for (const Rank u : ids<Rank>(loads_.rank_count())) propose(u, cooling.at(progress));
            meter.spend(loads_.rank_count());
            if (loads_.key() < best_key_) keep();
        }
    }

   private:
    /// Any change of u's slot, kept if Metropolis' rule accepts it.
    void propose(Rank u, double temperature) {
        const auto ranks = static_cast<std::uint32_t>(loads_.rank_count());
        const std::uint32_t partner = rng_.below(ranks + static_cast<std::uint32_t>(free_.size()));
        if (partner == u.value) return;
        const Slot from = loads_.slot(u);
        const std::int64_t before = loads_.soft();
        if (partner < ranks) {
            loads_.exchange(u, Rank{partner});
        } else {
            loads_.move(u, free_[partner - ranks]);
        }
        const auto loss = static_cast<double>(loads_.soft() - before);
        if (loss > 0 && loss > -temperature * std::log(1 - rng_.uniform())) {
            loads_.undo();
        } else if (partner >= ranks) {
            free_[partner - ranks] = from;
        }
    }
    void keep() {
        best_key_ = loads_.key();
        best_ = loads_.slots();
    }

    Loads& loads_;
    std::vector<Slot> free_;
    Rng rng_;
    CongestionKey best_key_;
    std::vector<Slot> best_;
};

}  // namespace

Placement improve_congestion(const Problem& problem, Placement start, Meter& meter,
                             const CongestionOptions& options) {
    const Allocation& allocation = problem.allocation();
    const Goal goal = problem.goal_on_links();
    return with_loads(problem.machine(), goal, [&](const auto& make) {
        auto loads = make(start.slots());
        CongestionDescent(loads, allocation).run(meter);
        CongestionAnnealing annealing(loads, allocation, Rng(problem.seed()));
        annealing.run(meter, options.sweeps);
        auto best = make(annealing.best());
        CongestionDescent(best, allocation).run(meter);
        return Placement(allocation, best.slots());
    });
}

}  // namespace topoloom
