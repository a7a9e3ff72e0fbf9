// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/evaluator.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/metric/loads/placed_runs.hpp"
#include "topoloom/metric/loads/rank_messages.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom {

/// The state of one objective under changes of the placement. Computing a gain leaves it unchanged.
class Evaluator::State {
   public:
    virtual ~State() = default;
    [[nodiscard]] virtual double value() = 0;
    [[nodiscard]] virtual double gain_of_exchange(Rank a, Rank b, double before) = 0;
    [[nodiscard]] virtual double gain_of_move(Rank rank, Slot to, double before) = 0;
    virtual void exchange(Rank a, Rank b) = 0;
    virtual void move(Rank rank, Slot to) = 0;
};

class Evaluator::HopBytes final : public Evaluator::State {
   public:
    HopBytes(const CommGraph& graph, const Machine& machine, std::span<const Slot> slot_of_rank)
        : messages_(graph),
          runs_(make_message_link_runs(machine, messages_, slot_of_rank, Bytes{}, 0)),
          hop_bytes_(hop_bytes(graph, machine, slot_of_rank)) {}

    [[nodiscard]] double value() override { return static_cast<double>(hop_bytes_); }
    [[nodiscard]] double gain_of_exchange(Rank a, Rank b, double /*before*/) override {
        const std::int64_t gain = swap_and_compute_gain(a, b);
        runs_->swap(a, b);
        return static_cast<double>(gain);
    }
    [[nodiscard]] double gain_of_move(Rank rank, Slot to, double before) override {
        runs_->set_spare(to);
        return gain_of_exchange(rank, Rank::none, before);
    }
    void exchange(Rank a, Rank b) override { hop_bytes_ -= swap_and_compute_gain(a, b); }
    void move(Rank rank, Slot to) override {
        runs_->set_spare(to);
        exchange(rank, Rank::none);
    }

   private:
    std::int64_t swap_and_compute_gain(Rank a, Rank b) {
        const std::int64_t before = runs_->hop_bytes(a, b);
        runs_->swap(a, b);
        return before - runs_->hop_bytes(a, b);
    }

    RankMessages messages_;
    std::unique_ptr<MessageLinkRuns> runs_;
    std::int64_t hop_bytes_;
};

class Evaluator::OnLinks final : public Evaluator::State {
   public:
    OnLinks(const Machine& machine, const PhasedObjective& objective, std::span<const Slot> slot_of_rank)
        : is_soft_(objective.mix.of(ObjectiveKind::soft) > 0) {
        // The load trackers of make_load_tracker() ignore all terms of time except busy links and nodes.
        if (objective.mix.of(ObjectiveKind::time) > 0) {
            loads_ = std::make_unique<ObjectiveLoads>(machine, objective, slot_of_rank);
        } else {
            loads_ = make_load_tracker(machine, objective, slot_of_rank);
        }
    }

    [[nodiscard]] double value() override {
        // The soft value of a mix depends on its scale, so the scale is updated first.
        if (is_soft_) loads_->set_soft_scale();
        return loads_->key().congestion;
    }
    [[nodiscard]] double gain_of_exchange(Rank a, Rank b, double before) override {
        loads_->exchange(a, b);
        return undo_and_compute_gain(before);
    }
    [[nodiscard]] double gain_of_move(Rank rank, Slot to, double before) override {
        loads_->move(rank, to);
        return undo_and_compute_gain(before);
    }
    void exchange(Rank a, Rank b) override { loads_->exchange(a, b); }
    void move(Rank rank, Slot to) override { loads_->move(rank, to); }

   private:
    double undo_and_compute_gain(double before) {
        const double after = value();
        loads_->undo();
        return before - after;
    }

    bool is_soft_;
    std::unique_ptr<LoadTracker> loads_;
};

Evaluator::Evaluator(const CommGraph& graph, const Allocation& allocation, const Placement& placement,
                     PhasedObjective objective)
    : allocation_(allocation),
      use_(placement.use()),
      objective_(std::move(objective)),
      slot_of_rank_(placement.slots().begin(), placement.slots().end()),
      is_allocated_(allocation.machine().slot_count(), 0) {
    const Machine& machine = allocation.machine();
    placement.require_compatible_with(allocation);
    require_placed(graph, machine, placement.slots());
    require_exact_hop_bytes(graph, machine);
    require_times(machine, objective_.mix);
    if (objective_.mix.is(ObjectiveKind::hop_bytes)) {
        state_ = std::make_unique<HopBytes>(graph, machine, slot_of_rank_);
    } else {
        state_ = std::make_unique<OnLinks>(machine, objective_, slot_of_rank_);
    }
    value_ = state_->value();
    for (const Slot slot : allocation.slots()) is_allocated_[slot.value] = 1;
    if (use_ == SlotUse::shared) return;
    occupant_.assign(machine.slot_count(), Rank::none);
    for (const Rank rank : ids<Rank>(slot_of_rank_.size())) occupant_[slot(rank).value] = rank;
}

Evaluator::~Evaluator() = default;

std::size_t Evaluator::rank_count() const { return slot_of_rank_.size(); }

Placement Evaluator::placement() const { return {allocation_, slot_of_rank_, use_}; }

Slot Evaluator::slot(Rank rank) const { return slot_of_rank_[rank.value]; }

double Evaluator::gain_of_exchange(Rank a, Rank b) {
    require_rank(a);
    require_rank(b);
    return slot(a) == slot(b) ? 0 : state_->gain_of_exchange(a, b, value_);
}

double Evaluator::gain_of_move(Rank rank, Slot to) {
    require_move(rank, to);
    return slot(rank) == to ? 0 : state_->gain_of_move(rank, to, value_);
}

void Evaluator::exchange(Rank a, Rank b) {
    require_rank(a);
    require_rank(b);
    const Slot from = slot(a);
    const Slot to = slot(b);
    if (from != to) state_->exchange(a, b);
    set_slot(a, to);
    set_slot(b, from);
    value_ = state_->value();
    last_ = {a, b, from};
}

void Evaluator::move(Rank rank, Slot to) {
    require_move(rank, to);
    const Slot from = slot(rank);
    if (from != to) state_->move(rank, to);
    if (!occupant_.empty()) occupant_[from.value] = Rank::none;
    set_slot(rank, to);
    value_ = state_->value();
    last_ = {rank, Rank::none, from};
}

void Evaluator::undo() {
    if (!last_) fail("there is no change to undo; undo() reverts only the last change");
    const Change change = *last_;
    if (change.b == Rank::none) {
        move(change.a, change.from);
    } else {
        exchange(change.a, change.b);
    }
    last_.reset();
}

void Evaluator::require_rank(Rank rank) const {
    if (rank.value >= rank_count())
        fail("rank ", rank.value, " does not exist; there are ranks 0 to ", rank_count() - 1);
}

void Evaluator::require_move(Rank rank, Slot to) const {
    require_rank(rank);
    if (to.value >= is_allocated_.size() || is_allocated_[to.value] == 0)
        fail("slot ", to.value, " is not part of the allocation");
    if (occupant_.empty()) return;
    const Rank there = occupant_[to.value];
    if (there != Rank::none && there != rank)
        fail("rank ", there.value, " is on slot ", to.value, "; swap it with rank ", rank.value,
             ", or start from a placement that shares slots");
}

void Evaluator::set_slot(Rank rank, Slot to) {
    slot_of_rank_[rank.value] = to;
    if (!occupant_.empty()) occupant_[to.value] = rank;
}

}  // namespace topoloom
