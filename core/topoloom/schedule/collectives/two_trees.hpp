// SPDX-License-Identifier: BSD-3-Clause
// Broadcast and reduce along two binary trees at once, segment by segment.
#pragma once

#include <algorithm>
#include <utility>

#include "topoloom/schedule/collectives/shapes/in_order_tree.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Positions count from the root; the others are the labels of a tree, and of a second one shifted by a position, so that who
/// passes data on in the one is a leaf of the other. Even pieces take the first tree, odd ones the second. A broadcast: in
/// every round the root sends a piece to each tree, and all others a piece to both their children; a reduction is the same
/// upwards. So every rank sends and receives two pieces per round at most, where the source has two rounds of one. Who is
/// above another rank in one tree may be below it in the other, so every round waits for the one before, unlike in a chain.
/// Source: P. Sanders, J. Speck, J. L. Träff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel
/// Computing 35(12), 2009.
class TwoTrees {
   public:
    explicit TwoTrees(Collective collective)
        : collective_(std::move(collective)), tree_(std::max<std::size_t>(collective_.ranks() - 1, 1)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return collective_.ranks() == 1 ? 0 : tree_.height() + (collective_.pieces() + trees() - 1) / trees();
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
        const std::size_t parent = collective_.position(downward() ? from : to);
        const std::size_t child = collective_.position(downward() ? to : from);
        for (std::size_t tree = 0; tree < trees(); ++tree)
            if (parent_of(child, tree) == parent) visit(piece(tree, label(child, tree), round));
    }
    /// The first pieces are the longest: downward those that come to the leaves, upward those that have come farthest.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        const std::uint64_t level = std::min(round, tree_.height());
        if (!downward()) {
            for (std::size_t tree = 0; tree < trees(); ++tree)
                visit(collective_.at(position(std::size_t{1} << level, tree)));
            return;
        }
        visit(collective_.root());
        if (level > 0) visit(collective_.at(position(std::size_t{2} << (tree_.height() - level), 0)));
    }

   private:
    [[nodiscard]] bool downward() const { return collective_.operation() == Operation::broadcast; }
    /// Both would join the same two ranks if there were no more.
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
    /// The piece that passes between a child and its parent in a round, if there is one.
    [[nodiscard]] std::uint64_t piece(std::size_t tree, std::size_t child_label, std::uint64_t round) const {
        const std::uint64_t level = tree_.level(child_label);
        const std::uint64_t start = downward() ? level : tree_.height() - level;
        return round < start ? collective_.pieces() : (round - start) * trees() + tree;
    }
    template <class Visit>
    void pass(Rank peer, std::size_t tree, std::size_t child_label, std::uint64_t round,
              const Visit& visit) const {
        const std::uint64_t block = piece(tree, child_label, round);
        if (block < collective_.pieces()) visit(peer, collective_.bytes_of(block));
    }
    template <class Visit>
    void to_children(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t parent = collective_.position(rank);
        for (std::size_t tree = 0; tree < trees(); ++tree) {
            const auto one = [&](std::size_t child) {
                pass(collective_.at(position(child, tree)), tree, child, round, visit);
            };
            parent == 0 ? one(tree_.root()) : tree_.each_child(label(parent, tree), one);
        }
    }
    template <class Visit>
    void to_parents(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t child = collective_.position(rank);
        if (child == 0) return;
        for (std::size_t tree = 0; tree < trees(); ++tree)
            pass(collective_.at(parent_of(child, tree)), tree, label(child, tree), round, visit);
    }

    Collective collective_;
    InOrderTree tree_;
};

}  // namespace topoloom
