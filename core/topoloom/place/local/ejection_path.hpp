// SPDX-License-Identifier: BSD-3-Clause
// An ejection chain: each rank takes the slot of the next rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom::local {

/// The steps of an ejection chain. Slots are identified by their position in the allocation. Until the next
/// step, the last ejected rank is on the first rank's old slot.
class EjectionPath {
   public:
    /// Moves a rank to another slot; the occupant of that slot, if any, is ejected to the rank's old slot.
    struct Step {
        Rank rank;
        Rank ejected;
        Position from;
        Position to;
    };

    void clear() { steps_.clear(); }
    void push(Step step) { steps_.push_back(step); }
    Step pop() {
        const Step last = steps_.back();
        steps_.pop_back();
        return last;
    }
    [[nodiscard]] bool empty() const { return steps_.empty(); }
    [[nodiscard]] std::size_t length() const { return steps_.size(); }
    [[nodiscard]] Rank last_ejected() const { return steps_.back().ejected; }
    /// Whether a step of the path ends at this position.
    [[nodiscard]] bool leads_to(Position position) const {
        return std::ranges::find(steps_, position, &Step::to) != steps_.end();
    }
    [[nodiscard]] auto begin() const { return steps_.begin(); }
    [[nodiscard]] auto end() const { return steps_.end(); }

   private:
    std::vector<Step> steps_;
};

}  // namespace topoloom::local
