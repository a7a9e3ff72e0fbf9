// SPDX-License-Identifier: BSD-3-Clause
// The ranks that a local search must still visit, because their surroundings changed.
#pragma once

#include <utility>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// A queue that initially contains all ranks. Ranks are visited in rounds, each rank at most once per round.
class WakeQueue {
   public:
    explicit WakeQueue(const CommGraph& symmetric)
        : graph_(symmetric), waiting_(symmetric.rank_count(), false) {
        add_all();
    }

    /// Calls visit(rank) for all queued ranks, including those that visits add, until the queue is empty or
    /// the meter is exhausted.
    template <class Visit>
    void drain(Meter& meter, const Visit& visit) {
        while (!queue_.empty() && !meter.is_exhausted()) {
            for (const Rank u : std::exchange(queue_, {})) {
                waiting_[u.value] = false;
                visit(u);
                if (meter.is_exhausted()) break;
            }
        }
    }

    void add(Rank u) {
        if (waiting_[u.value]) return;
        waiting_[u.value] = true;
        queue_.push_back(u);
    }
    void add_all() {
        for (const Rank u : ids<Rank>(graph_.rank_count())) add(u);
    }
    /// Adds the rank and its partners.
    void add_with_partners(Rank u) {
        add(u);
        for (const Rank v : graph_.peers(u)) add(v);
    }

   private:
    const CommGraph& graph_;
    std::vector<char> waiting_;
    std::vector<Rank> queue_;
};

}  // namespace topoloom
