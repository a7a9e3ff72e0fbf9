// SPDX-License-Identifier: BSD-3-Clause
// Shortest routes through a network that is known link by link.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/geometry/hop_table.hpp"
#include "topoloom/machine/routing/link.hpp"

namespace topoloom {

/// Distances, and at every vertex the first of its arcs that leads nearer, or all of them. Routes pass only vertices
/// that forward. A node whose vertex has a switch as its only neighbor shares the row of that switch in the table.
class ShortestRoutes {
   public:
    /// A directed link as seen from the vertex that it leaves.
    struct Arc {
        Link link;
        std::uint32_t from;
        std::uint32_t to;
        double weight = 1;  // what it takes of a message beside others
    };
    /// shared: hop by hop, what comes to a vertex leaves it on all arcs that lead nearer, in proportion to their weights.
    enum class Choice { first, shared };

    ShortestRoutes() = default;
    /// `vertex` of every node, `forwards` by vertex, arcs in the order in which equally short routes are chosen.
    /// Throws Error as search_hops() does.
    ShortestRoutes(std::span<const std::uint32_t> vertex, const std::vector<bool>& forwards,
                   std::vector<Arc> arcs, Choice choice = Choice::first);

    /// Between the nodes; pairs without a route are unreached.
    [[nodiscard]] const HopTable& table() const { return table_; }
    /// The same with other hops for some pairs of nodes.
    void except(std::vector<HopTable::Exception> exceptions) { table_.except(std::move(exceptions)); }

    /// Visits the links from the vertex of one node to that of another, which can be reached; a link of a shared route
    /// once, after those that lead to it.
    template <class Visit>
    void route(std::uint32_t from, std::uint32_t to, const Visit& visit) const {
        if (from == to) return;
        std::uint32_t at = from;
        const auto follow = [&](const Arc& arc) {
            visit(arc.link, 1.0);
            at = arc.to;
        };
        if (is_leaf(at)) follow(arcs_[first_[at]]);
        const std::uint32_t end = is_leaf(to) ? arcs_[first_[to]].to : to;
        if (choice_ == Choice::shared) {
            spread(at, end, RouteVisitor(visit));
        } else {
            const std::span<const std::uint16_t> to_end = table_.hops_to(row_[end]);
            while (at != end) follow(next_arc(at, end, to_end));
        }
        if (end != to) follow(arcs_[into_leaf_[to]]);
    }

   private:
    static constexpr std::uint32_t leaf = 0xFFFFFFFFU;

    [[nodiscard]] bool is_leaf(std::uint32_t vertex) const { return row_[vertex] == leaf; }
    [[nodiscard]] const Arc& next_arc(std::uint32_t at, std::uint32_t end,
                                      std::span<const std::uint16_t> to_end) const;
    void spread(std::uint32_t start, std::uint32_t end, const RouteVisitor& visit) const;
    /// Numbers, in arcs_, of those from a vertex that lead nearer to the end, `hops` hops away.
    void find_nearer(std::uint32_t at, std::uint32_t end, std::uint32_t hops,
                     std::vector<std::size_t>& nearer) const;
    [[nodiscard]] std::uint32_t number_rows(std::span<const std::uint32_t> vertex);

    std::vector<bool> forwards_;
    std::vector<Arc> arcs_;               // by vertex that they leave, those to leaves last
    std::vector<std::size_t> first_;      // [v]: first arc that leaves v
    std::vector<std::size_t> into_leaf_;  // [v]: the arc to v, where v is a leaf
    std::vector<std::uint32_t> row_;      // [v]: of the table; `leaf` for vertices that share their switch's
    Choice choice_ = Choice::first;
    HopTable table_;
};

}  // namespace topoloom
