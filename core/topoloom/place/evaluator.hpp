// SPDX-License-Identifier: BSD-3-Clause
// A mutable placement: its value under any objective, and the gains of changes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/metric/objective.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// For searches outside of this library. Values equal the objective_key() of the same placement bit for bit,
/// and undo() restores them exactly. A change or a gain costs O(degree) under hop-bytes; under other
/// objectives see LinkLoads and ObjectiveLoads. A smooth maximum is summed over all links for every value and
/// gain.
class Evaluator {
   public:
    /// Refers to graph, allocation and the data of the objective. Ranks may share slots if the placement
    /// shares them; capacities are not checked. Throws Error if the placement does not fit graph and
    /// allocation, if the objective is time and the machine has no bandwidths, and when LinkLoads does.
    Evaluator(const CommGraph& graph, const Allocation& allocation, const Placement& placement,
              PhasedObjective objective);
    ~Evaluator();
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;

    [[nodiscard]] std::size_t rank_count() const;
    [[nodiscard]] const Allocation& allocation() const { return allocation_; }
    [[nodiscard]] Placement placement() const;
    [[nodiscard]] Slot slot(Rank rank) const;
    /// The value of the objective: hop-bytes, seconds, or a weighted mix.
    [[nodiscard]] double value() const { return value_; }

    /// How much the change would lower the value; negative if it would raise it. These two functions and the
    /// next two throw Error if a rank does not exist, or a slot is outside the allocation or, without
    /// sharing, occupied.
    [[nodiscard]] double gain_of_exchange(Rank a, Rank b);
    [[nodiscard]] double gain_of_move(Rank rank, Slot to);

    void exchange(Rank a, Rank b);
    void move(Rank rank, Slot to);
    /// Undoes the last change. Throws Error if there is no change or the last one is already undone.
    void undo();

   private:
    class State;
    class HopBytes;
    class OnLinks;
    struct Change {
        Rank a, b;  // b is none if the change moved a
        Slot from;
    };

    void require_rank(Rank rank) const;
    void require_move(Rank rank, Slot to) const;
    void set_slot(Rank rank, Slot to);

    const Allocation& allocation_;
    SlotUse use_;
    PhasedObjective objective_;
    std::unique_ptr<State> state_;
    std::vector<Slot> slot_of_rank_;
    std::vector<char> is_allocated_;  // whether each slot of the machine is allocated
    std::vector<Rank> occupant_;      // rank on each slot of the machine; empty if slots are shared
    double value_;
    std::optional<Change> last_;
};

}  // namespace topoloom
