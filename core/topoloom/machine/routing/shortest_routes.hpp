// SPDX-License-Identifier: BSD-3-Clause
// Shortest routes in a network given by a list of links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/geometry/hop_table.hpp"
#include "topoloom/machine/routing/link.hpp"

namespace topoloom {

/// Shortest routes: at each vertex, the first arc that leads nearer to the target, or all such arcs. Routes
/// pass only through vertices that forward messages. If a node's only neighbor is a switch, the node shares
/// the switch's row of the hop table.
class ShortestRoutes {
   public:
    /// A directed link.
    struct Arc {
        Link link;
        std::uint32_t from;
        std::uint32_t to;
        double weight = 1;  // share of a message relative to those of other arcs
    };
    /// shared: at each vertex, traffic is split over all arcs that lead nearer, in proportion to their weights.
    enum class Choice { first, shared };

    ShortestRoutes() = default;
    /// `vertex` has an entry per node, `forwards` an entry per vertex. The order of arcs decides between
    /// equally short routes. Throws the same errors as search_hops().
    ShortestRoutes(std::span<const std::uint32_t> vertex, const std::vector<bool>& forwards,
                   std::vector<Arc> arcs, Choice choice = Choice::first);

    /// Distances between the nodes; pairs without a route are unreached.
    [[nodiscard]] const HopTable& table() const { return table_; }
    /// Replaces the hops of some pairs of nodes.
    void override_hops(std::vector<HopTable::HopOverride> overrides) {
        table_.override_hops(std::move(overrides));
    }

    /// Visits the links of the route between two vertices with nodes. `from` must reach `to`. Each link of a
    /// shared route is visited once, after all its preceding links.
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
            visit_shared_route(at, end, RouteVisitor(visit));
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
    void visit_shared_route(std::uint32_t start, std::uint32_t end, const RouteVisitor& visit) const;
    /// Finds the arcs that lead from vertex `at` nearer to `end`, as indices in arcs_. `at` is `hops` from
    /// `end`.
    void find_nearer_arcs(std::uint32_t at, std::uint32_t end, std::uint32_t hops,
                          std::vector<std::size_t>& nearer) const;
    [[nodiscard]] std::uint32_t number_rows(std::span<const std::uint32_t> vertex);

    std::vector<bool> forwards_;
    std::vector<Arc> arcs_;               // sorted by origin; arcs to leaves last
    std::vector<std::size_t> first_;      // [v]: first arc that leaves v
    std::vector<std::size_t> into_leaf_;  // [v]: the arc to v if v is a leaf
    std::vector<std::uint32_t> row_;      // [v]: row of the table; `leaf` if v shares the row of its switch
    Choice choice_ = Choice::first;
    HopTable table_;
};

}  // namespace topoloom
