// SPDX-License-Identifier: BSD-3-Clause
// The routes between all nodes of a small allocation, and the links on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::dense {

/// A link of a route, numbered within the table, and the share of the message that crosses it.
struct RoutedLink {
    std::uint32_t link;
    double share;
};

/// Memory and construction time are O(nodes^2 * hops).
class RouteTable {
   public:
    explicit RouteTable(const Allocation& allocation);

    [[nodiscard]] std::size_t node_count() const { return nodes_; }
    /// The links from one node to another, in the order of the route. Nodes are indices of
    /// Allocation::nodes().
    [[nodiscard]] std::span<const RoutedLink> route(std::size_t from, std::size_t to) const {
        return routes_[from * nodes_ + to];
    }
    /// Network latency in seconds, without the latency of nodes.
    [[nodiscard]] double latency(std::size_t from, std::size_t to) const {
        return latency_[from * nodes_ + to];
    }
    /// Seconds per byte of a message on the slowest link of the route.
    [[nodiscard]] double transfer(std::size_t from, std::size_t to) const {
        return transfer_[from * nodes_ + to];
    }
    /// The links on any of the routes.
    [[nodiscard]] std::span<const Link> links() const { return links_; }
    /// Seconds per byte of each link.
    [[nodiscard]] std::span<const double> link_costs() const { return link_costs_; }
    /// Latency of each link in seconds.
    [[nodiscard]] std::span<const double> link_latencies() const { return link_latencies_; }

   private:
    std::size_t nodes_;
    std::vector<std::vector<RoutedLink>> routes_;
    std::vector<double> latency_;
    std::vector<double> transfer_;
    std::vector<Link> links_;
    std::vector<double> link_costs_;
    std::vector<double> link_latencies_;
};

}  // namespace topoloom::dense
