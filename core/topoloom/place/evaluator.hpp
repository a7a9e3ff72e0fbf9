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

/// For searches outside of this library. Values are those of objective_key() for the same placement, bit for bit, and
/// after undo() they are what they were. A change, or to ask for its gain, costs O(degree) under hop-bytes, and what
/// LinkLoads and ObjectiveLoads say under other objectives; a smooth maximum is added up over all links each time.
class Evaluator {
   public:
    /// Refers to graph and allocation, and to what the objective refers to. Ranks share slots where the placement lets
    /// them; what fits on a slot is not checked. Throws Error for a placement that does not fit these, for time on a
    /// machine without bandwidths, and as LinkLoads does.
    Evaluator(const CommGraph& graph, const Allocation& allocation, const Placement& placement,
              MeasuredObjective objective);
    ~Evaluator();
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;

    [[nodiscard]] std::size_t rank_count() const;
    [[nodiscard]] const Allocation& allocation() const { return allocation_; }
    [[nodiscard]] Placement placement() const;
    [[nodiscard]] Slot slot(Rank rank) const;
    /// Bytes times distance, seconds, or a mix.
    [[nodiscard]] double value() const { return value_; }

    /// How much the change would lower the value; negative if it would raise it. These, and the next two, throw
    /// Error for ranks that do not exist and slots that are not allocated; and if slots are not shared, for a slot
    /// that another rank is on.
    [[nodiscard]] double gain_of_exchange(Rank a, Rank b);
    [[nodiscard]] double gain_of_move(Rank rank, Slot to);

    void exchange(Rank a, Rank b);
    void move(Rank rank, Slot to);
    /// Undoes the last change. Throws Error if there is none, or it is undone already.
    void undo();

   private:
    class State;
    class HopBytes;
    class OnLinks;
    struct Change {
        Rank a, b;  // none: a was moved
        Slot from;
    };

    void require_rank(Rank rank) const;
    void require_move(Rank rank, Slot to) const;
    void put(Rank rank, Slot to);

    const Allocation& allocation_;
    SlotUse use_;
    MeasuredObjective objective_;
    std::unique_ptr<State> state_;
    std::vector<Slot> slot_of_rank_;
    std::vector<char> is_allocated_;  // by slot of the machine
    std::vector<Rank> occupant_;      // likewise; empty if slots are shared
    double value_;
    std::optional<Change> last_;
};

}  // namespace topoloom
