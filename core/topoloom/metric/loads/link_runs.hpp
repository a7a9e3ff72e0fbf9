// SPDX-License-Identifier: BSD-3-Clause
// Routes as runs of consecutive array positions, so that the loads of a route are contiguous in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/topologies/fat_tree.hpp"
#include "topoloom/machine/topologies/hosted.hpp"
#include "topoloom/machine/topologies/torus.hpp"
#include "topoloom/metric/route_loads.hpp"

namespace topoloom {

/// Properties that links share if they have equal bandwidth and divide messages in the same way: load =
/// amount / ways, congestion = load / bandwidth.
struct LinkRate {
    double bandwidth;
    double ways;  // number of parallel links that share messages equally; an amount is their sum
    [[nodiscard]] double load(double amount) const { return amount / ways; }
    [[nodiscard]] double congestion(double amount) const { return load(amount) / bandwidth; }
};

/// Consecutive links with one rate. Runs can wrap around from the last link of the line to the first.
struct LinkLine {
    std::uint32_t length;  // number of links
    std::uint32_t rate;
};

struct LinkPlace {
    std::uint32_t line;
    std::uint32_t position;
};

/// `amount` on each of `count` links of a line, from position `start` on.
struct LoadRun {
    std::uint32_t line;
    std::uint32_t start;
    std::uint32_t count;
    double amount;
};

/// Returns a quantizer whose range covers all bytes of a placement and the background.
[[nodiscard]] inline LoadQuantizer make_quantizer(Bytes all, double background) {
    return LoadQuantizer(all + Bytes{static_cast<std::int64_t>(std::ceil(background))});
}

/// The lines of a network and the runs of its routes. In this general case every link is a line.
///
/// all, background  bytes of all messages, and the maximum of background bytes on a link
/// line_count       number of lines
/// line             a line by its number; some of its positions may have no link
/// place            line and position of a link
/// point            the representation of a node with the cheapest computation of routes
/// route            calls use(LoadRun) for the runs of a message from a to b; none if a and b are one node
template <class T>
class LinkRuns {
   public:
    using Point = Node;

    LinkRuns(const T& network, Bytes all, double background)
        : network_(network), quantizer_(Bytes{}), rate_(network.link_count()) {
        std::map<std::pair<double, double>, std::uint32_t> known;
        const std::vector<LinkRun> links = network.bandwidth_runs();
        for (std::size_t i = 0; i < links.size(); ++i) {
            const LinkRate rate{links[i].bandwidth.value, count_parallel_links(i, links[i])};
            const auto [entry, is_new] =
                known.try_emplace({rate.bandwidth, rate.ways}, static_cast<std::uint32_t>(rates_.size()));
            if (is_new) rates_.push_back(rate);
            std::fill_n(rate_.begin() + links[i].first.value, links[i].count, entry->second);
        }
        double ways = 1;
        for (const LinkRate& rate : rates_) ways = std::max(ways, rate.ways);
        quantizer_ = make_quantizer(all, background * ways);
    }

    [[nodiscard]] LoadQuantizer quantizer() const { return quantizer_; }
    [[nodiscard]] Point point(Node node) const { return node; }
    [[nodiscard]] std::uint32_t line_count() const { return static_cast<std::uint32_t>(rate_.size()); }
    [[nodiscard]] LinkLine line(std::uint32_t number) const { return {1, rate_[number]}; }
    [[nodiscard]] LinkPlace place(Link link) const { return {link.value, 0}; }
    [[nodiscard]] const std::vector<LinkRate>& rates() const { return rates_; }

    template <class Use>
    void route(Point a, Point b, double bytes, const Use& use) const {
        if (a == b) return;
        network_.route(
            a, b, [&](Link link, double share) { use(LoadRun{link.value, 0, 1, amount(bytes, share)}); });
    }

   private:
    /// On a fat tree that spreads messages evenly, amounts are sums of whole messages, as in RouteLoads.
    static constexpr bool may_spread = std::is_same_v<T, FatTree>;

