// SPDX-License-Identifier: BSD-3-Clause
// A barrier by dissemination.
#pragma once

#include <utility>

#include "topoloom/schedule/collectives/shapes/radix.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// In round j rank r notifies ranks r + i radix^j, 0 < i < radix, that it and all ranks that have notified it
/// have arrived. Sources: D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, Int.
/// J. Parallel Programming 17(1), 1988; for several messages per round, T. Hoefler et al., Fast Barrier
/// Synchronization for InfiniBand, IPDPS 2006.
class Dissemination {
   public:
    explicit Dissemination(Collective collective, std::uint32_t radix = 2)
        : collective_(std::move(collective)), distance_(collective_.ranks(), radix) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return distance_.digits(); }
    [[nodiscard]] Transfer transfer(std::uint64_t) const { return Transfer::combine; }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        distance_.each_multiple(round, collective_.ranks(), [&](std::size_t by) {
            visit(collective_.rank_at_distance(rank, by), Bytes{0});
        });
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        distance_.each_multiple(round, collective_.ranks(), [&](std::size_t by) {
            visit(collective_.rank_at_distance(rank, collective_.ranks() - by), Bytes{0});
        });
    }
    template <class Visit>
    void blocks(Rank, Rank, std::uint64_t, const Visit& visit) const {
        visit(std::uint64_t{0});
    }
    template <class Visit>
    void busiest_senders(std::uint64_t, const Visit& visit) const {
        visit(Rank{0});
    }

   private:
    Collective collective_;
    RadixDigits distance_;
};

}  // namespace topoloom
