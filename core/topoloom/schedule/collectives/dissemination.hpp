// SPDX-License-Identifier: BSD-3-Clause
// A barrier by dissemination.
#pragma once

#include <bit>
#include <utility>

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// In round j rank r notifies r + 2^j that it and all it has heard of are there. Source: D. Hensgen, R. Finkel, U.
/// Manber, Two Algorithms for Barrier Synchronization, Int. J. Parallel Programming 17(1), 1988.
class Dissemination {
   public:
    explicit Dissemination(Collective collective) : collective_(std::move(collective)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return static_cast<std::uint64_t>(std::bit_width(collective_.ranks() - 1));
    }
    [[nodiscard]] Transfer transfer(std::uint64_t) const { return Transfer::combine; }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        visit(collective_.shifted(rank, std::size_t{1} << round), Bytes{0});
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        visit(collective_.shifted(rank, collective_.ranks() - (std::size_t{1} << round)), Bytes{0});
    }
    template <class Visit>
    void blocks(Rank, Rank, std::uint64_t, const Visit& visit) const {
        visit(std::uint64_t{0});
    }
    template <class Visit>
    void busiest(std::uint64_t, const Visit& visit) const {
        visit(Rank{0});
    }

   private:
    Collective collective_;
};

}  // namespace topoloom
