// SPDX-License-Identifier: BSD-3-Clause
// Any objective under a placement that changes: the link loads of every phase, and what else it takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/link_loads.hpp"
#include "topoloom/metric/objective.hpp"
#include "topoloom/metric/phase_time.hpp"
#include "topoloom/metric/time_parts.hpp"

namespace topoloom {

/// To searches the same as LinkLoads, which is faster where one phase's busiest links are all that counts. The `congestion`
/// of its key is the value of the objective, `links_at_maximum` the sum over the phases. Values are computed from exact
/// loads each time, so they are what they were after undo(), bit for bit. Memory and changes cost what LinkLoads costs,
/// for each phase.
template <class T>
class ObjectiveLoads {
   public:
    /// Refers to all but the last. Throws Error as LinkLoads does.
    ObjectiveLoads(const T& network, const Machine& machine, const MeasuredObjective& objective,
                   std::span<const Slot> slot_of_rank);
    ObjectiveLoads(const ObjectiveLoads&) = delete;
    ObjectiveLoads& operator=(const ObjectiveLoads&) = delete;

    [[nodiscard]] Slot slot(Rank u) const { return any().slot(u); }
    [[nodiscard]] std::vector<Slot> slots() const { return any().slots(); }
    [[nodiscard]] std::size_t rank_count() const { return any().rank_count(); }
    [[nodiscard]] std::int64_t hop_bytes() const;
    /// By ObjectiveKind; of those on links only what the objective has a weight for.
    [[nodiscard]] std::array<double, 4> measures();
    [[nodiscard]] TimeParts time_parts();
    [[nodiscard]] const CongestionKey& key();
    /// Falls as the objective would if it had a slope everywhere. 0 until a scale is set.
    [[nodiscard]] std::int64_t soft() const;
    /// Such that a phase's busiest links, or nodes, count as much as the phase does.
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
    [[nodiscard]] double weight(ObjectiveKind kind) const {
        return objective_.mix.of(kind) / objective_.unit[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] bool counts(ObjectiveKind kind) const { return objective_.mix.of(kind) > 0; }
    [[nodiscard]] bool concerns_all() const {
        return counts(ObjectiveKind::hop_bytes) || counts(ObjectiveKind::soft);
    }
    [[nodiscard]] const LinkLoads<T>& any() const { return links_.empty() ? busy_.front() : links_.front(); }
    template <class Use>
    void each_loads(const Use& use) {
        for (LinkLoads<T>& loads : links_) use(loads);
        for (LinkLoads<T>& loads : busy_) use(loads);
    }
    void add_rounds(const T& network, const Machine& machine, const CommGraph& phase,
                    std::span<const Slot> slot_of_rank);
    [[nodiscard]] bool is_better_than(const CongestionKey& before);
    void begin_change(Rank u, Rank v) {
        last_ = {u, v, slot(u), v == Rank::none ? Slot{} : slot(v)};
        key_known_ = false;
    }

    const MeasuredObjective& objective_;
    std::vector<LinkLoads<T>> links_;             // by phase; empty where only time counts
    std::vector<std::vector<CommGraph>> rounds_;  // of phases, where their pairs need different ones
    std::vector<LinkLoads<T>> busy_;              // of links and nodes, by rounds; none where no time counts
    std::vector<PhaseTime<T>> times_;             // likewise
    std::vector<double> scale_;                   // of a phase, for soft()
    std::vector<double> links_gain_;              // of a phase in soft()
    std::vector<double> busy_gain_;               // of rounds
    double hop_bytes_gain_ = 0;
    CongestionKey key_;
    bool key_known_ = false;
    struct {
        Rank u, v;
        Slot slot_of_u, slot_of_v;
    } last_{};
};

/// Calls use(make), where make(slot_of_rank) returns what searches go by under the objective: the LinkLoads or
/// ObjectiveLoads of a placement. Under `time` in one phase these are loads of links and nodes: what else it takes,
/// startups and latencies, costs a search more than it gains. See objective_key() for what the objective is.
template <class Use>
decltype(auto) with_loads(const Machine& machine, const MeasuredObjective& objective, const Use& use) {
    return with_common_topology(machine, [&]<class T>(const T& network) -> decltype(auto) {
        if (objective.mix.is(ObjectiveKind::congestion) && objective.phases.size() == 1) {
            return use([&](std::span<const Slot> slot_of_rank) {
                return LinkLoads<T>(network, machine, *objective.phases.front(), slot_of_rank,
                                    objective.background);
            });
        }
        if (objective.mix.is(ObjectiveKind::time) && objective.phases.size() == 1) {
            return use([&](std::span<const Slot> slot_of_rank) {
                return LinkLoads<T>(network, machine, *objective.phases.front(), slot_of_rank,
                                    objective.background, Busy::links_and_nodes);
            });
        }
        return use([&](std::span<const Slot> slot_of_rank) {
            return ObjectiveLoads<T>(network, machine, objective, slot_of_rank);
        });
    });
}

/// Of one placement. O(edges * hops).
[[nodiscard]] CongestionKey objective_key(const Machine& machine, const MeasuredObjective& objective,
                                          std::span<const Slot> slot_of_rank);

/// By ObjectiveKind; 0 for what has no weight, but for hop-bytes.
[[nodiscard]] std::array<double, 4> objective_measures(const Machine& machine,
                                                       const MeasuredObjective& objective,
                                                       std::span<const Slot> slot_of_rank);

[[nodiscard]] TimeParts time_parts(const Machine& machine, const MeasuredObjective& objective,
                                   std::span<const Slot> slot_of_rank);

#define TOPOLOOM_DECLARE(TYPE) extern template class ObjectiveLoads<TYPE>;
TOPOLOOM_LINK_NETWORKS(TOPOLOOM_DECLARE)
#undef TOPOLOOM_DECLARE

}  // namespace topoloom
