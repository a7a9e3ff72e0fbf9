// SPDX-License-Identifier: BSD-3-Clause
// Routes as runs of places: where loads lie so that the links of a route are neighbors in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/fat_tree.hpp"
#include "topoloom/machine/torus.hpp"
#include "topoloom/metric/route_loads.hpp"

namespace topoloom {

/// Links whose loads mean the same: a load is amount / ways bytes, and its congestion that / bandwidth.
struct LinkRate {
    double bandwidth;
    double ways;  // over which a message is split equally; amounts are those of all of them together
    [[nodiscard]] double load(double amount) const { return amount / ways; }
    [[nodiscard]] double congestion(double amount) const { return load(amount) / bandwidth; }
};

/// `amount` on each of the `count` places from `first`, all of one rate.
struct LoadRun {
    std::uint32_t first;
    std::uint32_t count;
    std::uint32_t rate;
    double amount;
    [[nodiscard]] LoadRun negative() const { return {first, count, rate, -amount}; }
};

/// For sums of all bytes that a placement sends, and of a background.
[[nodiscard]] inline Grain grain_for(Bytes all, double background) {
    return Grain(all + Bytes{static_cast<std::int64_t>(std::ceil(background))});
}

/// In general every link is a place and a run.
///
/// all, background  what all messages together, and other traffic on any one link, add up to at the most
/// point          of a node, from which routes are cheapest
/// route          calls use(LoadRun) for what bytes from a to b put on links; nothing where a and b are one node
/// place, rate    of a link; places are numbered 0 .. place_count() - 1, and some may belong to no link
template <class T>
class LinkRuns {
   public:
    using Point = Node;

    LinkRuns(const T& network, Bytes all, double background)
        : network_(network), grain_(Bytes{}), rate_(network.link_count()) {
        std::map<std::pair<double, double>, std::uint32_t> known;
        const std::vector<LinkRun> links = network.bandwidth_runs();
        for (std::size_t i = 0; i < links.size(); ++i) {
            const LinkRate rate{links[i].bandwidth.value, ways(i, links[i])};
            const auto [entry, is_new] =
                known.try_emplace({rate.bandwidth, rate.ways}, static_cast<std::uint32_t>(rates_.size()));
            if (is_new) rates_.push_back(rate);
            std::fill_n(rate_.begin() + links[i].first.value, links[i].count, entry->second);
        }
        double ways = 1;
        for (const LinkRate& rate : rates_) ways = std::max(ways, rate.ways);
        grain_ = grain_for(all, background * ways);
    }

    [[nodiscard]] Grain grain() const { return grain_; }
    [[nodiscard]] Point point(Node node) const { return node; }
    [[nodiscard]] std::size_t place_count() const { return rate_.size(); }
    [[nodiscard]] std::uint32_t place(Link link) const { return link.value; }
    [[nodiscard]] std::uint32_t rate(Link link) const { return rate_[link.value]; }
    [[nodiscard]] const std::vector<LinkRate>& rates() const { return rates_; }

    template <class Use>
    void route(Point a, Point b, double bytes, const Use& use) const {
        if (a == b) return;
        network_.route(a, b, [&](Link link, double share) {
            use(LoadRun{link.value, 1, rate_[link.value], amount(bytes, share)});
        });
    }

   private:
    /// A fat tree that spreads messages evenly adds up whole ones, as RouteLoads does.
    static constexpr bool may_spread = std::is_same_v<T, FatTree>;

    /// Of a fat tree's links of level j that spread messages: as many as lie above one subtree.
    [[nodiscard]] double ways(std::size_t j, const LinkRun& links) const {
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
        return may_spread ? bytes : grain_.round(bytes * share);
    }

    const T& network_;
    Grain grain_;
    std::vector<std::uint32_t> rate_;  // by link
    std::vector<LinkRate> rates_;
};

/// On a torus the links of a line lie side by side, so that a message is one or two runs along every axis.
template <std::size_t Width>
class LinkRuns<BasicTorus<Width>> {
   public:
    using Point = typename BasicTorus<Width>::Point;

