// SPDX-License-Identifier: BSD-3-Clause
// Allgather, reduce_scatter and allreduce around a ring.
#pragma once

#include <utility>

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Every rank sends one block to the next rank in every round. Reduce_scatter: in round t rank r sends its
/// contribution to block r - 1 - t, so that after ranks - 1 rounds rank r has the sum of block r. Allgather:
/// in round t, counted from its first round, rank r sends block r - t. An allreduce runs the two in sequence
/// and needs one piece per rank. Source: P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for
/// clusters of workstations, JPDC 69(2), 2009.
class Ring {
   public:
    explicit Ring(Collective collective) : collective_(std::move(collective)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return (collective_.ranks() - 1) * (collective_.operation() == Operation::allreduce ? 2 : 1);
    }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const {
        return is_summing(round) ? Transfer::combine : Transfer::copy;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        visit(collective_.rank_at_distance(rank, 1), collective_.bytes_of(block(rank, round)));
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        const Rank from = collective_.rank_at_distance(rank, collective_.ranks() - 1);
        visit(from, collective_.bytes_of(block(from, round)));
    }
    template <class Visit>
    void blocks(Rank from, Rank, std::uint64_t round, const Visit& visit) const {
        visit(std::uint64_t{block(from, round)});
    }
    /// In a reduce_scatter a rank never sends its own block; in an allgather it never sends the next rank's
    /// block.
    template <class Visit>
    void totals(Rank rank, const Visit& visit) const {
        if (collective_.ranks() == 1) return;
        const Rank next = collective_.rank_at_distance(rank, 1);
        const Bytes all = collective_.bytes_of(0, collective_.ranks());
        Bytes sent;
        if (collective_.operation() != Operation::allgather) sent += all - collective_.bytes_of(rank.value);
        if (collective_.operation() != Operation::reduce_scatter)
            sent += all - collective_.bytes_of(next.value);
        visit(next, sent, static_cast<std::int64_t>(rounds()));
    }
    /// The first pieces are the longest.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        visit(collective_.rank_at_distance(Rank{0}, is_summing(round) ? round + 1 : step(round)));
    }

   private:
    [[nodiscard]] bool is_summing(std::uint64_t round) const {
        return collective_.operation() != Operation::allgather && round < collective_.ranks() - 1;
    }
    /// Round of the allgather.
    [[nodiscard]] std::uint64_t step(std::uint64_t round) const {
        return collective_.operation() == Operation::allreduce ? round - (collective_.ranks() - 1) : round;
    }
    [[nodiscard]] std::uint32_t block(Rank rank, std::uint64_t round) const {
        const std::uint64_t back = is_summing(round) ? round + 1 : step(round);
        return collective_.rank_at_distance(rank, collective_.ranks() - back).value;
    }

    Collective collective_;
};

}  // namespace topoloom
