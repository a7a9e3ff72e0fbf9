// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/orders/contention_free_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <map>
#include <optional>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"

namespace topoloom {

namespace {

using Order = std::vector<Node>;

/// The objective: number of rounds in which messages may meet; on ties, number of subtrees above which
/// messages may meet.
struct OrderScore {
    std::uint64_t rounds = 0;
    std::uint64_t places = 0;
    friend auto operator<=>(const OrderScore&, const OrderScore&) = default;
};

class OrderScorer {
   public:
    OrderScorer(const Machine& machine, std::span<const RepeatedStep> steps, ContentionModel meeting)
        : machine_(machine), steps_(steps) {
        if (meeting == ContentionModel::any_ascent) ascent_.emplace(require_fat_tree(machine));
    }

    [[nodiscard]] OrderScore score(std::span<const Node> order) {
        OrderScore all;
        for (const auto& [step, rounds] : steps_) {
            const auto messages = list_node_messages(step, order);
            const std::size_t places =
                (ascent_ ? ascent_->meetings(messages) : meetings_on_routes(machine_, messages)).places;
            all.rounds += places > 0 ? rounds : 0;
            all.places += places;
            work_ += step.size() + (ascent_ ? 0 : machine_.link_count());
        }
        return all;
    }
    [[nodiscard]] std::uint64_t work() const { return work_; }

   private:
    const Machine& machine_;
    std::span<const RepeatedStep> steps_;
    std::optional<AnyUpwardRoutes> ascent_;
    std::uint64_t work_ = 0;
};

/// The tree above some nodes; identifies subtrees of the same shape.
class SubtreeShapes {
   public:
    SubtreeShapes(const FatTree& tree, std::span<const Node> nodes) {
        std::uint32_t below = 1;
        spans_.push_back(below);
        for (const std::uint32_t arity : tree.spec().arity) spans_.push_back(below *= arity);
        levels_.resize(spans_.size());
        for (const Node node : nodes) levels_[0][node.value] = 0;
        for (std::size_t j = 1; j < spans_.size(); ++j) {
            std::map<std::uint32_t, std::vector<std::uint32_t>> children;
            for (const auto& [subtree, shape] : levels_[j - 1])
                children[subtree * spans_[j - 1] / spans_[j]].push_back(shape);
            std::map<std::vector<std::uint32_t>, std::uint32_t> known;
            for (auto& [subtree, shapes] : children) {
                std::ranges::sort(shapes);
                levels_[j][subtree] = known.emplace(shapes, known.size()).first->second;
            }
        }
    }
    [[nodiscard]] std::size_t levels() const { return spans_.size(); }
    [[nodiscard]] std::uint32_t subtree(std::size_t level, Node node) const {
        return node.value / spans_[level];
    }
    [[nodiscard]] std::uint32_t shape(std::size_t level, Node node) const {
        return levels_[level].at(subtree(level, node));
    }
    /// The number of preceding siblings of this node's subtree.
    [[nodiscard]] std::size_t place_among_siblings(std::size_t level, Node node) const {
        const auto& subtrees = levels_[level];
        const std::uint32_t first = subtree(level + 1, node) * (spans_[level + 1] / spans_[level]);
        return static_cast<std::size_t>(
            std::distance(subtrees.lower_bound(first), subtrees.find(subtree(level, node))));
    }

   private:
    std::vector<std::uint32_t> spans_;                            // number of nodes in a subtree, by level
    std::vector<std::map<std::uint32_t, std::uint32_t>> levels_;  // subtree -> index of its shape
};

/// Sorts nodes in tree order, but with the fullest subtrees of every switch first or last.
Order sort_by_fullness(const SubtreeShapes& shapes, Order order, bool fullest_first) {
    std::ranges::sort(order);
    std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> nodes;
    for (const Node node : order) {
        for (std::size_t j = 0; j < shapes.levels(); ++j) ++nodes[{j, shapes.subtree(j, node)}];
    }
    const auto key = [&](Node node) {
        std::vector<std::int64_t> path;
        for (std::size_t j = shapes.levels(); j-- > 0;) {
            const std::int64_t count = nodes.at({j, shapes.subtree(j, node)});
            path.push_back(fullest_first ? -count : count);
            path.push_back(shapes.subtree(j, node));
        }
        return path;
    };
    std::ranges::sort(order, {}, key);
    return order;
}

/// Swaps two nodes or moves several consecutive nodes, and keeps changes that are no worse. Stops after 10
/// ranks^2 moves without an improvement.
void improve_order(OrderScorer& scorer, Order& order, OrderScore& score, std::uint64_t work, Rng& rng) {
    const auto ranks = static_cast<std::uint32_t>(order.size());
    if (ranks < 3) return;
    const std::uint64_t patience = std::uint64_t{10} * ranks * ranks;
    for (std::uint64_t idle = 0; score.rounds > 0 && idle < patience && scorer.work() < work; ++idle) {
        Order moved = order;
        const auto at = [&](std::uint32_t i) { return moved.begin() + static_cast<std::ptrdiff_t>(i); };
        if (rng.below(2) == 0) {
            std::swap(*at(rng.below(ranks)), *at(rng.below(ranks)));
        } else {
            std::array<std::uint32_t, 3> cut{rng.below(ranks + 1), rng.below(ranks + 1),
                                             rng.below(ranks + 1)};
            std::ranges::sort(cut);
            std::rotate(at(cut[0]), at(cut[1]), at(cut[2]));
        }
        const OrderScore found = scorer.score(moved);
        if (found > score) continue;
        if (found < score) idle = 0;
        score = found;
        order = std::move(moved);
    }
}

/// Tries all orders, rank by rank. A step counts as contended as soon as messages among the ranks ordered so
/// far meet.
class OrderEnumeration {
   public:
    /// If `shapes` is null, no two nodes count as interchangeable.
    OrderEnumeration(const SubtreeShapes* shapes, OrderScorer& scorer, Order nodes, FreeOrder& best,
                     std::uint64_t work)
        : shapes_(shapes), scorer_(scorer), nodes_(std::move(nodes)), best_(best), work_(work) {
        std::ranges::sort(nodes_);
        used_.resize(nodes_.size());
    }

