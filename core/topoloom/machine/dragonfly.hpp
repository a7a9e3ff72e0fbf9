// SPDX-License-Identifier: BSD-3-Clause
// Dragonflies: groups of routers, every two groups joined by global links; minimal, Valiant and adaptive routing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/hop_table.hpp"
#include "topoloom/machine/link.hpp"

namespace topoloom {

/// Which port of group g leads to group t. The global ports of a group are numbered router by router; those to one
/// group lie `groups - 1` apart (direct: `groups`), and the n-th of them is wired to the n-th of those that lead back.
/// The first is port
///
/// consecutive  t, not counting g itself (the absolute arrangement of Kim et al. 2008)
/// palmtree     (g - t - 1) mod groups: the same for every group, seen from itself (Camarero, Vallejo, Beivide 2014)
/// direct       t, with a single link between two groups: router t of every group leads to group t (SimGrid)
enum class DragonflyArrangement { consecutive, palmtree, direct };

/// minimal  over one global link
/// valiant  over a third group, all alike
/// ugal     partly minimal, partly Valiant's, as the load demands; minimal in an idle network
enum class DragonflyRouting { minimal, valiant, ugal };

/// How a dragonfly is built. Lists: of the links inside rows, inside columns, and between groups.
struct DragonflySpec {
    std::uint32_t groups = 1;
    std::uint32_t rows = 1;  // 1: all routers of a group are joined
    std::uint32_t columns = 1;
    std::uint32_t nodes_per_router = 1;         // nodes of one router are 0 hops apart
    std::optional<std::uint32_t> global_links;  // of a router; left out: as few as join all groups
    DragonflyArrangement arrangement = DragonflyArrangement::consecutive;
    DragonflyRouting routing = DragonflyRouting::minimal;
    std::array<BytesPerSecond, 3> bandwidth{BytesPerSecond{1}, BytesPerSecond{1}, BytesPerSecond{1}};
    std::array<Seconds, 3> latency{};
};

/// The dragonfly of Kim, Dally, Scott and Abts (ISCA 2008), with groups of one dimension, where all routers are joined,
/// or two (Cray Cascade), where those of a row and those of a column are. Every two groups have as many links as the
/// ports suffice for; ports left over stay unused.
///
/// Minimal routes stay in the group, or cross one global link: of those between the two groups, the ones with the
/// fewest hops, equal shares. Two global links over a third group can be shorter, and are not taken. Inside a group a
/// message goes along its row first, then along the column. Valiant's routes go minimally to each other group, to
/// whichever router there is the nearest, equal shares, and minimally on (Kim et al., section 4); messages inside a
/// group stay there.
class Dragonfly {
   public:
    struct Point {
        std::uint32_t group;
        std::uint32_t router;  // of the group
        std::uint32_t row;
        std::uint32_t column;
    };

    static constexpr std::uint32_t max_links_between_groups = 1024;

    /// Throws Error for numbers of 0, too few global links, sizes beyond 32 bits or this computer's memory.
    explicit Dragonfly(DragonflySpec spec);

    [[nodiscard]] std::size_t node_count() const { return geometry_.node_count(); }
    [[nodiscard]] std::size_t link_count() const { return link_count_; }
    [[nodiscard]] std::size_t vertex_count() const { return routers_.size(); }

    [[nodiscard]] Point point(Node node) const { return routers_[vertex(node)]; }
    /// Of minimal routes, whatever the routing.
    [[nodiscard]] std::uint32_t hops(const Point& a, const Point& b) const {
        if (a.group == b.group) return local_hops(a, b);
        return 1 + least_local_hops(near(a, port(a.group, b.group)), near(b, port(b.group, a.group)));
    }
    [[nodiscard]] std::uint32_t diameter() const { return geometry_.max_distance(); }
    [[nodiscard]] const HopTable& geometry() const { return geometry_; }

    /// A link is visited once for each of the ways that share it.
    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        mixed_route(a, b, spec_.routing == DragonflyRouting::valiant ? 0 : 1, visit);
    }

    /// Two global links over a third group can be shorter.
    [[nodiscard]] static bool takes_shortest_routes() { return false; }

