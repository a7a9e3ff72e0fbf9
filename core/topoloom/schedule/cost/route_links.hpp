// SPDX-License-Identifier: BSD-3-Clause
// The links on the route between two nodes of any machine, with their bandwidths and latencies.
#pragma once

#include <span>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

struct RouteLink {
    Link link;
    double part;       // fraction of the bytes that uses the link
    double bandwidth;  // B/s
    double latency;    // s
};

/// Lists routes into its own buffer, so that timers are compiled once, not once per topology. Keeps a reference to the
/// machine.
class RouteLinks {
   public:
    explicit RouteLinks(const Machine& machine);
    RouteLinks(const RouteLinks&) = delete;
    RouteLinks& operator=(const RouteLinks&) = delete;

    /// The links on the route between two nodes. Valid until the next call.
    [[nodiscard]] std::span<const RouteLink> between(Node from, Node to) {
        links_.clear();
        list_(network_, from, to, links_);
        return links_;
    }
    [[nodiscard]] double bandwidth(Link link) const { return view_.bandwidth(link).value; }

   private:
    NetworkView view_;
    const void* network_;  // the machine's topology if it is a common one, otherwise view_
    void (*list_)(const void* network, Node from, Node to, std::vector<RouteLink>& links);
    std::vector<RouteLink> links_;
};

}  // namespace topoloom
