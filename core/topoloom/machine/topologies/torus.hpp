// SPDX-License-Identifier: BSD-3-Clause
// Tori and meshes (k-ary n-cubes) of any extents, with dimension-ordered routing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/geometry/split_key.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/routing/link.hpp"
#include "topoloom/machine/topologies/hosted.hpp"

namespace topoloom {

/// The direction of messages half-way around a ring: + (plus), half of each message in each direction
/// (split), or + except from the middle to position 0 (simgrid, as SimGrid routes).
enum class TorusTies { plus, split, simgrid };

/// Parameters of a torus or mesh. Vectors have one entry per axis.
struct TorusSpec {
    std::vector<std::uint32_t> size;
    std::vector<bool> wrap;                                // empty: all axes are rings
    std::uint32_t nodes_per_router = 1;                    // nodes of one router are 0 hops apart
    std::vector<std::uint32_t> order;                      // axes in routing order; empty: 0, 1, 2 ...
    std::vector<std::array<BytesPerSecond, 2>> bandwidth;  // bandwidths of the + and - links; empty: 1 B/s
    std::vector<std::array<Seconds, 2>> latency;           // empty: 0
    TorusTies ties = TorusTies::plus;
};

/// A torus or mesh of up to `Width` axes. Routers are numbered row-major (the last axis varies fastest),
/// nodes router by router. A message corrects one axis after the other, each in the shorter direction
/// (Sudheer 2012, ch. 3); see TorusTies. Neighboring routers have one link in each direction; links are
/// numbered axis by axis.
template <std::size_t Width>
class BasicTorus {
   public:
    using Coordinate = std::int16_t;
    struct alignas(16) Point {
        std::array<Coordinate, Width> at{};
    };

    static constexpr std::uint32_t max_extent = 16384;  // so that differences fit a Coordinate

    /// Throws Error for bad extents, orders that are not permutations, or vectors of the wrong length.
    explicit BasicTorus(TorusSpec spec);

    [[nodiscard]] std::size_t node_count() const { return router_count_ * spec_.nodes_per_router; }
    [[nodiscard]] std::size_t link_count() const { return link_count_; }
    [[nodiscard]] std::size_t vertex_count() const { return router_count_; }
    [[nodiscard]] std::uint32_t axis_count() const { return static_cast<std::uint32_t>(spec_.size.size()); }

    [[nodiscard]] Point point(Node node) const { return router_point(vertex(node)); }
    [[nodiscard]] std::uint32_t hops(const Point& a, const Point& b) const {
        // Computes all axes at once; unused axes are equal. Uses vector types, because compilers generate
        // scalar code for loops in larger functions.
        std::uint64_t sums = 0;
        for (std::size_t i = 0; i < Width; i += lanes) {
            const auto x = read_lanes(a, i);
            const auto y = read_lanes(b, i);
            const auto apart = x > y ? x - y : y - x;
            const auto around = read_lanes(ring_, i) - apart;
            const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(apart < around ? apart : around);
            sums += halves[0] + halves[1];
        }
        // The sum of four 16-bit lanes.
        return static_cast<std::uint32_t>(sums * 0x0001'0001'0001'0001U >> 48);
    }
    [[nodiscard]] std::uint32_t distance(const Point& a, const Point& b) const { return hops(a, b); }
    [[nodiscard]] std::uint32_t diameter() const;
    [[nodiscard]] std::uint32_t max_distance() const { return diameter(); }
    [[nodiscard]] const BasicTorus& geometry() const { return *this; }

    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const;

    /// After LoadDifferences added differences to `loads`, converts them to loads. In total O(axes) per
    /// message.
    void convert_sums(std::span<double> loads) const;

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

    /// Keys that split the points at planes perpendicular to the axis along which the points extend farthest.
    /// A ring is opened at its widest gap.
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Point> points) const;

    /// Torus distances are sums over axes, so a sum over many points needs only one table per axis.
    class DistanceSum {
       public:
        DistanceSum(const BasicTorus& torus, std::span<const Point> points,
                    std::span<const std::uint64_t> weights);
        [[nodiscard]] std::uint64_t at(const Point& p) const;
        [[nodiscard]] std::uint64_t bound(const Region& box) const;

       private:
        std::vector<std::uint64_t> table_;
        std::array<std::uint32_t, Width + 1> start_{};
        std::uint32_t axes_;
    };

    /// See torus_load_differences.hpp.
    template <class Add>
    class LoadDifferences;

   private:
    /// The positions start .. start + length, which can wrap around at the end of a ring.
    struct Interval {
        std::uint32_t start;
        std::uint32_t length;
    };
    /// The shortest interval of an axis that contains all points.
    [[nodiscard]] Interval covering_interval(std::uint32_t axis, std::span<const Point> points) const;

    static constexpr std::size_t lanes = 8;
    using Lanes [[gnu::vector_size(lanes * sizeof(Coordinate))]] = Coordinate;

    [[nodiscard]] static Lanes read_lanes(const Point& p, std::size_t first) {
        Lanes values;
        std::memcpy(&values, p.at.data() + first, sizeof values);
        return values;
    }

