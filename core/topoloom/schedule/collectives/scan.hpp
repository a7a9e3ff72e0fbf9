// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan by recursive doubling.
#pragma once

#include <bit>
#include <utility>

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// In round j, ranks r and r xor 2^j exchange partial sums if both exist. The partial sum of a rank covers
/// all existing ranks that differ from it at most in the lowest j bits. A sum received from a lower rank also
/// becomes part of the rank's prefix. Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005; MPICH's scan.
class ScanDoubling {
   public:
    explicit ScanDoubling(Collective collective) : collective_(std::move(collective)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return static_cast<std::uint64_t>(std::bit_width(collective_.ranks() - 1));
    }
    [[nodiscard]] Transfer transfer(std::uint64_t) const { return Transfer::combine; }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t peer = rank.value ^ (std::size_t{1} << round);
        if (peer < collective_.ranks()) visit(Rank{peer}, collective_.bytes());
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        sends(rank, round, visit);
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
};

}  // namespace topoloom
