// SPDX-License-Identifier: BSD-3-Clause
// Incremental value of any objective: link loads of every phase, and predicted time.
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
#include "topoloom/metric/loads/total_and_busiest_times.hpp"
#include "topoloom/metric/objective.hpp"

namespace topoloom {

/// Tracks any objective. LinkLoads is faster, but supports only the busiest links of one phase. In the key,
/// `congestion` is the objective value, and `links_at_maximum` is summed over phases. Values are recomputed
/// from exact loads, so undo() restores them bit for bit. Uses as much memory and time per change as one
/// LinkLoads per phase.
class ObjectiveLoads final : public LoadTracker {
   public:
    /// Refers to machine and objective. Throws the same errors as LinkLoads.
    ObjectiveLoads(const Machine& machine, const PhasedObjective& objective,
                   std::span<const Slot> slot_of_rank);

    [[nodiscard]] Slot slot(Rank u) const override { return any().slot(u); }
    [[nodiscard]] std::vector<Slot> slots() const override { return any().slots(); }
    [[nodiscard]] std::size_t rank_count() const override { return any().rank_count(); }
    [[nodiscard]] std::int64_t hop_bytes() const;
    /// Objective values, indexed by ObjectiveKind. Values that depend on links are computed only if they have
    /// a weight.
    [[nodiscard]] std::array<double, 4> measures();
    [[nodiscard]] TotalAndBusiestTimes total_and_busiest_times();
    /// The share of time in rounds of which startups and latencies take more than half. Requires a weight of
    /// time.
    [[nodiscard]] double latency_bound_share();
    [[nodiscard]] const CongestionKey& key() override;
    /// A smooth surrogate of the objective.
    [[nodiscard]] std::int64_t soft_value() const override;
    /// Scales the soft terms such that the terms of a phase's busiest links or nodes have the weight of the
    /// phase.
    void set_soft_scale() override;

    void exchange(Rank u, Rank v) override;
    void move(Rank u, Slot to) override;
    void undo() override;

    /// Returns all ranks if the objective depends on more than the busiest links.
    [[nodiscard]] std::vector<Rank> ranks_on_busy_links(double share) override;
    [[nodiscard]] bool is_on_busiest_link(Rank u) override;

   private:
    bool apply_exchange_if_better(Rank u, Rank v) override;
    bool apply_move_if_better(Rank u, Slot to) override;
    bool apply_exchange_if_soft(Rank u, Rank v, const SoftLimit& limit) override;
    bool apply_move_if_soft(Rank u, Slot to, const SoftLimit& limit) override;

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
    /// Whether u sends or receives in a latency-bound round, and the sender needs at least this share of the
    /// slowest sender's time.
    [[nodiscard]] bool is_on_slow_message(Rank u, double share);
    [[nodiscard]] bool is_latency_bound(std::size_t round);
    /// Undoes the last change if the soft value exceeds the limit.
    [[nodiscard]] bool keep_if_within(const SoftLimit& limit, std::int64_t hop_bytes_before);
    [[nodiscard]] bool is_better_than(const CongestionKey& before);
    void begin_change(Rank u, Rank v) {
        last_ = {u, v, slot(u), v == Rank::none ? Slot{} : slot(v)};
        key_known_ = false;
    }

    const PhasedObjective& objective_;
    std::deque<LinkLoads> links_;                 // loads by phase; empty if only time has a weight
    std::vector<std::vector<CommGraph>> rounds_;  // split_into_rounds() of each phase
    /// Loads of links and nodes for each entry of rounds_; empty if time has no weight.
    std::deque<LinkLoads> busy_;
    std::vector<PhaseTime> times_;     // likewise
    std::vector<double> scale_;        // [phase]: scale of the soft terms
    std::vector<double> links_gain_;   // [phase]: factor of the phase in soft_value()
    std::vector<double> busy_gain_;    // of rounds, like the next one
    std::vector<double> sender_gain_;  // factor of the startups and latencies of senders
    double hop_bytes_gain_ = 0;
    CongestionKey key_;
    bool key_known_ = false;
    struct {
        Rank u, v;
        Slot slot_of_u, slot_of_v;
    } last_{};
};

/// Makes the load tracker for an objective. For `time` with one phase, tracks only link and node loads:
/// evaluating startup and latency, too, would slow the search down more than it would improve the result.
/// objective_key() computes the exact objective.
[[nodiscard]] std::unique_ptr<LoadTracker> make_load_tracker(const Machine& machine,
                                                             const PhasedObjective& objective,
                                                             std::span<const Slot> slot_of_rank);

/// Like make_load_tracker(), but tracks startups and latencies, too, if latency-bound rounds take at least a
/// tenth of the time on these slots. Searches on loads alone would then miss much of what can be gained.
[[nodiscard]] std::unique_ptr<LoadTracker> make_search_tracker(const Machine& machine,
                                                               const PhasedObjective& objective,
                                                               std::span<const Slot> slot_of_rank);

/// Computes the key of one placement. O(edges * hops).
[[nodiscard]] CongestionKey objective_key(const Machine& machine, const PhasedObjective& objective,
                                          std::span<const Slot> slot_of_rank);

/// Computes the values by ObjectiveKind. Values without weight are 0, except hop-bytes.
[[nodiscard]] std::array<double, 4> objective_values(const Machine& machine, const PhasedObjective& objective,
                                                     std::span<const Slot> slot_of_rank);

[[nodiscard]] TotalAndBusiestTimes total_and_busiest_times(const Machine& machine,
                                                           const PhasedObjective& objective,
                                                           std::span<const Slot> slot_of_rank);

}  // namespace topoloom