    /// Whether the split between minimal and Valiant's routes depends on the load.
    [[nodiscard]] bool adapts() const { return spec_.routing == DragonflyRouting::ugal; }
    /// Routes that carry this share minimally and the rest over Valiant's.
    class Mixed {
       public:
        Mixed(const Dragonfly& network, double minimal_share)
            : network_(&network), minimal_share_(minimal_share) {}
        template <class Visit>
        void route(Node a, Node b, const Visit& visit) const {
            network_->mixed_route(a, b, minimal_share_, visit);
        }

       private:
        const Dragonfly* network_;
        double minimal_share_;
    };
    [[nodiscard]] Mixed with_minimal_share(double share) const { return {*this, share}; }

    [[nodiscard]] std::uint32_t vertex(Node node) const { return geometry_.point(node).row; }
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const { return spec_.bandwidth[kind_of(link)]; }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const { return spec_.latency[kind_of(link)]; }
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;
    /// With the number of global links that was chosen, if it was left out.
    [[nodiscard]] const DragonflySpec& spec() const { return spec_; }
    [[nodiscard]] std::uint32_t links_between_groups() const { return links_between_groups_; }

   private:
    /// Links between two groups as seen from a router, a bit for each: in the lower half those that end there, in the
    /// upper half those and the ones that end a hop away. More than 32 links take several words.
    using Near = std::uint64_t;
    static constexpr std::uint32_t links_per_word = 32;

    [[nodiscard]] std::uint32_t routers_per_group() const { return spec_.rows * spec_.columns; }
    [[nodiscard]] static std::uint32_t local_hops(const Point& a, const Point& b) {
        return (a.row == b.row ? 0U : 1U) + (a.column == b.column ? 0U : 1U);
    }
    /// The first port of group `from` that leads to group `to`; computed without a branch that cannot be foreseen. With
    /// mirrored_ all ones, x ^ mirrored_ is -x - 1.
    [[nodiscard]] std::uint32_t port(std::uint32_t from, std::uint32_t to) const {
        const std::uint32_t beyond = 0U - static_cast<std::uint32_t>(to > from);
        return (to ^ mirrored_) + (from & mirrored_) + (beyond_ & beyond);
    }
    /// The links of a router's group that start at port, port + port_stride_, ..., as seen from the router.
    [[nodiscard]] const Near* near(const Point& p, std::uint32_t port) const {
        return near_.data() + std::size_t{port} * near_stride_ + std::size_t{p.router} * words_;
    }

    /// Links that need at most so many hops inside the two groups. Each set holds the one before.
    [[nodiscard]] static std::uint32_t within(std::uint32_t local, Near a, Near b) {
        const auto lower = [](Near near) { return static_cast<std::uint32_t>(near); };
        const auto upper = [](Near near) { return static_cast<std::uint32_t>(near >> links_per_word); };
        const Near crossed = a & std::rotl(b, links_per_word);
        const std::array<std::uint32_t, 5> links{lower(a & b), lower(crossed) | upper(crossed),
                                                 upper(a & b) | lower(a | b), upper(a | b), ~0U};
        return links[local];
    }
    [[nodiscard]] static std::uint32_t local_hops(Near a, Near b) {
        const auto some = [&](std::uint32_t local) { return within(local, a, b) != 0 ? 1U : 0U; };
        return 4 - some(0) - some(1) - some(2) - some(3);
    }
    [[nodiscard]] std::uint32_t least_local_hops(const Near* a, const Near* b) const {
        std::uint32_t least = local_hops(*a, *b);
        for (std::uint32_t w = 1; w < words_; ++w) least = std::min(least, local_hops(a[w], b[w]));
        return least;
    }
    /// Calls use(number of the link, its part of the share) for the links with the fewest hops inside the two groups.
    template <class Use>
    void best_links(const Near* a, const Near* b, double share, const Use& use) const {
        const std::uint32_t local = least_local_hops(a, b);
        const auto best = [&](std::uint32_t w) {
            return within(local, a[w], b[w]) & static_cast<std::uint32_t>(every_link_[w]);
        };
        if (words_ == 1 && std::has_single_bit(best(0)))  // as on most dragonflies; spares the counting
            return use(static_cast<std::uint32_t>(std::countr_zero(best(0))), share);
        int count = 0;
        for (std::uint32_t w = 0; w < words_; ++w) count += std::popcount(best(w));
        for (std::uint32_t w = 0; w < words_; ++w) {
            for (std::uint32_t left = best(w); left != 0; left &= left - 1) {
                use(links_per_word * w + static_cast<std::uint32_t>(std::countr_zero(left)), share / count);
            }
        }
    }

