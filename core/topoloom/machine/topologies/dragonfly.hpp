// SPDX-License-Identifier: BSD-3-Clause
// Dragonflies: groups of routers with global links between every two groups; minimal, Valiant and adaptive
// routing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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

/// Which global ports of group g lead to group t. The global ports of a group are numbered router by router.
/// Ports to the same group are `groups - 1` apart (direct: `groups`). The n-th port to t is linked to the
/// n-th port of t to g. The first port to t is
///
/// consecutive  port t, skipping g itself (the absolute arrangement of Kim et al. 2008)
/// palmtree     port (g - t - 1) mod groups (Camarero, Vallejo, Beivide 2014)
/// direct       port t, the only port to t: router t of each group is linked to group t (SimGrid)
enum class DragonflyArrangement { consecutive, palmtree, direct };

/// minimal  over one global link
/// valiant  over a third group, in equal parts over all such groups
/// ugal     partly minimal and partly Valiant routes, depending on the load; minimal in an idle network
enum class DragonflyRouting { minimal, valiant, ugal };

/// Parameters of a dragonfly. Array entries are for links inside rows, inside columns, and between groups.
struct DragonflySpec {
    std::uint32_t groups = 1;
    std::uint32_t rows = 1;  // if 1, all routers of a group are linked
    std::uint32_t columns = 1;
    std::uint32_t nodes_per_router = 1;  // nodes of one router are 0 hops apart
    /// Global ports per router; default: the minimum that links all groups.
    std::optional<std::uint32_t> global_links;
    DragonflyArrangement arrangement = DragonflyArrangement::consecutive;
    DragonflyRouting routing = DragonflyRouting::minimal;
    std::array<BytesPerSecond, 3> bandwidth{BytesPerSecond{1}, BytesPerSecond{1}, BytesPerSecond{1}};
    std::array<Seconds, 3> latency{};
};

/// The dragonfly of Kim, Dally, Scott and Abts (ISCA 2008). All routers of a one-dimensional group are
/// linked. In a two-dimensional group (Cray Cascade) all routers of a row and all routers of a column are
/// linked. Any two groups have the same number of links, the maximum that the ports allow; remaining ports
/// are unused.
///
/// A minimal route stays in the group or crosses one global link. Among routes with the fewest hops, messages
/// are split in equal shares. Routes over two global links are not used, even if they are shorter. Inside a
/// group a message moves along its row first, then along the column. Valiant routes pass through every third
/// group in equal shares: minimally to its nearest router, then minimally to the target (Kim et al., section
/// 4). Messages inside a group do not leave it.
class Dragonfly {
   public:
    using Point = HopTable::Point;

    static constexpr std::uint32_t max_links_between_groups = 1024;

    /// Throws Error for sizes of 0, too few global links, and sizes beyond 32 bits or memory.
    explicit Dragonfly(DragonflySpec spec);

    [[nodiscard]] std::size_t node_count() const { return geometry_.node_count(); }
    [[nodiscard]] std::size_t link_count() const { return link_count_; }
    [[nodiscard]] std::size_t vertex_count() const { return routers_.size(); }

    [[nodiscard]] Point point(Node node) const { return geometry_.point(node); }
    /// Hops of minimal routes, for any routing.
    [[nodiscard]] std::uint32_t hops(Point a, Point b) const { return geometry_.distance(a, b); }
    [[nodiscard]] std::uint32_t diameter() const { return geometry_.max_distance(); }
    [[nodiscard]] const HopTable& geometry() const { return geometry_; }

    /// Visits a link once for every path that contains it.
    template <class Visit>
    [[gnu::always_inline]] void route(Node a, Node b, const Visit& visit) const {
        mixed_route(a, b, spec_.routing == DragonflyRouting::valiant ? 0 : 1, visit);
    }

    /// Returns false if a route over a third group, with two global links, can be shorter.
    [[nodiscard]] static bool takes_shortest_routes() { return false; }

    /// Whether the split between minimal and Valiant routes depends on the load.
    [[nodiscard]] bool is_adaptive() const { return spec_.routing == DragonflyRouting::ugal; }
    /// Makes routes with this share on minimal routes and the rest on Valiant routes.
    class MixedRoutes {
       public:
        MixedRoutes(const Dragonfly& network, double minimal_share)
            : network_(&network), minimal_share_(minimal_share) {}
        template <class Visit>
        void route(Node a, Node b, const Visit& visit) const {
            network_->mixed_route(a, b, minimal_share_, visit);
        }

       private:
        const Dragonfly* network_;
        double minimal_share_;
    };
    [[nodiscard]] MixedRoutes with_minimal_share(double share) const { return {*this, share}; }

    [[nodiscard]] std::uint32_t vertex(Node node) const { return nodes_per_router_.quotient(node.value); }
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const { return spec_.bandwidth[kind_of(link)]; }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const { return spec_.latency[kind_of(link)]; }
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;
    /// The spec, with the number of global links filled in.
    [[nodiscard]] const DragonflySpec& spec() const { return spec_; }
    [[nodiscard]] std::uint32_t links_between_groups() const { return links_between_groups_; }

