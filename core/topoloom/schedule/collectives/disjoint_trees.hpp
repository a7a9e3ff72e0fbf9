// SPDX-License-Identifier: BSD-3-Clause
// Broadcast and reduce along all disjoint spanning trees of a grid at once, piece by piece.
#pragma once

#include <algorithm>
#include <utility>

#include "topoloom/schedule/collectives/combined.hpp"
#include "topoloom/schedule/collectives/shapes/grid_trees.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Rank r is cell r of the grid. Of T trees, piece p takes tree p mod T. In every round of a broadcast a rank passes on what
/// has come to it in the round before, a piece of every tree; a reduction is the same backwards. So on a torus of the grid's
/// shape all links carry one piece per round, and a long vector takes m beta / T. Who is above another rank in one tree is below
/// it in the other, so every round waits for the one before. Source: J. Edmonds, Edge-disjoint branchings, in Combinatorial
/// Algorithms, 1973.
class DisjointTrees {
   public:
    DisjointTrees(Collective collective, GridTrees trees)
        : collective_(std::move(collective)), trees_(trees) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return collective_.ranks() == 1 ? 0 : trees_.height() - 1 + pieces_of_tree();
    }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return downward() ? Transfer::copy : Transfer::combine;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        downward() ? to_children(rank, round, visit) : to_parents(rank, round, visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        downward() ? to_parents(rank, round, visit) : to_children(rank, round, visit);
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const Rank parent = downward() ? from : to, child = downward() ? to : from;
        trees_.each_parent(child.value, [&](const TreeStep& step) {
            if (step.parent == parent.value) visit(piece(step, round));
        });
    }
    /// While all trees are full of pieces of one size, ranks do the same but for those at the root. Else anyone may send the
    /// most; of more than 1,024 ranks a sample.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        if (round + 1 < trees_.height() || round >= whole_pieces_of_tree() || has_unequal(round)) {
            each_candidate(collective_.ranks(), visit);
        } else if (!downward()) {
            visit(collective_.at(1));
        } else {
            trees_.each_around_root([&](std::size_t cell) { visit(Rank{cell}); });
        }
    }

   private:
    [[nodiscard]] bool downward() const { return collective_.operation() == Operation::broadcast; }
    [[nodiscard]] std::uint64_t pieces_of_tree() const {
        return (collective_.pieces() + trees_.count() - 1) / trees_.count();
    }
    /// Number of pieces of the tree that gets the fewest.
    [[nodiscard]] std::uint64_t whole_pieces_of_tree() const { return collective_.pieces() / trees_.count(); }
    /// Whether those that are on their way in a round differ in size.
    [[nodiscard]] bool has_unequal(std::uint64_t round) const {
        const std::uint64_t first = (round + 1 - trees_.height()) * trees_.count();
        const std::uint64_t last = (round + 1) * trees_.count() - 1;
        return collective_.bytes_of(first) != collective_.bytes_of(last);
    }
    /// The piece that takes a step in a round, if there is one.
    [[nodiscard]] std::uint64_t piece(const TreeStep& step, std::uint64_t round) const {
        const std::uint64_t start = downward() ? step.depth - 1 : trees_.height() - step.depth;
        return round < start ? collective_.pieces() : (round - start) * trees_.count() + step.tree;
    }
    template <class Visit>
    void pass(std::size_t peer, const TreeStep& step, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t block = piece(step, round);
        if (block < collective_.pieces()) visit(Rank{peer}, collective_.bytes_of(block));
    }
    template <class Visit>
    void to_children(Rank rank, std::uint64_t round, const Visit& visit) const {
        trees_.each_child(rank.value, [&](const TreeStep& step) { pass(step.child, step, round, visit); });
    }
    template <class Visit>
    void to_parents(Rank rank, std::uint64_t round, const Visit& visit) const {
        trees_.each_parent(rank.value, [&](const TreeStep& step) { pass(step.parent, step, round, visit); });
    }

    Collective collective_;
    GridTrees trees_;
};

}  // namespace topoloom