    struct LinkPlace {
        std::uint32_t axis;
        std::uint32_t sign;  // 0: +, 1: -
        Point lower;  // the end with the lower position; for the link that closes a ring, the last position
    };
    /// The links along one axis, line by line.
    struct AxisLinks {
        std::array<std::size_t, 2> first{};       // id of the first link of each sign, + and -
        std::uint32_t length = 0;                 // number of links of a line or ring, in one direction
        std::int32_t ring = 0;                    // number of routers on a ring; 0 for a line with two ends
        Divisor size;                             // number of routers on a line or ring
        Divisor stride;                           // increment of the router number per step along this axis
        std::array<std::uint32_t, Width> step{};  // increment of the link id per step along each axis
        std::size_t around = 0;                   // increment of the link id per round of a ring
        std::uint32_t gap = 0;                    // number of links of a ring, minus those of a line
    };
    /// The route along one axis. A split route has a second half of equal length in the - direction.
    struct AxisRoute {
        bool minus;
        bool split;
        std::uint32_t length;
    };

    [[nodiscard]] Point router_point(std::uint32_t router) const;
    [[nodiscard]] std::uint32_t router_at(const Point& p) const;
    [[nodiscard]] LinkPlace locate_link(Link link) const;
    /// The index of the + link from `at` among the links of the same axis and sign. On rings it is the router
    /// number.
    [[nodiscard]] std::size_t index_among_links(const AxisLinks& lines, const Point& at) const {
        std::size_t place = 0;
        for (std::uint32_t d = 0; d < axis_count(); ++d)
            place += static_cast<std::size_t>(at.at[d]) * lines.step[d];
        return place;
    }
    [[nodiscard]] std::uint32_t distance_on_axis(std::uint32_t axis, std::int32_t x, std::int32_t y) const {
        const std::int32_t apart = x < y ? y - x : x - y;
        return static_cast<std::uint32_t>(std::min(apart, static_cast<std::int32_t>(ring_.at[axis]) - apart));
    }
    [[nodiscard]] static std::int32_t position(const AxisLinks& lines, std::uint32_t router) {
        return static_cast<std::int32_t>(lines.size.remainder(lines.stride.quotient(router)));
    }
    /// The number of wrap-around links that are missing on lines before the router's link.
    [[nodiscard]] static std::size_t count_missing_links(const AxisLinks& lines, std::uint32_t router) {
        if (lines.gap == 0) return 0;
        return std::size_t{lines.size.quotient(lines.stride.quotient(router))} * lines.gap;
    }
    /// The route along one axis from position x to a different position y.
    [[nodiscard]] AxisRoute route_along(const AxisLinks& lines, std::int32_t x, std::int32_t y) const {
        // On a line, `up` may be negative.
        const std::int32_t up = y - x + (y < x ? lines.ring : 0);
        const std::int32_t down = lines.ring - up;
        const bool half_way = up == down;
        const bool minus = lines.ring == 0 ? up < 0 : down < up || (half_way && y == minus_to_);
        return {minus, half_way && spec_.ties == TorusTies::split,
                static_cast<std::uint32_t>(minus ? down : up)};
    }

    TorusSpec spec_;
    Divisor nodes_per_router_;
    std::uint32_t router_count_ = 1;
    std::int32_t minus_to_ = -1;    // messages half-way around to this position use -
    Point ring_{};                  // extent of a ring; for a line, larger than any distance
    std::vector<AxisLinks> lines_;  // by axis
    std::size_t link_count_ = 0;
};

using Torus = BasicTorus<8>;
using WideTorus = BasicTorus<32>;

template <std::size_t Width>
template <class Visit>
void BasicTorus<Width>::route(Node a, Node b, const Visit& visit) const {
    const std::uint32_t start = vertex(a);
    const std::uint32_t end = vertex(b);
    std::uint32_t at = start;
    for (const std::uint32_t axis : spec_.order) {
        const AxisLinks& lines = lines_[axis];
        const auto size = static_cast<std::int32_t>(lines.size.value());
        const std::int32_t x = position(lines, start);
        const std::int32_t y = position(lines, end);
        if (x == y) continue;
        const std::size_t step = lines.step[axis];
        const std::size_t place = at - count_missing_links(lines, at);
        const AxisRoute route = route_along(lines, x, y);
        const auto walk = [&](bool minus, double share) {
            // Uses masks and counted loops, because the processor cannot predict directions.
            const std::size_t mask = 0 - std::size_t{minus};
            const std::size_t ahead = (step ^ mask) - mask;
            // The link from x - 1 to x has the index of x - 1.
            std::size_t link = lines.first[minus] + place - (step & mask);
            const auto left = static_cast<std::uint32_t>(minus ? x : size - x);
            const std::uint32_t before = std::min(left, route.length);  // up to the end of the ring
            for (std::uint32_t i = before; i > 0; --i, link += ahead) visit(Link{link}, share);
            link -= (lines.around ^ mask) - mask;
            for (std::uint32_t i = route.length - before; i > 0; --i, link += ahead) visit(Link{link}, share);
        };
        walk(route.minus, route.split ? 0.5 : 1.0);
        if (route.split) [[unlikely]]
            walk(true, 0.5);
        at += static_cast<std::uint32_t>(y - x) * lines.stride.value();
    }
}

extern template class BasicTorus<8>;
extern template class BasicTorus<32>;

/// A WideTorus always has host links; a Torus has host links only if nodes are not routers.
using AnyTorus = std::variant<Torus, Hosted<Torus>, Hosted<WideTorus>>;
extern const TopologyNotation<AnyTorus> torus_notation;
extern const TopologyNotation<AnyTorus> mesh_notation;

}  // namespace topoloom
