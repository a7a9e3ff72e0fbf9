// SPDX-License-Identifier: BSD-3-Clause
// Broadcast, reduce, scatter and gather along a binomial tree.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "topoloom/schedule/collectives/binomial_children.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Positions count from the root. Downward, in the rounds with h = 2^(L-1), ..., 2, 1 and L = ceil(log2 ranks), every
/// position that 2h divides sends to the one h further, if there is one: all data, or those of the h positions from there
/// on. Upward the rounds run backwards. Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005; Karlsson 2012, A 4.6.
class Binomial {
   public:
    explicit Binomial(Collective collective) : collective_(std::move(collective)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return static_cast<std::uint64_t>(std::bit_width(collective_.ranks() - 1));
    }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return collective_.operation() == Operation::broadcast ? Transfer::copy
               : collective_.operation() == Operation::reduce  ? Transfer::combine
                                                               : Transfer::move;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        downward() ? to_child(rank, round, visit) : to_parent(rank, round, visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        downward() ? to_parent(rank, round, visit) : to_child(rank, round, visit);
    }
    template <class Visit>
    void totals(Rank rank, const Visit& visit) const {
        const std::size_t position = collective_.position(rank);
        const auto one = [&](std::size_t peer, std::size_t subtree) {
            visit(collective_.at(peer), bytes(subtree), std::int64_t{1});
        };
        downward() ? each_binomial_child(position, collective_.ranks(), one)
                   : with_binomial_parent(position, collective_.ranks(), one);
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        if (whole()) return visit(std::uint64_t{0});
        const std::size_t child = collective_.position(downward() ? to : from);
        for (std::size_t i = 0; i < below(child, round); ++i)
            visit(std::uint64_t{collective_.at(child + i).value});
    }
    template <class Visit>
    void senders(std::uint64_t round, const Visit& visit) const {
        const std::size_t h = distance(round);
        for (std::size_t child = h; child < collective_.ranks(); child += 2 * h)
            visit(collective_.at(downward() ? child - h : child));
    }
    /// Position 0 has the largest subtrees; upward it only receives, and the first child of h sends as much as any.
    template <class Visit>
    void busiest(std::uint64_t round, const Visit& visit) const {
        visit(collective_.at(downward() ? 0 : distance(round)));
    }

   private:
    [[nodiscard]] bool downward() const {
        return collective_.operation() == Operation::broadcast ||
               collective_.operation() == Operation::scatter;
    }
    [[nodiscard]] bool whole() const {
        return collective_.operation() == Operation::broadcast ||
               collective_.operation() == Operation::reduce;
    }
    [[nodiscard]] std::size_t distance(std::uint64_t round) const {
        return std::size_t{1} << (downward() ? rounds() - 1 - round : round);
    }
    /// Positions below a child, with itself.
    [[nodiscard]] std::size_t below(std::size_t child, std::uint64_t round) const {
        return std::min(distance(round), collective_.ranks() - child);
    }
    [[nodiscard]] Bytes bytes(std::size_t subtree) const {
        return whole() ? collective_.bytes() : collective_.bytes() * static_cast<std::int64_t>(subtree);
    }
    template <class Visit>
    void to_child(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t h = distance(round);
        const std::size_t child = collective_.position(rank) + h;
        if (((child - h) & (2 * h - 1)) == 0 && child < collective_.ranks())
            visit(collective_.at(child), bytes(below(child, round)));
    }
    template <class Visit>
    void to_parent(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t h = distance(round);
        const std::size_t child = collective_.position(rank);
        if ((child & (2 * h - 1)) == h) visit(collective_.at(child - h), bytes(below(child, round)));
    }

    Collective collective_;
};

}  // namespace topoloom