   private:
    /// The position of a router in its group.
    struct GroupPlace {
        std::uint32_t number;
        std::uint32_t row;
        std::uint32_t column;
    };
    struct Router {
        std::uint32_t group;
        GroupPlace place;
    };
    /// A bit set of the links between two groups, relative to a router. Bits in the lower half are links at
    /// the router; bits in the upper half are links at most one hop away. More than 32 links need several
    /// words.
    using NearLinks = std::uint64_t;
    static constexpr std::uint32_t links_per_word = 32;

    [[nodiscard]] std::uint32_t routers_per_group() const { return spec_.rows * spec_.columns; }
    [[nodiscard]] static std::uint32_t local_hops(const GroupPlace& a, const GroupPlace& b) {
        return (a.row == b.row ? 0U : 1U) + (a.column == b.column ? 0U : 1U);
    }
    /// The first port of group `from` to group `to`, computed without unpredictable branches: x ^ mirrored_
    /// is -x - 1 if mirrored_ is all ones.
    [[nodiscard]] std::uint32_t port(std::uint32_t from, std::uint32_t to) const {
        const std::uint32_t beyond = 0U - static_cast<std::uint32_t>(to > from);
        return (to ^ mirrored_) + (from & mirrored_) + (beyond_ & beyond);
    }
    /// The links at ports port, port + port_stride_, ... of the router's group, relative to the router.
    [[nodiscard]] const NearLinks* near_links(const GroupPlace& place, std::uint32_t port) const {
        return near_.data() + std::size_t{port} * near_stride_ + std::size_t{place.number} * words_;
    }

    /// [n]: the set of links with at most n hops inside the two groups. Each set includes the previous set.
    [[nodiscard]] static std::array<std::uint32_t, 5> links_by_hops(NearLinks a, NearLinks b) {
        const auto lower = [](NearLinks near) { return static_cast<std::uint32_t>(near); };
        const auto upper = [](NearLinks near) { return static_cast<std::uint32_t>(near >> links_per_word); };
        const NearLinks crossed = a & std::rotl(b, links_per_word);
        return {lower(a & b), lower(crossed) | upper(crossed), upper(a & b) | lower(a | b), upper(a | b),
                ~0U};
    }
    /// The fewest hops inside the two groups, which is the number of empty sets; branch-free.
    [[nodiscard]] static std::uint32_t min_local_hops(NearLinks a, NearLinks b) {
        const auto links = links_by_hops(a, b);
        std::uint32_t least = 0;
        for (std::uint32_t local = 0; local < 4; ++local) least += links[local] == 0 ? 1U : 0U;
        return least;
    }
    [[nodiscard]] std::uint32_t min_local_hops(const NearLinks* a, const NearLinks* b) const {
        std::uint32_t least = 4;
        for (std::uint32_t w = 0; w < words_; ++w) least = std::min(least, min_local_hops(a[w], b[w]));
        return least;
    }
    /// Returns those links of a word that need the fewest hops inside the two groups; branch-free.
    [[nodiscard]] std::uint32_t nearest_links(NearLinks a, NearLinks b) const {
        const auto [none, one, two, three, four] = links_by_hops(a, b);
        std::uint32_t links = three != 0 ? three : four;
        links = two != 0 ? two : links;
        links = one != 0 ? one : links;
        return (none != 0 ? none : links) & static_cast<std::uint32_t>(every_link_[0]);
    }
    /// Calls use(link number, share of the link) for the links with the fewest hops inside the two groups.
    template <class Use>
    void for_each_best_link(const NearLinks* a, const NearLinks* b, double share, const Use& use) const {
        if (links_between_groups_ == 1) return use(0U, share);
        if (words_ == 1) return for_each_link(nearest_links(*a, *b), share, use);
        const std::uint32_t local = min_local_hops(a, b);
        const auto best = [&](std::uint32_t w) {
            return links_by_hops(a[w], b[w])[local] & static_cast<std::uint32_t>(every_link_[w]);
        };
        int count = 0;
        for (std::uint32_t w = 0; w < words_; ++w) count += std::popcount(best(w));
        for (std::uint32_t w = 0; w < words_; ++w) {
            for (std::uint32_t links = best(w); links != 0; links &= links - 1)
                use(links_per_word * w + static_cast<std::uint32_t>(std::countr_zero(links)), share / count);
        }
    }
    template <class Use>
    [[gnu::always_inline]] static void for_each_link(std::uint32_t links, double share, const Use& use) {
        double part = share;
        // Avoids a division if there is one link.
        if ((links & (links - 1)) != 0) part /= std::popcount(links);
        for (; links != 0; links &= links - 1) use(static_cast<std::uint32_t>(__builtin_ctz(links)), part);
    }

