// SPDX-License-Identifier: BSD-3-Clause
// Bcast and reduce along two binary trees at once, segment by segment.
#pragma once

#include <algorithm>
#include <utility>

#include "topoloom/schedule/collectives/shapes/in_order_tree.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Positions count from the root; the other positions are the labels of two trees. The second tree is the
/// first one shifted by one position, so that inner ranks of one tree are leaves of the other. Even pieces
/// use the first tree, odd pieces the second. In every round of a bcast the root sends one piece to each
/// tree, and every other rank forwards one piece to both its children; a reduce runs the rounds in reverse.
/// Every rank thus sends and receives at most two pieces per round, where the source uses two rounds with one
/// piece each. A rank's ancestor in one tree may be its descendant in the other, so every round waits for the
/// previous one, unlike in a chain. Source: P. Sanders, J. Speck, J. L. Träff, Two-tree algorithms for full
/// bandwidth broadcast, reduction and scan, Parallel Computing 35(12), 2009.
class TwoTrees {
   public:
    explicit TwoTrees(Collective collective)
        : collective_(std::move(collective)), tree_(std::max<std::size_t>(collective_.ranks() - 1, 1)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return collective_.ranks() == 1 ? 0 : tree_.height() + (collective_.pieces() + trees() - 1) / trees();
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
        const std::size_t parent = collective_.position(is_downward() ? from : to);
        const std::size_t child = collective_.position(is_downward() ? to : from);
        for (std::size_t tree = 0; tree < trees(); ++tree)
            if (parent_of(child, tree) == parent) visit(piece(tree, label(child, tree), round));
    }
    /// The first pieces are the longest: in a bcast those sent to the leaves, in a reduce those closest
    /// to the root.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        const std::uint64_t level = std::min(round, tree_.height());
        if (!is_downward()) {
            for (std::size_t tree = 0; tree < trees(); ++tree)
                visit(collective_.at(position(std::size_t{1} << level, tree)));
            return;
        }
        visit(collective_.root());
        if (level > 0) visit(collective_.at(position(std::size_t{2} << (tree_.height() - level), 0)));
    }

   private:
    [[nodiscard]] bool is_downward() const { return collective_.operation() == Operation::bcast; }
    /// With two ranks, both trees would be the same edge.
    [[nodiscard]] std::size_t trees() const { return std::min<std::size_t>(tree_.count(), 2); }
    [[nodiscard]] std::size_t label(std::size_t position, std::size_t tree) const {
        return tree == 0 ? position : position == 1 ? tree_.count() : position - 1;
    }
    [[nodiscard]] std::size_t position(std::size_t label, std::size_t tree) const {
        return tree == 0 ? label : label == tree_.count() ? 1 : label + 1;
    }
    [[nodiscard]] std::size_t parent_of(std::size_t child, std::size_t tree) const {
        const std::size_t own = label(child, tree);
        return own == tree_.root() ? 0 : position(tree_.parent(own), tree);
    }
    /// The piece sent between a child and its parent in a round, if any.
    [[nodiscard]] std::uint64_t piece(std::size_t tree, std::size_t child_label, std::uint64_t round) const {
        const std::uint64_t level = tree_.level(child_label);
        const std::uint64_t start = is_downward() ? level : tree_.height() - level;
        return round < start ? collective_.pieces() : (round - start) * trees() + tree;
    }
    template <class Visit>
    void visit_piece(Rank peer, std::size_t tree, std::size_t child_label, std::uint64_t round,
                     const Visit& visit) const {
        const std::uint64_t block = piece(tree, child_label, round);
        if (block < collective_.pieces()) visit(peer, collective_.bytes_of(block));
    }
    template <class Visit>
    void visit_children(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t parent = collective_.position(rank);
        for (std::size_t tree = 0; tree < trees(); ++tree) {
            const auto one = [&](std::size_t child) {
                visit_piece(collective_.at(position(child, tree)), tree, child, round, visit);
            };
            parent == 0 ? one(tree_.root()) : tree_.each_child(label(parent, tree), one);
        }
    }
    template <class Visit>
    void visit_parents(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t child = collective_.position(rank);
        if (child == 0) return;
        for (std::size_t tree = 0; tree < trees(); ++tree)
            visit_piece(collective_.at(parent_of(child, tree)), tree, label(child, tree), round, visit);
    }

    Collective collective_;
    InOrderTree tree_;
};

}  // namespace topoloom