    /// Number of level-j links over which a fat tree spreads a message: the links above one subtree.
    [[nodiscard]] double count_parallel_links(std::size_t j, const LinkRun& links) const {
        if constexpr (may_spread) {
            if (network_.spec().routing != FatTreeRouting::random) return 1;
            std::size_t subtrees = network_.node_count();
            for (std::size_t i = 0; i < j; ++i) subtrees /= network_.spec().arity[i];
            return static_cast<double>(links.count / 2 / subtrees);
        } else {
            return 1;
        }
    }
    [[nodiscard]] double amount(double bytes, double share) const {
        return may_spread ? bytes : quantizer_.round(bytes * share);
    }

    const T& network_;
    LoadQuantizer quantizer_;
    std::vector<std::uint32_t> rate_;  // by link
    std::vector<LinkRate> rates_;
};

/// On a torus, the links of one direction along an axis form a line, so a message is one run per axis.
template <std::size_t Width>
class LinkRuns<BasicTorus<Width>> {
   public:
    /// For each axis in routing order, the position on the axis, and the sum that the other coordinates
    /// contribute to the line number. Until the route has corrected a coordinate, it is the source's;
    /// afterwards, it is the destination's.
    struct Point {
        std::array<std::int32_t, Width> at;
        std::array<std::uint32_t, Width> line_from;
        std::array<std::uint32_t, Width> line_to;
    };

    LinkRuns(const BasicTorus<Width>& torus, Bytes all, double background)
        : torus_(torus),
          quantizer_(make_quantizer(all, background)),
          split_ties_(torus.spec().ties == TorusTies::split),
          minus_to_(torus.spec().ties == TorusTies::simgrid ? 0 : -1) {
        const std::vector<std::uint32_t>& size = torus.grid();
        for (const LinkRun& run : torus.bandwidth_runs()) {
            rates_.push_back({run.bandwidth.value, 1});
            first_link_.push_back(run.first.value);
        }
        for (const std::uint32_t axis : torus.spec().order) {
            Axis entry{axis, torus.wraps(axis) ? static_cast<std::int32_t>(size[axis]) : 1 << 20, line_count_,
                       1};
            for (std::uint32_t d = 0; d < size.size(); ++d) entry.lines *= d == axis ? 1 : size[d];
            line_count_ += 2 * entry.lines;
            axes_.push_back(entry);
        }
    }

    [[nodiscard]] LoadQuantizer quantizer() const { return quantizer_; }
    [[nodiscard]] const std::vector<LinkRate>& rates() const { return rates_; }
    [[nodiscard]] std::uint32_t line_count() const { return line_count_; }
    [[nodiscard]] LinkLine line(std::uint32_t number) const {
        const auto behind = std::ranges::upper_bound(axes_, number, {}, &Axis::first_line);
        const Axis& axis = *std::prev(behind);
        return {torus_.grid()[axis.number], 2 * axis.number + (number - axis.first_line) / axis.lines};
    }
    [[nodiscard]] LinkPlace place(Link link) const {
        const auto behind = std::ranges::upper_bound(first_link_, link.value);
        const auto rate = static_cast<std::uint32_t>(behind - first_link_.begin()) - 1;
        const LinkEnds ends = torus_.ends(link);
        const Point lower =
            point(Node{(rate % 2 == 0 ? ends.from : ends.to) * torus_.spec().nodes_per_router});
        const auto axis = std::ranges::find(axes_, rate / 2, &Axis::number);
        const auto k = static_cast<std::size_t>(axis - axes_.begin());
        return {axis->first_line + rate % 2 * axis->lines + lower.line_from[k] + lower.line_to[k],
                static_cast<std::uint32_t>(lower.at[k])};
    }

    [[nodiscard]] Point point(Node node) const {
        const auto coordinates = torus_.point(node);
        Point p{};
        for (std::size_t k = 0; k < axes_.size(); ++k) {
            p.at[k] = coordinates.at[axes_[k].number];
            std::uint32_t step = 1;
            for (std::size_t other = 0; other < axes_.size(); ++other) {
                if (other == k) continue;
                const std::uint32_t d = axes_[other].number;
                (other < k ? p.line_to : p.line_from)[k] +=
                    step * static_cast<std::uint32_t>(coordinates.at[d]);
                step *= torus_.grid()[d];
            }
        }
        return p;
    }