    // Inlined, since calls would dominate such short routes: visitors would have to store their sums in
    // memory.
    template <class Visit>
    [[gnu::always_inline]] void local_route(std::uint32_t group, const GroupPlace& a, const GroupPlace& b,
                                            double share, const Visit& visit) const {
        const std::uint32_t first = group * routers_per_group();
        if (a.column != b.column) {
            const std::uint32_t column = b.column - (b.column > a.column ? 1 : 0);
            visit(Link{(first + a.number) * (spec_.columns - 1) + column}, share);
        }
        if (a.row != b.row) {
            const std::uint32_t corner = first + a.row * spec_.columns + b.column;
            const std::uint32_t row = b.row - (b.row > a.row ? 1 : 0);
            visit(Link{first_link_[1] + corner * (spec_.rows - 1) + row}, share);
        }
    }
    /// Visits the route from `a` over link `number` to another group. Returns the router at the end of that
    /// link, as a position in its group.
    template <class Visit>
    [[gnu::always_inline]] const GroupPlace& route_to_group(const Router& a, std::uint32_t to_group,
                                                            std::uint32_t number, double share,
                                                            const Visit& visit) const {
        local_route(a.group, a.place, place_of_port_[port(a.group, to_group) + number * port_stride_], share,
                    visit);
        visit(Link{global_link(a.group, to_group, number)}, share);
        return place_of_port_[port(to_group, a.group) + number * port_stride_];
    }
    [[nodiscard]] std::uint32_t global_link(std::uint32_t from, std::uint32_t to,
                                            std::uint32_t number) const {
        const std::uint32_t other = to - (to > from ? 1 : 0);
        return first_link_[2] + (from * (spec_.groups - 1) + other) * links_between_groups_ + number;
    }

    template <class Visit>
    [[gnu::always_inline]] void minimal_route(const Router& a, const Router& b, double share,
                                              const Visit& visit) const {
        if (a.group == b.group) return local_route(a.group, a.place, b.place, share, visit);
        for_each_best_link(
            near_links(a.place, port(a.group, b.group)), near_links(b.place, port(b.group, a.group)), share,
            [&](std::uint32_t number, double part) {
                local_route(b.group, route_to_group(a, b.group, number, part, visit), b.place, part, visit);
            });
    }
    template <class Visit>
    [[gnu::noinline]] void valiant_route(const Router& a, const Router& b, double share,
                                         const Visit& visit) const {
        const double part_of_group = share / (spec_.groups - 2);
        for (std::uint32_t via = 0; via < spec_.groups; ++via) {
            if (via == a.group || via == b.group) continue;
            for_each_best_link(near_links(a.place, port(a.group, via)), every_link_.data(), part_of_group,
                               [&](std::uint32_t number, double part) {
                                   const GroupPlace& entry = route_to_group(a, via, number, part, visit);
                                   minimal_route({via, entry}, b, part, visit);
                               });
        }
    }
    template <class Visit>
    [[gnu::always_inline]] void mixed_route(Node from, Node to, double minimal_share,
                                            const Visit& visit) const {
        const Router& a = routers_[vertex(from)];
        const Router& b = routers_[vertex(to)];
        const bool detours = minimal_share < 1 && a.group != b.group && spec_.groups > 2;
        if (!detours || minimal_share > 0) minimal_route(a, b, detours ? minimal_share : 1, visit);
        if (detours) [[unlikely]]
            valiant_route(a, b, 1 - minimal_share, visit);
    }

    void locate_routers();
    void locate_ports();
    void measure_hops();
    /// Writes the hops from all routers to `router`.
    void measure_hops_to(std::uint32_t router, std::uint16_t* hops) const;
    /// The kind of a link: 0 inside a row, 1 inside a column, 2 between groups.
    [[nodiscard]] std::size_t kind_of(Link link) const {
        return link.value >= first_link_[2] ? 2 : link.value >= first_link_[1] ? 1 : 0;
    }

    DragonflySpec spec_;
    std::uint32_t links_between_groups_ = 0;
    std::uint32_t port_stride_ = 0;
    std::uint32_t mirrored_ = 0;  // all ones if ports lead to groups in descending order, else 0
    std::uint32_t beyond_ = 0;    // added to port numbers for groups above the own group
    std::array<std::uint32_t, 3> first_link_{};  // first link id of each kind
    std::size_t link_count_ = 0;
    Divisor nodes_per_router_;
    std::vector<Router> routers_;
    /// [global port of a group]: position of its router; the same in every group.
    std::vector<GroupPlace> place_of_port_;
    std::uint32_t words_ = 0;            // words per NearLinks set
    std::size_t near_stride_ = 0;        // words per port, for all routers of a group
    std::vector<NearLinks> near_;        // [port * near_stride_ + router * words_ + w]
    std::vector<NearLinks> every_link_;  // the set of all links, in the form of links at one router
    HopTable geometry_;
};

extern const TopologyNotation<Hosted<Dragonfly>> dragonfly_notation;

}  // namespace topoloom
