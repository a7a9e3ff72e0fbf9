// SPDX-License-Identifier: BSD-3-Clause
// Any objective under a placement that changes: the link loads of every phase, and what else it takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/metric/link_loads.hpp"
#include "topoloom/metric/objective.hpp"
#include "topoloom/metric/phase_time.hpp"

namespace topoloom {

/// To searches the same as LinkLoads, which is faster where congestion in one phase is all that counts. The `congestion`
/// of its key is the value of the objective, `links_at_maximum` the sum over the phases. Values are computed from exact
/// loads each time, so they are what they were after undo(), bit for bit. Memory and changes cost what LinkLoads costs,
/// for each phase.
template <class T>
class ObjectiveLoads {
   public:
    static constexpr Rank nobody = LinkLoads<T>::nobody;

    /// Refers to all but the last. Throws Error as LinkLoads does.
    ObjectiveLoads(const T& network, const Machine& machine, const Goal& goal,
                   std::span<const Slot> slot_of_rank);
    ObjectiveLoads(const ObjectiveLoads&) = delete;
    ObjectiveLoads& operator=(const ObjectiveLoads&) = delete;

    [[nodiscard]] Slot slot(Rank u) const { return phases_.front().slot(u); }
    [[nodiscard]] std::vector<Slot> slots() const { return phases_.front().slots(); }
    [[nodiscard]] std::size_t rank_count() const { return phases_.front().rank_count(); }
    [[nodiscard]] std::int64_t hop_bytes() const;
    /// Whatever the weights; soft and time only if the objective has a weight for them. By Aim.
    [[nodiscard]] std::array<double, 4> measures();
    [[nodiscard]] const CongestionKey& key();
    /// Falls as the objective would if it had a slope everywhere. 0 until a scale is set.
    [[nodiscard]] std::int64_t soft() const;
    /// Such that a phase's busiest links, or ports, count as much as the phase does.
    void set_soft_scale();

    void exchange(Rank u, Rank v);
    void move(Rank u, Slot to);
    bool exchange_if_better(Rank u, Rank v);
    bool move_if_better(Rank u, Slot to);
    bool exchange_if_soft(Rank u, Rank v, std::int64_t most);
    bool move_if_soft(Rank u, Slot to, std::int64_t most);
    void undo();

    /// Everybody, where the objective is not only about what is busiest.
    [[nodiscard]] std::vector<Rank> ends_of_busy(double share);
    [[nodiscard]] bool is_at_maximum(Rank u);

   private:
    [[nodiscard]] double weight(Aim aim) const {
        return goal_.objective.of(aim) / goal_.unit[static_cast<std::size_t>(aim)];
    }
    [[nodiscard]] bool counts(Aim aim) const { return goal_.objective.of(aim) > 0; }
    [[nodiscard]] bool concerns_all() const { return counts(Aim::hop_bytes) || counts(Aim::soft); }
    /// Whether the port of u's node is at least that share as busy as what is busiest in the phase.
    [[nodiscard]] bool is_at_port(std::size_t phase, Rank u, double share);
    [[nodiscard]] bool is_better_than(const CongestionKey& before);
    void begin_change(Rank u, Rank v) {
        last_ = {u, v, slot(u), v == nobody ? Slot{} : slot(v)};
        key_known_ = false;
    }

    const Goal& goal_;
    std::vector<LinkLoads<T>> phases_;
    std::vector<PhaseTime<T>> times_;  // likewise; empty where time does not count
    std::vector<double> scale_;        // of a phase, for soft()
    std::vector<double> gain_;         // of a phase in soft()
    double hop_bytes_gain_ = 0;
    CongestionKey key_;
    bool key_known_ = false;
    struct {
        Rank u, v;
        Slot slot_of_u, slot_of_v;
    } last_{};
};

/// Calls use(make), where make(slot_of_rank) returns the LinkLoads or ObjectiveLoads of a placement under the goal.
template <class Use>
decltype(auto) with_loads(const Machine& machine, const Goal& goal, const Use& use) {
    return with_topology(machine, [&]<class T>(const T& network) -> decltype(auto) {
        if (goal.objective.is(Aim::congestion) && goal.phases.size() == 1) {
            return use([&](std::span<const Slot> slot_of_rank) {
                return LinkLoads<T>(network, machine, *goal.phases.front(), slot_of_rank, goal.background);
            });
        }
        return use([&](std::span<const Slot> slot_of_rank) {
            return ObjectiveLoads<T>(network, machine, goal, slot_of_rank);
        });
    });
}

/// Of one placement. O(edges * hops).
[[nodiscard]] CongestionKey objective_key(const Machine& machine, const Goal& goal,
                                          std::span<const Slot> slot_of_rank);

/// By Aim; 0 for what has no weight, but for the first two.
[[nodiscard]] std::array<double, 4> objective_measures(const Machine& machine, const Goal& goal,
                                                       std::span<const Slot> slot_of_rank);

extern template class ObjectiveLoads<Torus>;
extern template class ObjectiveLoads<WideTorus>;
extern template class ObjectiveLoads<Tree>;
extern template class ObjectiveLoads<FatTree>;
extern template class ObjectiveLoads<HyperX>;
extern template class ObjectiveLoads<Hypercube>;
extern template class ObjectiveLoads<RingBus>;
extern template class ObjectiveLoads<TwistedTorus>;
extern template class ObjectiveLoads<RailCluster>;
extern template class ObjectiveLoads<Dragonfly>;
extern template class ObjectiveLoads<ExplicitGraph>;
extern template class ObjectiveLoads<Degraded>;

}  // namespace topoloom
