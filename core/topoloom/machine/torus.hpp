// SPDX-License-Identifier: BSD-3-Clause
// k-ary n-cubes: tori and meshes of any extents, with dimension-ordered routing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/link.hpp"
#include "topoloom/machine/split_key.hpp"

namespace topoloom {

/// How a torus or mesh is built. Vectors hold one entry per axis.
struct TorusSpec {
    std::vector<std::uint32_t> size;
    std::vector<bool> wrap;              // empty: all axes are rings
    std::uint32_t nodes_per_router = 1;  // nodes of one router are 0 hops apart
    std::vector<std::uint32_t> order;    // axes in the order routing corrects them; empty: 0, 1, 2 ...
    std::vector<std::array<BytesPerSecond, 2>> bandwidth;  // of the + and - links; empty: 1 B/s
    std::vector<std::array<Seconds, 2>> latency;           // empty: 0
    bool split_ties = false;  // half-way round a ring: half each way instead of all +
};

/// A torus or mesh of up to `Width` axes. Routers are numbered row-major (the last axis varies fastest), nodes
/// router by router. A message corrects one axis after the other, each the shorter way round; half-way goes + unless
/// split_ties (Sudheer 2012, ch. 3). Links: one each way between neighbouring routers, numbered axis by axis.
template <std::size_t Width>
class BasicTorus {
   public:
    using Coordinate = std::int16_t;
    struct alignas(16) Point {
        std::array<Coordinate, Width> at{};
    };

    static constexpr std::uint32_t max_extent = 16384;  // differences must fit a Coordinate

    /// Throws Error for bad extents, orders that are no permutation, or vectors of the wrong length.
    explicit BasicTorus(TorusSpec spec);

    [[nodiscard]] std::size_t node_count() const { return router_count_ * spec_.nodes_per_router; }
    [[nodiscard]] std::size_t link_count() const { return link_count_; }
    [[nodiscard]] std::size_t vertex_count() const { return router_count_; }
    [[nodiscard]] std::uint32_t axis_count() const { return static_cast<std::uint32_t>(spec_.size.size()); }

    [[nodiscard]] Point point(Node node) const { return router_point(vertex(node)); }
    [[nodiscard]] std::uint32_t hops(const Point& a, const Point& b) const {
        // All axes at once, also the unused ones, which are equal. Spelled with vectors, since compilers turn the
        // loop into scalars wherever much else goes on around it.
        std::uint64_t sums = 0;
        for (std::size_t i = 0; i < Width; i += lanes) {
            const auto x = load(a, i);
            const auto y = load(b, i);
            const auto apart = x > y ? x - y : y - x;
            const auto around = load(ring_, i) - apart;
            const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(apart < around ? apart : around);
            sums += halves[0] + halves[1];
        }
        return static_cast<std::uint32_t>(sums * 0x0001'0001'0001'0001U >>
                                          48);  // the sum of four 16-bit lanes
    }
    [[nodiscard]] std::uint32_t distance(const Point& a, const Point& b) const { return hops(a, b); }
    [[nodiscard]] std::uint32_t diameter() const;
    [[nodiscard]] std::uint32_t max_distance() const { return diameter(); }
    [[nodiscard]] const BasicTorus& geometry() const { return *this; }

    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const;

    /// Sums up the loads of messages in O(axes) each: Deposits collects, settle() turns what was added into loads.
    void settle(std::span<double> loads) const;

    [[nodiscard]] std::uint32_t vertex(Node node) const { return nodes_per_router_.quotient(node.value); }
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const;
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const;
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] const std::vector<std::uint32_t>& grid() const { return spec_.size; }
    [[nodiscard]] bool wraps(std::uint32_t axis) const { return spec_.wrap[axis]; }
    [[nodiscard]] std::vector<std::uint32_t> coordinates(Node node) const;
    [[nodiscard]] std::vector<std::uint64_t> total_distances(std::span<const Point> points) const;
    [[nodiscard]] std::string describe() const;
    [[nodiscard]] const TorusSpec& spec() const { return spec_; }

    /// A box of coordinates, both ends included.
    struct Region {
        std::array<Coordinate, Width> low;
        std::array<Coordinate, Width> high;
    };
    [[nodiscard]] Region region(std::span<const Point> points) const;

