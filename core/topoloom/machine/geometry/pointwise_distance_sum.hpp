// SPDX-License-Identifier: BSD-3-Clause
// Sum of weighted distances to a list of points, computed point by point: the DistanceSum of geometries
// without a faster method.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace topoloom {

/// `T` provides distance(Point, Point) and distance_from(Region, Point), the least distance to any point inside.
template <class T>
class PointwiseDistanceSum {
   public:
    PointwiseDistanceSum(const T& topology, std::span<const typename T::Point> points,
                         std::span<const std::uint64_t> weights)
        : topology_(&topology),
          points_(points.begin(), points.end()),
          weights_(weights.begin(), weights.end()) {}

    template <class Point>
    [[nodiscard]] std::uint64_t at(const Point& p) const {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < points_.size(); ++i)
            sum += weights_[i] * topology_->distance(p, points_[i]);
        return sum;
    }
    template <class Region>
    [[nodiscard]] std::uint64_t bound(const Region& region) const {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            sum += weights_[i] * topology_->distance_from(region, points_[i]);
        }
        return sum;
    }

   private:
    const T* topology_;
    std::vector<typename T::Point> points_;
    std::vector<std::uint64_t> weights_;
};

}  // namespace topoloom
