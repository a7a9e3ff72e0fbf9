// SPDX-License-Identifier: BSD-3-Clause
// Dragonfly+: groups of leaf and spine switches; global links join the spines of any two groups.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/geometry/hop_table.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/routing/link.hpp"
#include "topoloom/machine/topologies/hosted.hpp"

namespace topoloom {

/// Parameters of a Dragonfly+. Array entries are for links inside groups and between groups.
struct DragonflyPlusSpec {
    std::uint32_t groups = 1;
    std::uint32_t leaves = 1;  // of a group
    std::uint32_t spines = 1;
    std::uint32_t nodes_per_router = 1;  // nodes per leaf, 0 hops apart
    /// Global ports per spine; default: the minimum that links all groups.
    std::optional<std::uint32_t> global_links;
    std::array<BytesPerSecond, 2> bandwidth{BytesPerSecond{1}, BytesPerSecond{1}};
    std::array<Seconds, 2> latency{};
};

/// The network of Shpiner et al. (Dragonfly+: Low Cost Topology for Scaling Datacenters, HiPINEB 2017). In a
/// group, each leaf is linked to each spine. The spines of any two groups have the same number of links, the
/// maximum that the ports allow.
///
/// The global ports of a group are numbered spine by spine. The first port of group g to group t is port t,
/// skipping g itself; further ports to t are `groups - 1` apart. The n-th port to t is linked to the n-th
/// port of t to g. Remaining ports are unused.
///
/// Routes are minimal. Messages are split in equal parts over all spines of the group, or over all links
/// between the two groups.
class DragonflyPlus {
   public:
    using Point = HopTable::Point;

    /// Throws Error for sizes of 0, too few global links, and sizes beyond 32 bits or memory.
    explicit DragonflyPlus(DragonflyPlusSpec spec);

    [[nodiscard]] std::size_t node_count() const { return geometry_.node_count(); }
    [[nodiscard]] std::size_t link_count() const { return link_count_; }
    /// Vertices are all leaves, group by group, then all spines.
    [[nodiscard]] std::size_t vertex_count() const {
        return std::size_t{spec_.groups} * (spec_.leaves + spec_.spines);
    }

    [[nodiscard]] Point point(Node node) const { return geometry_.point(node); }
    [[nodiscard]] std::uint32_t hops(Point a, Point b) const { return geometry_.distance(a, b); }
    [[nodiscard]] std::uint32_t diameter() const { return geometry_.max_distance(); }
    [[nodiscard]] const HopTable& geometry() const { return geometry_; }

    /// Visits a link once for each global link whose path contains it.
    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        const std::uint32_t from = vertex(a);
        const std::uint32_t to = vertex(b);
        if (from == to) return;
        const std::uint32_t here = leaves_.quotient(from);
        const std::uint32_t there = leaves_.quotient(to);
        if (here == there) {
            const double share = 1.0 / spec_.spines;
            for (std::uint32_t spine = 0; spine < spec_.spines; ++spine) visit(link_up(from, spine), share);
            for (std::uint32_t spine = 0; spine < spec_.spines; ++spine) visit(link_down(to, spine), share);
            return;
        }
        const double share = 1.0 / links_between_groups_;
        const auto each = [&](const auto& link_of) {
            for (std::uint32_t n = 0; n < links_between_groups_; ++n) visit(link_of(n), share);
        };
        each([&](std::uint32_t n) { return link_up(from, spine_of_port(here, there, n)); });
        each([&](std::uint32_t n) { return Link{first_global_link(here, there) + n}; });
        each([&](std::uint32_t n) { return link_down(to, spine_of_port(there, here, n)); });
    }

    [[nodiscard]] std::uint32_t vertex(Node node) const { return nodes_.quotient(node.value); }
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const { return spec_.bandwidth[kind_of(link)]; }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const { return spec_.latency[kind_of(link)]; }
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;
    /// The spec, with the number of global links filled in.
    [[nodiscard]] const DragonflyPlusSpec& spec() const { return spec_; }
    [[nodiscard]] std::uint32_t links_between_groups() const { return links_between_groups_; }

   private:
    void measure_hops();
    [[nodiscard]] std::size_t kind_of(Link link) const { return link.value < local_links_ ? 0 : 1; }
    /// The link from a leaf, numbered over all groups, to a spine of its group.
    [[nodiscard]] Link link_up(std::uint32_t leaf, std::uint32_t spine) const {
        return Link{2 * (std::size_t{leaf} * spec_.spines + spine)};
    }
    [[nodiscard]] Link link_down(std::uint32_t leaf, std::uint32_t spine) const {
        return Link{link_up(leaf, spine).value + 1};
    }
    [[nodiscard]] std::uint32_t first_global_link(std::uint32_t from, std::uint32_t to) const {
        return local_links_ + (from * (spec_.groups - 1) + port(from, to)) * links_between_groups_;
    }
    /// The first port of group `from` to group `to`.
    [[nodiscard]] static std::uint32_t port(std::uint32_t from, std::uint32_t to) {
        return to < from ? to : to - 1;
    }
    /// The spine of group `from` with the n-th link to group `to`.
    [[nodiscard]] std::uint32_t spine_of_port(std::uint32_t from, std::uint32_t to, std::uint32_t n) const {
        return ports_.quotient(port(from, to) + n * (spec_.groups - 1));
    }
    [[nodiscard]] std::string router_name(std::uint32_t vertex) const;

    DragonflyPlusSpec spec_;
    Divisor nodes_;   // of a leaf
    Divisor leaves_;  // of a group
    Divisor ports_;   // global ports per spine
    std::uint32_t links_between_groups_ = 0;
    std::uint32_t local_links_ = 0;
    std::size_t link_count_ = 0;
    HopTable geometry_;
};

extern const TopologyNotation<Hosted<DragonflyPlus>> dragonfly_plus_notation;

}  // namespace topoloom
