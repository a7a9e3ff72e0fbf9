// SPDX-License-Identifier: BSD-3-Clause
// Bcast and reduce along all disjoint spanning trees of a grid concurrently, piece by piece.
#pragma once

#include <algorithm>
#include <utility>

#include "topoloom/schedule/collectives/combined.hpp"
#include "topoloom/schedule/collectives/shapes/grid_trees.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Rank r is cell r of the grid. With T trees, piece p travels along tree p mod T. In every round of a
/// bcast a rank forwards the pieces that it received in the previous round, one per tree; a reduce runs
/// the rounds in reverse. On a torus with the shape of the grid, every link carries one piece per round, so a
/// long vector takes m beta / T. A rank's parent in one tree is its child in another, so every round waits
/// for the previous one. Source: J. Edmonds, Edge-disjoint branchings, in Combinatorial Algorithms, 1973.
class DisjointTrees {
   public:
    DisjointTrees(Collective collective, GridTrees trees)
        : collective_(std::move(collective)), trees_(trees) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return collective_.ranks() == 1 ? 0 : trees_.height() - 1 + pieces_of_tree();
    }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return is_downward() ? Transfer::copy : Transfer::combine;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        is_downward() ? visit_children(rank, round, visit) : visit_parents(rank, round, visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        is_downward() ? visit_parents(rank, round, visit) : visit_children(rank, round, visit);
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const Rank parent = is_downward() ? from : to, child = is_downward() ? to : from;
        trees_.each_parent(child.value, [&](const TreeStep& step) {
            if (step.parent == parent.value) visit(piece(step, round));
        });
    }
    /// While all trees carry pieces of one size, all ranks except those near the root send equally much.
    /// Otherwise any rank may send the most; among more than 1,024 ranks, only a sample is visited.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        if (round + 1 < trees_.height() || round >= whole_pieces_of_tree() || has_unequal_pieces(round)) {
            each_candidate(collective_.ranks(), visit);
        } else if (!is_downward()) {
            visit(collective_.at(1));
        } else {
            trees_.each_cell_around_root([&](std::size_t cell) { visit(Rank{cell}); });
        }
    }

   private:
    [[nodiscard]] bool is_downward() const { return collective_.operation() == Operation::bcast; }
    [[nodiscard]] std::uint64_t pieces_of_tree() const {
        return (collective_.pieces() + trees_.count() - 1) / trees_.count();
    }
    /// Number of pieces of the tree with the fewest pieces.
    [[nodiscard]] std::uint64_t whole_pieces_of_tree() const { return collective_.pieces() / trees_.count(); }
    /// Whether the pieces transferred in a round differ in size.
    [[nodiscard]] bool has_unequal_pieces(std::uint64_t round) const {
        const std::uint64_t first = (round + 1 - trees_.height()) * trees_.count();
        const std::uint64_t last = (round + 1) * trees_.count() - 1;
        return collective_.bytes_of(first) != collective_.bytes_of(last);
    }
    /// The piece that crosses a tree edge in a round, if any.
    [[nodiscard]] std::uint64_t piece(const TreeStep& step, std::uint64_t round) const {
        const std::uint64_t start = is_downward() ? step.depth - 1 : trees_.height() - step.depth;
        return round < start ? collective_.pieces() : (round - start) * trees_.count() + step.tree;
    }
    template <class Visit>
    void visit_piece(std::size_t peer, const TreeStep& step, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t block = piece(step, round);
        if (block < collective_.pieces()) visit(Rank{peer}, collective_.bytes_of(block));
    }
    template <class Visit>
    void visit_children(Rank rank, std::uint64_t round, const Visit& visit) const {
        trees_.each_child(rank.value,
                          [&](const TreeStep& step) { visit_piece(step.child, step, round, visit); });
    }
    template <class Visit>
    void visit_parents(Rank rank, std::uint64_t round, const Visit& visit) const {
        trees_.each_parent(rank.value,
                           [&](const TreeStep& step) { visit_piece(step.parent, step, round, visit); });
    }

    Collective collective_;
    GridTrees trees_;
};

}  // namespace topoloom
