// SPDX-License-Identifier: BSD-3-Clause
// The links of routes on any machine, listed by one call.
#pragma once

#include <span>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

struct PathLink {
    Link link;
    double part;       // of the bytes
    double bandwidth;  // B/s
    double latency;    // s
};

/// Lists routes into memory of its own, so that what times them is compiled once, not for each topology. Refers to the
/// machine.
class LinkPaths {
   public:
    explicit LinkPaths(const Machine& machine);
    LinkPaths(const LinkPaths&) = delete;
    LinkPaths& operator=(const LinkPaths&) = delete;

    /// The links between two nodes, until the next call.
    [[nodiscard]] std::span<const PathLink> between(Node from, Node to) {
        links_.clear();
        list_(network_, from, to, links_);
        return links_;
    }
    [[nodiscard]] double bandwidth(Link link) const { return view_.bandwidth(link).value; }

   private:
    NetworkView view_;
    const void* network_;  // a common topology, or the view
    void (*list_)(const void* network, Node from, Node to, std::vector<PathLink>& links);
    std::vector<PathLink> links_;
};

}  // namespace topoloom
