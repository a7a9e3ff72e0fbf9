// SPDX-License-Identifier: BSD-3-Clause
// Bcast, reduce, scatter and gather along a binomial tree.
#pragma once

#include <algorithm>
#include <utility>

#include "topoloom/schedule/collectives/shapes/binomial_children.hpp"
#include "topoloom/schedule/collectives/shapes/radix.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Positions count from the root. The radix is k, and L = ceil(log_k ranks). Bcast and scatter have
/// rounds with h = k^(L-1), ..., k, 1: every position divisible by kh sends to those positions at distances
/// h, 2h, ..., (k-1)h that exist. A message has all data (bcast) or the data of the next h positions
/// (scatter). Reduce and gather run the rounds in reverse. Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1),
/// 2005; Karlsson 2012, A 4.6.
class Binomial {
   public:
    explicit Binomial(Collective collective, std::uint32_t radix = 2)
        : collective_(std::move(collective)), digits_(collective_.ranks(), radix) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return digits_.digits(); }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return collective_.operation() == Operation::bcast    ? Transfer::copy
               : collective_.operation() == Operation::reduce ? Transfer::combine
                                                              : Transfer::move;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        is_downward() ? visit_children(rank, round, visit) : visit_parent(rank, round, visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        is_downward() ? visit_parent(rank, round, visit) : visit_children(rank, round, visit);
    }
    template <class Visit>
    void totals(Rank rank, const Visit& visit) const {
        const std::size_t position = collective_.position(rank);
        const auto one = [&](std::size_t peer, std::size_t subtree) {
            visit(collective_.at(peer), bytes(subtree), std::int64_t{1});
        };
        is_downward() ? each_binomial_child(position, collective_.ranks(), one, digits_.radix())
                      : with_binomial_parent(position, collective_.ranks(), one, digits_.radix());
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        if (sends_whole_vector()) return visit(std::uint64_t{0});
        const std::size_t child = collective_.position(is_downward() ? to : from);
        for (std::size_t i = 0; i < subtree_size(child, round); ++i)
            visit(std::uint64_t{collective_.at(child + i).value});
    }
    template <class Visit>
    void senders(std::uint64_t round, const Visit& visit) const {
        const std::size_t h = distance(round);
        for (std::size_t first = h; first < collective_.ranks(); first += digits_.radix() * h) {
            if (is_downward()) {
                visit(collective_.at(first - h));
            } else {
                each_child(first - h, round, [&](std::size_t child) { visit(collective_.at(child)); });
            }
        }
    }
    /// Position 0 has the largest subtrees. In a reduce or gather, position 0 only receives; its first child
    /// h sends at least as many bytes as any other rank.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        visit(collective_.at(is_downward() ? 0 : distance(round)));
    }

   private:
    [[nodiscard]] bool is_downward() const {
        return collective_.operation() == Operation::bcast || collective_.operation() == Operation::scatter;
    }
    [[nodiscard]] bool sends_whole_vector() const {
        return collective_.operation() == Operation::bcast || collective_.operation() == Operation::reduce;
    }
    [[nodiscard]] std::uint64_t digit(std::uint64_t round) const {
        return is_downward() ? rounds() - 1 - round : round;
    }
    [[nodiscard]] std::size_t distance(std::uint64_t round) const { return digits_.weight(digit(round)); }
    /// Calls visit(child) for each child of a position in a round.
    template <class Visit>
    void each_child(std::size_t position, std::uint64_t round, const Visit& visit) const {
        digits_.each_multiple(digit(round), collective_.ranks() - position,
                              [&](std::size_t by) { visit(position + by); });
    }
    /// Number of positions in the subtree of a child, including the child.
    [[nodiscard]] std::size_t subtree_size(std::size_t child, std::uint64_t round) const {
        return std::min(distance(round), collective_.ranks() - child);
    }
    [[nodiscard]] Bytes bytes(std::size_t subtree) const {
        return sends_whole_vector() ? collective_.bytes()
                                    : collective_.bytes() * static_cast<std::int64_t>(subtree);
    }
    template <class Visit>
    void visit_children(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t position = collective_.position(rank);
        if (position % (digits_.radix() * distance(round)) != 0) return;
        each_child(position, round, [&](std::size_t child) {
            visit(collective_.at(child), bytes(subtree_size(child, round)));
        });
    }
    template <class Visit>
    void visit_parent(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t h = distance(round);
        const std::size_t child = collective_.position(rank);
        const std::size_t value = digits_.value(child, digit(round));
        if (child % h == 0 && value > 0)
            visit(collective_.at(child - value * h), bytes(subtree_size(child, round)));
    }

    Collective collective_;
    RadixDigits digits_;
};

}  // namespace topoloom