    LinkRuns(const BasicTorus<Width>& torus, Bytes all, double background)
        : torus_(torus),
          grain_(grain_for(all, background)),
          links_(torus.bandwidth_runs()),
          split_ties_(torus.spec().split_ties) {
        const auto& size = torus.grid();
        for (const std::uint32_t axis : torus.spec().order) {
            Lines lines{axis, torus.wraps(axis) ? static_cast<std::int32_t>(size[axis]) : 0, {}, {}};
            std::uint32_t step = size[axis];
            for (std::uint32_t d = 0; d < size.size(); ++d) {
                lines.step[d] = d == axis ? 1 : std::exchange(step, step * size[d]);
            }
            lines.first = {places_, places_ + step};
            places_ += 2 * std::size_t{step};
            lines_.push_back(lines);
        }
        for (const LinkRun& run : links_) rates_.push_back({run.bandwidth.value, 1});
    }

    [[nodiscard]] Grain grain() const { return grain_; }
    [[nodiscard]] Point point(Node node) const { return torus_.point(node); }
    [[nodiscard]] std::size_t place_count() const { return places_; }
    [[nodiscard]] std::uint32_t place(Link link) const {
        const std::uint32_t rate_of_link = rate(link);
        const auto lines = std::ranges::find(lines_, rate_of_link / 2, &Lines::axis);
        const LinkEnds ends = torus_.ends(link);
        const Point lower = at_vertex(rate_of_link % 2 == 0 ? ends.from : ends.to);
        return first_of_line(*lines, rate_of_link % 2, lower) +
               static_cast<std::uint32_t>(lower.at[lines->axis]);
    }
    /// Axis by axis, the + links first.
    [[nodiscard]] std::uint32_t rate(Link link) const {
        const auto behind = std::ranges::upper_bound(links_, link.value, {},
                                                     [](const LinkRun& run) { return run.first.value; });
        return static_cast<std::uint32_t>(behind - links_.begin()) - 1;
    }
    [[nodiscard]] const std::vector<LinkRate>& rates() const { return rates_; }

    template <class Use>
    void route(const Point& a, const Point& b, double bytes, const Use& use) const {
        Point at = a;
        for (const Lines& lines : lines_) {
            const std::int32_t x = at.at[lines.axis];
            const std::int32_t y = b.at[lines.axis];
            if (x == y) continue;
            const std::int32_t up = y > x ? y - x : y - x + lines.ring;
            const std::int32_t down = lines.ring - up;
            const bool plus = lines.ring == 0 ? up > 0 : up <= down;
            const bool split = split_ties_ && up == down;
            const double amount = split ? 0.5 * bytes : bytes;
            along(lines, plus ? 0 : 1, at, plus ? x : y,
                  plus              ? up
                  : lines.ring == 0 ? -up
                                    : down,
                  amount, use);
            if (split) along(lines, 1, at, y, down, amount, use);
            at.at[lines.axis] = b.at[lines.axis];
        }
    }

   private:
    /// The links along one axis.
    struct Lines {
        std::uint32_t axis;
        std::int32_t ring;                      // routers on a ring; 0: a line with two ends
        std::array<std::uint32_t, Width> step;  // what a step along an axis adds to a place
        std::array<std::size_t, 2> first;       // place of the first link of each sign
    };

    [[nodiscard]] Point at_vertex(std::uint32_t vertex) const {
        return torus_.point(Node{vertex * torus_.spec().nodes_per_router});
    }
    [[nodiscard]] std::uint32_t first_of_line(const Lines& lines, std::uint32_t sign, const Point& at) const {
        std::uint32_t place = static_cast<std::uint32_t>(lines.first[sign]);
        for (const Lines& other : lines_) {
            if (other.axis != lines.axis)
                place += static_cast<std::uint32_t>(at.at[other.axis]) * lines.step[other.axis];
        }
        return place;
    }
    /// Along the line through `at`, from position start on.
    template <class Use>
    void along(const Lines& lines, std::uint32_t sign, const Point& at, std::int32_t start,
               std::int32_t length, double amount, const Use& use) const {
        const std::uint32_t line = first_of_line(lines, sign, at);
        const std::uint32_t rate = 2 * lines.axis + sign;
        const auto first = static_cast<std::uint32_t>(start);
        const auto count = static_cast<std::uint32_t>(length);
        const auto ring = static_cast<std::uint32_t>(lines.ring);
        if (lines.ring == 0 || first + count <= ring) return use(LoadRun{line + first, count, rate, amount});
        use(LoadRun{line + first, ring - first, rate, amount});
        use(LoadRun{line, first + count - ring, rate, amount});
    }

    const BasicTorus<Width>& torus_;
    Grain grain_;
    std::vector<LinkRun> links_;
    std::vector<LinkRate> rates_;
    std::vector<Lines> lines_;  // in the order in which routes correct axes
    std::size_t places_ = 0;
    bool split_ties_;
};

}  // namespace topoloom
