// SPDX-License-Identifier: BSD-3-Clause
// Broadcast and reduce of long messages in one piece a rank.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// A broadcast scatters the pieces along a binomial tree, then gathers them on all ranks round a ring; a reduction is the
/// same backwards: a reduce-scatter round the ring, and a gather along the tree. Positions count from the root; piece p is
/// that of position p. Source: M. Barnett et al., Interprocessor collective communication library (InterCom), SHPCC 1994;
/// Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
class ScatterAllGather {
   public:
    /// In one piece a rank.
    explicit ScatterAllGather(Collective collective) : collective_(std::move(collective)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return tree_rounds() + collective_.ranks() - 1; }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const {
        return on_tree(round) ? Transfer::move : spreads() ? Transfer::copy : Transfer::combine;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        spreads() ? down(rank, round, visit) : up(rank, round, visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        spreads() ? up(rank, round, visit) : down(rank, round, visit);
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const std::size_t lower = collective_.position(spreads() ? to : from);
        const std::size_t upper = collective_.position(spreads() ? from : to);
        if (!on_tree(round)) return visit(std::uint64_t{piece(upper, round)});
        for (std::size_t i = 0; i < below(lower, round); ++i) visit(std::uint64_t{lower + i});
    }
    /// The first pieces are the longest.
    template <class Visit>
    void busiest(std::uint64_t round, const Visit& visit) const {
        const std::size_t upper = on_tree(round) ? 0 : step(round) - tree_rounds();
        const std::size_t lower = upper + (on_tree(round) ? distance(round) : 1);
        visit(collective_.at(spreads() ? upper : lower));
    }

   private:
    [[nodiscard]] bool spreads() const { return collective_.operation() == Operation::broadcast; }
    [[nodiscard]] std::uint64_t tree_rounds() const {
        return static_cast<std::uint64_t>(std::bit_width(collective_.ranks() - 1));
    }
    /// Of the broadcast.
    [[nodiscard]] std::uint64_t step(std::uint64_t round) const {
        return spreads() ? round : rounds() - 1 - round;
    }
    [[nodiscard]] bool on_tree(std::uint64_t round) const { return step(round) < tree_rounds(); }
    [[nodiscard]] std::size_t distance(std::uint64_t round) const {
        return std::size_t{1} << (tree_rounds() - 1 - step(round));
    }
    [[nodiscard]] std::size_t below(std::size_t child, std::uint64_t round) const {
        return std::min(distance(round), collective_.ranks() - child);
    }
    /// What passes from a position to the next on the ring.
    [[nodiscard]] std::size_t piece(std::size_t upper, std::uint64_t round) const {
        const std::size_t back = step(round) - tree_rounds();
        return upper >= back ? upper - back : upper + collective_.ranks() - back;
    }
    /// To the children and to the next on the ring.
    template <class Visit>
    void down(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t position = collective_.position(rank);
        if (!on_tree(round)) {
            return visit(collective_.shifted(rank, 1), collective_.bytes_of(piece(position, round)));
        }
        const std::size_t child = position + distance(round);
        if ((position & (2 * distance(round) - 1)) == 0 && child < collective_.ranks())
            visit(collective_.at(child), collective_.bytes_of(child, below(child, round)));
    }
    template <class Visit>
    void up(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t position = collective_.position(rank);
        if (!on_tree(round)) {
            const Rank before = collective_.shifted(rank, collective_.ranks() - 1);
            return visit(before, collective_.bytes_of(piece(collective_.position(before), round)));
        }
        if ((position & (2 * distance(round) - 1)) == distance(round))
            visit(collective_.at(position - distance(round)),
                  collective_.bytes_of(position, below(position, round)));
    }

    Collective collective_;
};

}  // namespace topoloom
