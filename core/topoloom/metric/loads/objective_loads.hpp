// SPDX-License-Identifier: BSD-3-Clause
// Any objective under a placement that changes: the link loads of every phase, and what else it takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "topoloom/metric/loads/link_loads.hpp"
#include "topoloom/metric/loads/phase_time.hpp"
#include "topoloom/metric/loads/time_parts.hpp"
#include "topoloom/metric/objective.hpp"

namespace topoloom {

/// Slower than LinkLoads, which do where one phase's busiest links are all that counts. The `congestion` of its key is
/// the value of the objective, `links_at_maximum` the sum over the phases. Values are computed from exact loads each
/// time, so they are what they were after undo(), bit for bit. Memory and changes cost what LinkLoads costs, for each
/// phase.
class ObjectiveLoads final : public Loads {
   public:
    /// Refers to all but the last. Throws Error as LinkLoads does.
    ObjectiveLoads(const Machine& machine, const MeasuredObjective& objective,
                   std::span<const Slot> slot_of_rank);

    [[nodiscard]] Slot slot(Rank u) const override { return any().slot(u); }
    [[nodiscard]] std::vector<Slot> slots() const override { return any().slots(); }
    [[nodiscard]] std::size_t rank_count() const override { return any().rank_count(); }
    [[nodiscard]] std::int64_t hop_bytes() const;
    /// By ObjectiveKind; of those on links only what the objective has a weight for.
    [[nodiscard]] std::array<double, 4> measures();
    [[nodiscard]] TimeParts time_parts();
    [[nodiscard]] const CongestionKey& key() override;
    /// Falls as the objective would if it had a slope everywhere.
    [[nodiscard]] std::int64_t soft() const override;
    /// Such that a phase's busiest links, or nodes, count as much as the phase does.
    void set_soft_scale() override;

    void exchange(Rank u, Rank v) override;
    void move(Rank u, Slot to) override;
    bool exchange_if_better(Rank u, Rank v) override;
    bool move_if_better(Rank u, Slot to) override;
    bool exchange_if_soft_at_most(Rank u, Rank v, std::int64_t most) override;
    bool move_if_soft_at_most(Rank u, Slot to, std::int64_t most) override;
    void undo() override;

    /// Everybody, where the objective is not only about what is busiest.
    [[nodiscard]] std::vector<Rank> ranks_on_busy_links(double share) override;
    [[nodiscard]] bool is_on_busiest_link(Rank u) override;

   private:
    [[nodiscard]] double weight(ObjectiveKind kind) const {
        return objective_.mix.of(kind) / objective_.unit[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] bool has_weight(ObjectiveKind kind) const { return objective_.mix.of(kind) > 0; }
    [[nodiscard]] bool depends_on_all_ranks() const {
        return has_weight(ObjectiveKind::hop_bytes) || has_weight(ObjectiveKind::soft);
    }
    [[nodiscard]] const LinkLoads& any() const { return links_.empty() ? busy_.front() : links_.front(); }
    template <class Use>
    void for_each_loads(const Use& use) {
        for (LinkLoads& loads : links_) use(loads);
        for (LinkLoads& loads : busy_) use(loads);
    }
    void add_rounds(const Machine& machine, const CommGraph& phase, std::span<const Slot> slot_of_rank);
    [[nodiscard]] bool is_better_than(const CongestionKey& before);
    void begin_change(Rank u, Rank v) {
        last_ = {u, v, slot(u), v == Rank::none ? Slot{} : slot(v)};
        key_known_ = false;
    }

    const MeasuredObjective& objective_;
    std::deque<LinkLoads> links_;                 // by phase; empty where only time counts
    std::vector<std::vector<CommGraph>> rounds_;  // of phases, where their pairs need different ones
    std::deque<LinkLoads> busy_;                  // of links and nodes, by rounds; none where no time counts
    std::vector<PhaseTime> times_;                // likewise
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

/// What searches go by under the objective. Under `time` in one phase these are loads of links and nodes: what else it takes,
/// startups and latencies, costs a search more than it gains. See objective_key() for what the objective is.
[[nodiscard]] std::unique_ptr<Loads> make_loads(const Machine& machine, const MeasuredObjective& objective,
                                                std::span<const Slot> slot_of_rank);

/// Of one placement. O(edges * hops).
[[nodiscard]] CongestionKey objective_key(const Machine& machine, const MeasuredObjective& objective,
                                          std::span<const Slot> slot_of_rank);

/// By ObjectiveKind; 0 for what has no weight, but for hop-bytes.
[[nodiscard]] std::array<double, 4> objective_measures(const Machine& machine,
                                                       const MeasuredObjective& objective,
                                                       std::span<const Slot> slot_of_rank);

[[nodiscard]] TimeParts time_parts(const Machine& machine, const MeasuredObjective& objective,
                                   std::span<const Slot> slot_of_rank);

}  // namespace topoloom