    template <class Use>
    void route(const Point& a, const Point& b, double bytes, const Use& use) const {
        for (std::size_t k = 0; k < axes_.size(); ++k) {
            const Axis& axis = axes_[k];
            const std::int32_t x = a.at[k];
            const std::int32_t y = b.at[k];
            if (x == y) continue;
            const std::uint32_t line = axis.first_line + a.line_from[k] + b.line_to[k];
            // Branch-free, because branches would be unpredictable.
            std::int32_t up = y - x;
            up += axis.ring & (up >> 31);
            const std::int32_t down = axis.ring - up;
            const std::int32_t half_way_minus =
                static_cast<std::int32_t>(down == up) & static_cast<std::int32_t>(y == minus_to_);
            const std::int32_t minus = -(static_cast<std::int32_t>(down < up) | half_way_minus);
            const std::int32_t start = x ^ ((x ^ y) & minus);
            const std::int32_t count = up ^ ((up ^ down) & minus);
            const bool split = split_ties_ && up == down;
            const double amount = split ? 0.5 * bytes : bytes;
            use(LoadRun{line + (axis.lines & static_cast<std::uint32_t>(minus)),
                        static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(count), amount});
            if (split) [[unlikely]]
                use(LoadRun{line + axis.lines, static_cast<std::uint32_t>(y),
                            static_cast<std::uint32_t>(down), amount});
        }
    }

   private:
    struct Axis {
        std::uint32_t number;
        std::int32_t ring;         // number of routers on a ring; for a line, so large that no route wraps
        std::uint32_t first_line;  // number of the first + line; the - lines follow the + lines
        std::uint32_t lines;       // number of lines in each direction
    };

    const BasicTorus<Width>& torus_;
    LoadQuantizer quantizer_;
    std::vector<std::uint32_t> first_link_;  // first link of every axis and direction
    std::vector<LinkRate> rates_;            // likewise
    std::vector<Axis> axes_;                 // in routing order
    std::uint32_t line_count_ = 0;
    bool split_ties_;
    std::int32_t minus_to_;  // messages half-way around to this position use -
};

/// The lines between routers, followed by one line per host link.
template <class Base>
class LinkRuns<Hosted<Base>> {
   public:
    struct Point {
        typename LinkRuns<Base>::Point router;
        Node node;
    };

    LinkRuns(const Hosted<Base>& network, Bytes all, double background)
        : network_(network),
          between_(network.router_network(), all, background),
          rates_(between_.rates()),
          first_host_(between_.line_count()) {
        if (!network.has_host_links()) return;
        const LinkRun hosts = network.bandwidth_runs().back();
        rates_.push_back({hosts.bandwidth.value, 1});
        host_count_ = static_cast<std::uint32_t>(hosts.count);
    }

    [[nodiscard]] LoadQuantizer quantizer() const { return between_.quantizer(); }
    [[nodiscard]] Point point(Node node) const { return {between_.point(node), node}; }
    [[nodiscard]] std::uint32_t line_count() const { return first_host_ + host_count_; }
    [[nodiscard]] LinkLine line(std::uint32_t number) const {
        if (number < first_host_) return between_.line(number);
        return {1, static_cast<std::uint32_t>(rates_.size() - 1)};
    }
    [[nodiscard]] LinkPlace place(Link link) const {
        const std::size_t between = network_.router_network().link_count();
        if (link.value < between) return between_.place(link);
        return {line_of(link), 0};
    }
    [[nodiscard]] const std::vector<LinkRate>& rates() const { return rates_; }

    template <class Use>
    void route(const Point& a, const Point& b, double bytes, const Use& use) const {
        if (a.node == b.node) return;
        if (network_.has_host_links()) use(LoadRun{line_of(network_.link_up(a.node)), 0, 1, bytes});
        between_.route(a.router, b.router, bytes, use);
        if (network_.has_host_links()) use(LoadRun{line_of(network_.link_down(b.node)), 0, 1, bytes});
    }

   private:
    [[nodiscard]] std::uint32_t line_of(Link link) const {
        return first_host_ + link.value - static_cast<std::uint32_t>(network_.router_network().link_count());
    }

    const Hosted<Base>& network_;
    LinkRuns<Base> between_;
    std::vector<LinkRate> rates_;
    std::uint32_t first_host_;
    std::uint32_t host_count_ = 0;
};

}  // namespace topoloom