    /// Whether the search was completed.
    bool run() {
        if (best_.rounds == 0) return true;
        const std::uint64_t rounds = scorer_.score(order_).rounds;
        if (rounds >= best_.rounds) return true;
        if (order_.size() == nodes_.size()) {
            best_ = {order_, rounds, false};
            return true;
        }
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (used_[i] || (shapes_ != nullptr && is_interchangeable_with_earlier(i))) continue;
            if (scorer_.work() > work_) return false;
            used_[i] = true;
            order_.push_back(nodes_[i]);
            const bool complete = run();
            order_.pop_back();
            used_[i] = false;
            if (!complete) return false;
        }
        return true;
    }

   private:
    /// Whether an earlier node is interchangeable with this one: on the same switch, or in a sibling subtree
    /// of the same shape, with no rank in either subtree.
    [[nodiscard]] bool is_interchangeable_with_earlier(std::size_t i) const {
        for (std::size_t other = 0; other < i; ++other) {
            if (used_[other]) continue;
            std::size_t level = 0;
            while (shapes_->subtree(level + 1, nodes_[i]) != shapes_->subtree(level + 1, nodes_[other]))
                ++level;
            if (shapes_->shape(level, nodes_[i]) == shapes_->shape(level, nodes_[other]) &&
                has_no_rank(level, nodes_[i]) && has_no_rank(level, nodes_[other]))
                return true;
        }
        return false;
    }
    [[nodiscard]] bool has_no_rank(std::size_t level, Node node) const {
        return std::ranges::none_of(order_, [&](Node taken) {
            return shapes_->subtree(level, taken) == shapes_->subtree(level, node);
        });
    }

    const SubtreeShapes* shapes_;
    OrderScorer& scorer_;
    Order nodes_;
    FreeOrder& best_;
    std::uint64_t work_;
    Order order_;
    std::vector<bool> used_;
};

void check_nodes(const Machine& machine, std::span<const Node> nodes) {
    Order sorted_nodes(nodes.begin(), nodes.end());
    std::ranges::sort(sorted_nodes);
    if (sorted_nodes.empty()) fail("there are no nodes to order");
    if (sorted_nodes.back().value >= machine.node_count())
        fail("node ", sorted_nodes.back().value, " does not exist: the machine has ", machine.node_count());
    const auto twice = std::ranges::adjacent_find(sorted_nodes);
    if (twice != sorted_nodes.end()) fail("node ", twice->value, " occurs twice among the nodes to order");
    machine.require_usable(nodes, "the order");
}

}  // namespace

FreeOrder find_free_order(const Machine& machine, std::span<const Node> nodes,
                          std::span<const RepeatedStep> steps, ContentionModel meeting, std::uint64_t work,
                          std::uint64_t seed) {
    check_nodes(machine, nodes);
    for (const RepeatedStep& step : steps) require_ranks(step.step, nodes.size());
    OrderScorer scorer(machine, steps, meeting);
    const Order given_order(nodes.begin(), nodes.end());
    std::vector<Order> starts(1, given_order);
    std::ranges::sort(starts.front());
    std::optional<SubtreeShapes> shapes;
    if (const auto* const tree = std::get_if<FatTree>(&machine.topology())) {
        shapes.emplace(*tree, nodes);
        starts.push_back(sort_by_fullness(*shapes, given_order, true));
        starts.push_back(sort_by_fullness(*shapes, given_order, false));
    }
    Order best = given_order;
    OrderScore least = scorer.score(given_order);
    for (const Order& order : starts) {
        if (const OrderScore score = scorer.score(order); score < least) {
            least = score;
            best = order;
        }
    }
    Rng rng(seed);
    improve_order(scorer, best, least, work / 2, rng);
    FreeOrder found{best, least.rounds, false};
    const SubtreeShapes* const alike = meeting == ContentionModel::any_ascent ? &*shapes : nullptr;
    found.proven =
        OrderEnumeration(alike, scorer, given_order, found, std::max(work, scorer.work() + work / 2)).run();
    return found;
}

std::vector<Node> with_gaps(const Machine& machine, std::span<const Node> nodes) {
    check_nodes(machine, nodes);
    const SubtreeShapes shapes(require_fat_tree(machine), nodes);
    std::vector<std::size_t> width(shapes.levels() - 1, 1);  // arity rounded up to a power of two, by level
    for (std::size_t j = 0; j < width.size(); ++j) {
        for (const Node node : nodes)
            width[j] = std::max(width[j], std::bit_ceil(shapes.place_among_siblings(j, node) + 1));
    }
    std::vector<Node> positions;
    Order sorted_nodes(nodes.begin(), nodes.end());
    std::ranges::sort(sorted_nodes);
    for (const Node node : sorted_nodes) {
        std::size_t position = 0;
        std::size_t stride = 1;
        for (std::size_t j = 0; j < width.size(); ++j) {
            position += shapes.place_among_siblings(j, node) * stride;
            stride *= width[j];
        }
        positions.resize(position + 1, no_node);
        positions[position] = node;
    }
    return positions;
}

}  // namespace topoloom
