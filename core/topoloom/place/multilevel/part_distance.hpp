// SPDX-License-Identifier: BSD-3-Clause
// Distances between parts of a machine while it is divided.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/place/multilevel/full_ring_measurement.hpp"

namespace topoloom::multilevel {

/// Distances between parts, estimated from a few sample points per part.
///
/// Distances on rings that the points fill evenly are best measured as if the rings were lines. On a ring,
/// both quarters of one half are equally far from the other half, so the first cuts could not determine
/// orientation and axis. On a line, the inner quarters are nearer. For hypercubes, rings are better.
template <class Space>
class PartDistance {
    using Network = typename Space::Network;
    static constexpr bool on_torus = requires(const Network& network) { network.axis_count(); };
    static constexpr bool has_coordinates =
        on_torus && std::is_same_v<typename Space::Point, typename Network::Point>;
    // Of three points of a tree, two are equally far from the third, and not nearer than each other.
    static constexpr bool is_ultrametric =
        std::is_same_v<Network, Tree> && std::is_same_v<typename Space::Point, typename Network::Point>;

   public:
    using Point = typename Space::Point;

    PartDistance(const Space& space, const NodeSpec& inside, std::span<const Point> points,
                 FullRingMeasurement full)
        : lines_(open_full_rings(space, points, full)), space_(space) {
        if constexpr (on_torus) space_ = Space(lines_, inside);
    }
    PartDistance(const PartDistance&) = delete;
    PartDistance& operator=(const PartDistance&) = delete;

    /// Sample points of a part; each represents the same number of slots. On a torus with flat nodes, points
    /// need not be slots. On every axis, their coordinates are spaced evenly over the part, so that distances
    /// between uniform boxes are correct.
    struct Sample;

    [[nodiscard]] Sample sample(std::span<const Point> points, std::span<const Position> slots) const {
        Sample sample;
        const auto size = static_cast<std::uint32_t>(slots.size());
        sample.count = std::min(Sample::most, std::bit_ceil(size));
        for (std::uint32_t i = 0; i < sample.count; ++i)
            sample.points[i] = points[slots[middle_of(i, sample.count, size)].value];
        if constexpr (has_coordinates) {
            if (size > 2) spread_points(points, slots, sample);
        }
        return sample;
    }

    /// The mean distance between the points of two samples, times scale() / 2.
    [[nodiscard]] std::int64_t operator()(const Sample& a, const Sample& b) const {
        std::int64_t sum = 0;
        for (std::uint32_t i = 0; i < a.count; ++i) {
            for (std::uint32_t k = 0; k < b.count; ++k) sum += space_.distance(a.points[i], b.points[k]);
        }
        return sum << (2 * std::countr_zero(Sample::most) - std::countr_zero(a.count) -
                       std::countr_zero(b.count));
    }
    /// The distance of any sample to the second of two samples minus its distance to the first.
    class Difference;
    /// Whether, for many samples, Difference is faster than computing two distances each.
    static constexpr bool has_quick_difference = has_coordinates || is_ultrametric;

    /// An upper bound of the results, in multiples of the largest distance of the machine. The factor 2 is
    /// there because lines are up to twice as long as rings.
    static constexpr std::int64_t scale() { return std::int64_t{2} * Sample::most * Sample::most; }

   private:
    using Lines = std::conditional_t<on_torus, Network, std::monostate>;

    static Lines open_full_rings(const Space& space, std::span<const Point> points,
                                 FullRingMeasurement full) {
        if constexpr (on_torus) {
            const Network& torus = space.network();
            TorusSpec lines;
            lines.size = torus.grid();
            lines.nodes_per_router = torus.spec().nodes_per_router;
            for (std::uint32_t d = 0; d < torus.axis_count(); ++d) {
                std::vector<std::size_t> in_plane(lines.size[d], 0);
                for (const Point& p : points)
                    ++in_plane[static_cast<std::size_t>(Space::network_point(p).at[d])];
                const bool even =
                    std::ranges::all_of(in_plane, [&](std::size_t n) { return n == in_plane[0]; });
                lines.wrap.push_back(torus.wraps(d) && (!even || full == FullRingMeasurement::rings));
            }
            return Network(std::move(lines));
        } else {
            return {};
        }
    }