    template <class Visit>
    void local_route(const Point& a, const Point& b, double share, const Visit& visit) const {
        const std::uint32_t first = a.group * routers_per_group();
        if (a.column != b.column) {
            const std::uint32_t other = b.column - (b.column > a.column ? 1 : 0);
            visit(Link{(first + a.router) * (spec_.columns - 1) + other}, share);
        }
        if (a.row != b.row) {
            const std::uint32_t corner = first + a.row * spec_.columns + b.column;
            const std::uint32_t other = b.row - (b.row > a.row ? 1 : 0);
            visit(Link{first_link_[1] + corner * (spec_.rows - 1) + other}, share);
        }
    }
    /// From a over link `number` of those to the group; the router where it ends.
    template <class Visit>
    [[nodiscard]] Point cross(const Point& a, std::uint32_t to_group, std::uint32_t number, double share,
                              const Visit& visit) const {
        const std::uint32_t out = port(a.group, to_group) + number * port_stride_;
        const std::uint32_t in = port(to_group, a.group) + number * port_stride_;
        local_route(a, at_port(a.group, out), share, visit);
        visit(global_link(a.group, to_group, number), share);
        return at_port(to_group, in);
    }
    [[nodiscard]] const Point& at_port(std::uint32_t group, std::uint32_t port) const {
        return routers_[group * routers_per_group() + router_of_port_[port]];
    }
    [[nodiscard]] Link global_link(std::uint32_t from, std::uint32_t to, std::uint32_t number) const {
        const std::uint32_t other = to - (to > from ? 1 : 0);
        return Link{first_link_[2] + (from * (spec_.groups - 1) + other) * links_between_groups_ + number};
    }

    template <class Visit>
    void minimal_route(const Point& a, const Point& b, double share, const Visit& visit) const {
        if (a.group == b.group) return local_route(a, b, share, visit);
        best_links(near(a, port(a.group, b.group)), near(b, port(b.group, a.group)), share,
                   [&](std::uint32_t number, double part) {
                       local_route(cross(a, b.group, number, part, visit), b, part, visit);
                   });
    }
    template <class Visit>
    void valiant_route(const Point& a, const Point& b, double share, const Visit& visit) const {
        if (a.group == b.group || spec_.groups == 2) return minimal_route(a, b, share, visit);
        const double part_of_group = share / (spec_.groups - 2);
        for (std::uint32_t via = 0; via < spec_.groups; ++via) {
            if (via == a.group || via == b.group) continue;
            best_links(near(a, port(a.group, via)), every_link_.data(), part_of_group,
                       [&](std::uint32_t number, double part) {
                           minimal_route(cross(a, via, number, part, visit), b, part, visit);
                       });
        }
    }
    template <class Visit>
    void mixed_route(Node from, Node to, double minimal_share, const Visit& visit) const {
        const Point a = point(from);
        const Point b = point(to);
        if (minimal_share > 0) minimal_route(a, b, minimal_share, visit);
        if (minimal_share < 1) valiant_route(a, b, 1 - minimal_share, visit);
    }

    void place_routers();
    void place_ports();
    void measure_hops();
    /// 0: inside a row, 1: inside a column, 2: between groups.
    [[nodiscard]] std::size_t kind_of(Link link) const {
        return link.value >= first_link_[2] ? 2 : link.value >= first_link_[1] ? 1 : 0;
    }

    DragonflySpec spec_;
    std::uint32_t links_between_groups_ = 0;
    std::uint32_t port_stride_ = 0;
    std::uint32_t mirrored_ = 0;                 // all ones: ports lead to groups in falling order
    std::uint32_t beyond_ = 0;                   // what is added for groups of a higher number
    std::array<std::uint32_t, 3> first_link_{};  // of each kind
    std::size_t link_count_ = 0;
    std::vector<Point> routers_;
    std::vector<std::uint32_t> router_of_port_;  // the same in every group
    std::uint32_t words_ = 0;                    // Near of a router and a group
    std::size_t near_stride_ = 0;                // of all routers of a group and another group
    std::vector<Near> near_;                     // [port * near_stride_ + router * words_ + w]
    std::vector<Near> every_link_;               // as seen from where all links are at hand
    HopTable geometry_;
};

}  // namespace topoloom
