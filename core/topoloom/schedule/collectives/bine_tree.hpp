// SPDX-License-Identifier: BSD-3-Clause
// Bcast, reduce, scatter and gather along a Bine tree.
#pragma once

#include <utility>

#include "topoloom/schedule/collectives/shapes/bine_ring.hpp"
#include "topoloom/schedule/collectives/shapes/cube.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// A binomial tree, but over distances that are one third shorter. Positions count from the root. If their
/// number is not a power of two, every other one of the first positions is an extra position: a leaf below
/// its neighbor. A bcast or scatter runs the steps of the ring from the last to the first. Ranks with
/// data send them to their partner: the whole vector, or the blocks of the partner's subtree, which are
/// adjacent on the ring. Extra ranks receive in the last round. A reduce or gather runs the rounds in
/// reverse. Source: that of BineRing; extra ranks are folded as in MPICH.
class BineTree {
   public:
    explicit BineTree(Collective collective)
        : collective_(std::move(collective)),
          cube_(collective_.ranks(), ExtraRanks::odd),
          ring_(cube_.corners()) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return ring_.steps() + (cube_.extra() > 0 ? 1 : 0); }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return collective_.operation() == Operation::bcast    ? Transfer::copy
               : collective_.operation() == Operation::reduce ? Transfer::combine
                                                              : Transfer::move;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        is_downward() ? visit_child(rank, step(round), visit) : visit_parent(rank, step(round), visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        is_downward() ? visit_parent(rank, step(round), visit) : visit_child(rank, step(round), visit);
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        if (sends_whole_vector()) return visit(std::uint64_t{0});
        const Rank child{collective_.position(is_downward() ? to : from)};
        each_range_below(child, step(round), [&](std::size_t first, std::size_t count) {
            for (std::size_t i = first; i < first + count; ++i) visit(std::uint64_t{collective_.at(i).value});
        });
    }
    /// The first positions have extra ranks below them. The subtrees of a step are adjacent; one of the first
    /// two subtrees has at least as many extra ranks as any other.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        const std::uint64_t n = step(round);
        const auto one = [&](std::size_t parent) {
            const Rank child = n == 0 ? cube_.extra_rank(parent) : cube_.rank(ring_.partner(parent, n));
            visit(collective_.at(is_downward() ? cube_.rank(parent).value : child.value));
        };
        one(0);
        if (n > 0 && n < ring_.steps())
            one(ring_.wrap_position((std::size_t{2} << n) - 1 - 2 * BineRing::count_before(n)));
    }

   private:
    [[nodiscard]] bool is_downward() const {
        return collective_.operation() == Operation::bcast || collective_.operation() == Operation::scatter;
    }
    [[nodiscard]] bool sends_whole_vector() const {
        return collective_.operation() == Operation::bcast || collective_.operation() == Operation::reduce;
    }
    /// The step of the ring that a round performs; 0 is the exchange with the extra ranks.
    [[nodiscard]] std::uint64_t step(std::uint64_t round) const {
        const std::uint64_t up = is_downward() ? rounds() - 1 - round : round;
        return up + (cube_.extra() > 0 ? 0 : 1);
    }
    /// Calls visit(first, count) for the positions in the subtree of a child that is reached in a step.
    template <class Visit>
    void each_range_below(Rank child, std::uint64_t step, const Visit& visit) const {
        if (step == 0) return visit(std::size_t{child.value}, std::size_t{1});
        const std::size_t first = ring_.first_joined(cube_.corner(child), step - 1);
        ring_.each_range(first, std::size_t{1} << (step - 1), [&](std::size_t begin, std::size_t count) {
            cube_.each_range(begin, count, visit);
        });
    }
    [[nodiscard]] Bytes bytes(Rank child, std::uint64_t step) const {
        if (sends_whole_vector()) return collective_.bytes();
        std::size_t positions = 0;
        each_range_below(child, step, [&](std::size_t, std::size_t count) { positions += count; });
        return collective_.bytes() * static_cast<std::int64_t>(positions);
    }
    template <class Visit>
    void visit_child(Rank rank, std::uint64_t step, const Visit& visit) const {
        const Rank position{collective_.position(rank)};
        const std::size_t corner = cube_.corner(position);
        if (cube_.is_extra(position) ||
            (step == 0 ? corner >= cube_.extra() : ring_.last_tree_step(corner) <= step))
            return;
        const Rank child = step == 0 ? cube_.extra_rank(corner) : cube_.rank(ring_.partner(corner, step));
        visit(collective_.at(child.value), bytes(child, step));
    }
    template <class Visit>
    void visit_parent(Rank rank, std::uint64_t step, const Visit& visit) const {
        const Rank child{collective_.position(rank)};
        const std::size_t corner = cube_.corner(child);
        if (cube_.is_extra(child) != (step == 0) || (step > 0 && ring_.last_tree_step(corner) != step))
            return;
        const Rank parent = cube_.rank(step == 0 ? corner : ring_.partner(corner, step));
        visit(collective_.at(parent.value), bytes(child, step));
    }

    Collective collective_;
    Cube cube_;
    BineRing ring_;
};

}  // namespace topoloom