    /// The index in the middle of the i-th of `count` equal shares of `size` items.
    static std::uint32_t middle_of(std::uint32_t i, std::uint32_t count, std::uint32_t size) {
        return static_cast<std::uint32_t>(std::uint64_t{2 * i + 1} * size / (2 * count));
    }

    void spread_points(std::span<const Point> points, std::span<const Position> slots, Sample& sample) const {
        std::vector<std::uint32_t> in_plane;
        for (std::uint32_t d = 0; d < lines_.axis_count(); ++d) {
            in_plane.assign(lines_.grid()[d], 0);
            for (const Position p : slots) ++in_plane[static_cast<std::size_t>(points[p.value].at[d])];
            std::size_t x = 0;
            std::uint32_t seen = in_plane[0];
            for (std::uint32_t i = 0; i < sample.count; ++i) {
                const auto size = static_cast<std::uint32_t>(slots.size());
                while (seen <= middle_of(i, sample.count, size)) seen += in_plane[++x];
                sample.points[i].at[d] = static_cast<typename Network::Coordinate>(x);
            }
        }
    }

    Lines lines_;
    Space space_;
};

template <class Space>
struct PartDistance<Space>::Sample {
    static constexpr std::uint32_t most = on_torus ? 8 : 4;  // a power of 2
    std::array<Point, most> points;
    std::uint32_t count = 0;  // a power of 2
};

/// Hops are sums over the axes, so the contribution of a coordinate is computed once for all samples.
template <class Space>
class PartDistance<Space>::Difference {
   public:
    /// Refers to `apart`, but copies the samples.
    Difference(const PartDistance& apart, const Sample& near, const Sample& far)
        : apart_(apart), near_(near), far_(far) {
        if constexpr (has_coordinates) {
            for (const std::uint32_t extent : apart.lines_.grid()) widest_ = std::max(widest_, extent);
            added_.assign(apart.lines_.axis_count() * widest_, unknown);
        }
        if constexpr (is_ultrametric) {
            for (const Sample* sample : {&near_, &far_}) {
                for (std::uint32_t i = 0; i < sample->count; ++i)
                    extent_ = std::max(extent_, distance_to_near(sample->points[i]));
            }
        }
    }

    /// apart(far, there) - apart(near, there), for the two samples of the constructor.
    std::int64_t operator()(const Sample& there) {
        if constexpr (has_coordinates) {
            std::int64_t sum = 0;
            for (std::uint32_t i = 0; i < there.count; ++i) {
                for (std::uint32_t d = 0; d < apart_.lines_.axis_count(); ++d) {
                    const std::int32_t x = there.points[i].at[d];
                    std::int32_t& added = added_[d * widest_ + static_cast<std::uint32_t>(x)];
                    if (added == unknown) added = sum_distances(far_, d, x) - sum_distances(near_, d, x);
                    sum += added;
                }
            }
            return sum * (Sample::most / there.count);
        } else {
            if constexpr (is_ultrametric) {
                // A point farther away than both samples extend is equally far from all their points.
                const std::span<const Point> points(there.points.data(), there.count);
                if (std::ranges::all_of(points, [&](Point p) { return distance_to_near(p) > extent_; }))
                    return 0;
            }
            return apart_(far_, there) - apart_(near_, there);
        }
    }

   private:
    [[nodiscard]] std::uint64_t distance_to_near(Point point) const {
        return static_cast<std::uint64_t>(apart_.space_.distance(near_.points[0], point));
    }

    static constexpr std::int32_t unknown = std::numeric_limits<std::int32_t>::max();

    [[nodiscard]] std::int32_t sum_distances(const Sample& sample, std::uint32_t axis, std::int32_t x) const {
        const auto extent = static_cast<std::int32_t>(apart_.lines_.grid()[axis]);
        const bool ring = apart_.lines_.wraps(axis);
        std::int32_t sum = 0;
        for (std::uint32_t i = 0; i < sample.count; ++i) {
            const std::int32_t straight = std::abs(x - sample.points[i].at[axis]);
            sum += ring ? std::min(straight, extent - straight) : straight;
        }
        return sum * static_cast<std::int32_t>(Sample::most / sample.count);
    }

    const PartDistance& apart_;
    Sample near_;
    Sample far_;
    std::uint32_t widest_ = 0;
    std::uint64_t extent_ = 0;  // largest distance from the first point of `near` to one of both samples
    std::vector<std::int32_t> added_;  // contributions of coordinates, axis by axis
};

}  // namespace topoloom::multilevel
