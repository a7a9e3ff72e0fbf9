// SPDX-License-Identifier: BSD-3-Clause
// The neighborhood of a rank in the communication graph.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// The ranks at most `reach` edges away from a rank, nearest first: the rank itself, its partners, their
/// partners, and so on. About `most` ranks at most.
class Neighborhood {
   public:
    Neighborhood(const CommGraph& symmetric, std::uint32_t reach, std::uint32_t most)
        : graph_(symmetric), reach_(reach), most_(most), seen_at_(symmetric.rank_count(), 0) {}

    const std::vector<Rank>& ranks_around(Rank u) {
        ++visit_;
        found_.assign(1, u);
        seen_at_[u.value] = visit_;
        std::size_t ring_begin = 0;
        for (std::uint32_t distance = 0; distance < reach_; ++distance) {
            const std::size_t ring_end = found_.size();
            for (std::size_t i = ring_begin; i < ring_end; ++i) {
                for (const Rank v : graph_.peers(found_[i])) {
                    if (seen_at_[v.value] == visit_) continue;
                    seen_at_[v.value] = visit_;
                    found_.push_back(v);
                    if (found_.size() > most_) return found_;
                }
            }
            ring_begin = ring_end;
        }
        return found_;
    }

   private:
    const CommGraph& graph_;
    std::uint32_t reach_;
    std::uint32_t most_;
    std::vector<std::uint64_t> seen_at_;  // by rank: the last visit that reached it
    std::uint64_t visit_ = 0;
    std::vector<Rank> found_;
};

}  // namespace topoloom
