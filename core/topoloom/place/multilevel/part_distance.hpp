// SPDX-License-Identifier: BSD-3-Clause
// Distances between parts of a machine during its division.
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
#include "topoloom/place/multilevel/full_rings.hpp"

namespace topoloom::multilevel {

/// Distances between parts, by a few points that stand for each.
///
/// The rings of a torus that the points fill evenly are best taken for lines: both halves of one half of a ring are as far
/// from the other half, so that nothing would show how to turn them, nor along which axis to cut the ranks, until it is
/// too late for good grids. On a line the inner quarters are nearer. Hypercubes do better on rings.
template <class Space>
class PartDistance {
    using Network = typename Space::Network;
    static constexpr bool on_torus = requires(const Network& network) { network.axis_count(); };
    static constexpr bool has_coordinates =
        on_torus && std::is_same_v<typename Space::Point, typename Network::Point>;

   public:
    using Point = typename Space::Point;

    PartDistance(const Space& space, const NodeSpec& inside, std::span<const Point> points, FullRings full)
        : lines_(open_full_rings(space, points, full)), space_(space) {
        if constexpr (on_torus) space_ = Space(lines_, inside);
    }
    PartDistance(const PartDistance&) = delete;
    PartDistance& operator=(const PartDistance&) = delete;

    /// Points, each for as many slots of a part. On a torus with flat nodes they need not be slots: each has one
    /// coordinate on every axis of those that divide the part evenly, so that the distances between uniform boxes come
    /// out right.
    struct Sample;

    [[nodiscard]] Sample sample(std::span<const Point> points, std::span<const Position> slots) const {
        Sample sample;
        const auto size = static_cast<std::uint32_t>(slots.size());
        sample.count = std::min(Sample::most, std::bit_ceil(size));
        for (std::uint32_t i = 0; i < sample.count; ++i)
            sample.points[i] = points[slots[middle_of(i, sample.count, size)].value];
        if constexpr (has_coordinates) {
            if (size > 2) spread(points, slots, sample);
        }
        return sample;
    }

    /// The mean over the points of two samples, times the same number for all.
    [[nodiscard]] std::int64_t operator()(const Sample& a, const Sample& b) const {
        std::int64_t sum = 0;
        for (std::uint32_t i = 0; i < a.count; ++i) {
            for (std::uint32_t k = 0; k < b.count; ++k) sum += space_.distance(a.points[i], b.points[k]);
        }
        return sum << (2 * std::countr_zero(Sample::most) - std::countr_zero(a.count) -
                       std::countr_zero(b.count));
    }
    /// How much farther other samples are from one of two than from the other.
    class Difference;
    /// Whether Difference is quicker than two distances, for many samples.
    static constexpr bool has_quick_difference = has_coordinates;

    /// Results are at most this many times the largest distance of the machine: lines are twice as long as
    /// rings.
    static constexpr std::int64_t scale() { return std::int64_t{2} * Sample::most * Sample::most; }

   private:
    using Lines = std::conditional_t<on_torus, Network, std::monostate>;

    static Lines open_full_rings(const Space& space, std::span<const Point> points, FullRings full) {
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
                lines.wrap.push_back(torus.wraps(d) && (!even || full == FullRings::rings));
            }
            return Network(std::move(lines));
        } else {
            return {};
        }
    }

    /// In the middle of the i-th of `count` equal shares.
    static std::uint32_t middle_of(std::uint32_t i, std::uint32_t count, std::uint32_t size) {
        return static_cast<std::uint32_t>(std::uint64_t{2 * i + 1} * size / (2 * count));
    }

    void spread(std::span<const Point> points, std::span<const Position> slots, Sample& sample) const {
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

/// Hops are sums over the axes: what a coordinate adds is worked out once, for all samples that have it.
template <class Space>
class PartDistance<Space>::Difference {
   public:
    /// Refers to the first.
    Difference(const PartDistance& apart, const Sample& near, const Sample& far)
        : apart_(apart), near_(near), far_(far) {
        if constexpr (has_coordinates) {
            for (const std::uint32_t extent : apart.lines_.grid()) widest_ = std::max(widest_, extent);
            added_.assign(apart.lines_.axis_count() * widest_, unknown);
        }
    }

    /// apart(far, there) - apart(near, there), if `far` and `near` are the two samples.
    std::int64_t operator()(const Sample& there) {
        if constexpr (has_coordinates) {
            std::int64_t sum = 0;
            for (std::uint32_t i = 0; i < there.count; ++i) {
                for (std::uint32_t d = 0; d < apart_.lines_.axis_count(); ++d) {
                    const std::int32_t x = there.points[i].at[d];
                    std::int32_t& added = added_[d * widest_ + static_cast<std::uint32_t>(x)];
                    if (added == unknown) added = from(far_, d, x) - from(near_, d, x);
                    sum += added;
                }
            }
            return sum * (Sample::most / there.count);
        } else {
            return apart_(far_, there) - apart_(near_, there);
        }
    }

   private:
    static constexpr std::int32_t unknown = std::numeric_limits<std::int32_t>::max();

    [[nodiscard]] std::int32_t from(const Sample& sample, std::uint32_t axis, std::int32_t x) const {
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
    std::vector<std::int32_t> added_;  // by axis and coordinate
};

}  // namespace topoloom::multilevel