    /// Planes across the axis along which the points reach farthest; a ring is opened at its widest gap.
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Point> points) const;

    /// Distances on a torus are sums over axes, so a sum over many points is one table per axis.
    class Pull {
       public:
        Pull(const BasicTorus& torus, std::span<const Point> points, std::span<const std::uint64_t> weights);
        [[nodiscard]] std::uint64_t cost(const Point& p) const;
        [[nodiscard]] std::uint64_t bound(const Region& box) const;

       private:
        std::vector<std::uint64_t> table_;
        std::array<std::uint32_t, Width + 1> start_{};
        std::uint32_t axes_;
    };

    /// See torus_deposits.hpp.
    template <class Add>
    class Deposits;

   private:
    /// The positions start .. start + length, round the end of a ring.
    struct Reach {
        std::uint32_t start;
        std::uint32_t length;
    };
    /// The least stretch of an axis that holds all points.
    [[nodiscard]] Reach reach_along(std::uint32_t axis, std::span<const Point> points) const;

    static constexpr std::size_t lanes = 8;
    using Lanes [[gnu::vector_size(lanes * sizeof(Coordinate))]] = Coordinate;

    [[nodiscard]] static Lanes load(const Point& p, std::size_t first) {
        Lanes values;
        std::memcpy(&values, p.at.data() + first, sizeof values);
        return values;
    }

    struct LinkPlace {
        std::uint32_t axis;
        std::uint32_t sign;  // 0: +, 1: -
        Point lower;         // the end with the lower position; where the ring closes, the last position
    };
    /// The links along one axis.
    struct Lines {
        std::array<std::size_t, 2> first{};  // id of the first link of each sign
        std::uint32_t length = 0;            // of a line: a ring closes, and a router has no link to itself
        std::int32_t ring = 0;               // routers on a ring; 0: a line with two ends
        std::array<std::uint32_t, Width> step{};  // what a step along an axis adds to a link's id
    };
    /// A run of links along one axis.
    struct Segment {
        std::uint32_t axis;
        std::uint32_t sign;
        std::uint32_t start;  // position of the first link
        std::uint32_t length;
        double share;
    };

    [[nodiscard]] Point router_point(std::uint32_t router) const;
    [[nodiscard]] std::uint32_t router_at(const Point& p) const;
    [[nodiscard]] LinkPlace place_of(Link link) const;
    /// The first link of the line along `axis` through `at`, on the side of `sign`.
    [[nodiscard]] std::size_t line(std::uint32_t axis, std::uint32_t sign, const Point& at) const {
        const Lines& lines = lines_[axis];
        std::size_t id = lines.first[sign];
        for (std::uint32_t d = 0; d < axis_count(); ++d) {
            if (d != axis) id += static_cast<std::size_t>(at.at[d]) * lines.step[d];
        }
        return id;
    }
    [[nodiscard]] std::uint32_t apart_on(std::uint32_t axis, std::int32_t x, std::int32_t y) const {
        const std::int32_t apart = x < y ? y - x : x - y;
        return static_cast<std::uint32_t>(std::min(apart, static_cast<std::int32_t>(ring_.at[axis]) - apart));
    }
    /// Calls use(Segment) for the one or two runs that lead from position x to y.
    template <class Use>
    void segments(std::uint32_t axis, std::int32_t x, std::int32_t y, const Use& use) const;

    TorusSpec spec_;
    Divisor nodes_per_router_;
    std::array<Divisor, Width> extent_{};
    std::uint32_t router_count_ = 1;
    Point ring_{};              // extent of a ring; so large on a line that it never matters
    std::vector<Lines> lines_;  // by axis
    std::size_t link_count_ = 0;
};

using Torus = BasicTorus<8>;
using WideTorus = BasicTorus<32>;

template <std::size_t Width>
template <class Use>
void BasicTorus<Width>::segments(std::uint32_t axis, std::int32_t x, std::int32_t y, const Use& use) const {
    const std::int32_t ring = lines_[axis].ring;
    const std::int32_t up =
        y > x ? y - x : y - x + ring;  // links when going in the + direction; on a line <= 0: none
    const std::int32_t down = ring - up;
    const bool plus = ring == 0 ? up > 0 : up <= down;
    const bool tie = up == down && spec_.split_ties;
    const double share = tie ? 0.5 : 1.0;
    use(Segment{axis, plus ? 0U : 1U, static_cast<std::uint32_t>(plus ? x : y),
                static_cast<std::uint32_t>(plus ? up : down), share});
    if (tie) [[unlikely]]
        use(Segment{axis, 1, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(down), share});
}

template <std::size_t Width>
template <class Visit>
void BasicTorus<Width>::route(Node a, Node b, const Visit& visit) const {
    Point at = point(a);
    const Point end = point(b);
    for (const std::uint32_t axis : spec_.order) {
        if (at.at[axis] == end.at[axis]) continue;
        segments(axis, at.at[axis], end.at[axis], [&](const Segment& s) {
            const std::size_t first = line(axis, s.sign, at);
            const Lines& lines = lines_[axis];
            for (std::uint32_t i = 0; i < s.length; ++i) {
                // A segment starts at its lowest link; going down it is walked from the far end.
                const std::uint32_t step = s.sign == 0 ? i : s.length - 1 - i;
                const std::uint32_t ahead = s.start + step;  // less than twice round
                const std::uint32_t position = ahead < lines.length ? ahead : ahead - lines.length;
                visit(Link{first + position * lines.step[axis]}, s.share);
            }
        });
        at.at[axis] = end.at[axis];
    }
}

extern template class BasicTorus<8>;
extern template class BasicTorus<32>;

}  // namespace topoloom
