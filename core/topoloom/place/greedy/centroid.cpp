// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/greedy/centroid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace topoloom::greedy {

Centroid::Centroid(const Allocation& allocation) : wraps_(allocation.machine().wraps()) {
    const Machine& machine = allocation.machine();
    for (const std::uint32_t extent : machine.grid()) extent_.push_back(extent);
    for (const std::uint32_t node : allocation.node_of_slot()) {
        for (const std::uint32_t x : machine.coordinates(allocation.nodes()[node])) coordinate_.push_back(x);
    }
}

/// The centroid times the total weight of the partners; exact, because coordinates and weights are integers.
double Centroid::weighted_centroid(std::size_t axis, const FreeSlots::WeightedPartners& partners,
                                   double weight) const {
    std::vector<std::pair<double, double>> points;  // coordinate, weight
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < partners.positions.size(); ++i) {
        const double x = coordinate_of(partners.positions[i].value, axis);
        const auto w = static_cast<double>(partners.weights[i]);
        points.emplace_back(x, w);
        sum += w * x;
        squares += w * x * x;
    }
    if (!wraps_[axis]) return sum;
    // Cuts the ring open at every gap between neighboring points; points before the cut move behind the end.
    std::ranges::sort(points);
    const double around = extent_[axis];
    double best = sum;
    double least = weight * squares - sum * sum;
    for (const auto& [x, w] : points) {
        squares += w * around * (2 * x + around);
        sum += w * around;
        if (const double spread = weight * squares - sum * sum; spread < least) {
            least = spread;
            best = sum;
        }
    }
    return best < weight * around ? best : best - weight * around;
}

FreeSlots::Found Centroid::find_nearest(const FreeSlots& free,
                                        const FreeSlots::WeightedPartners& partners) const {
    double weight = 0;
    for (const std::uint64_t w : partners.weights) weight += static_cast<double>(w);
    std::vector<double> center;
    for (std::size_t axis = 0; axis < extent_.size(); ++axis)
        center.push_back(weighted_centroid(axis, partners, weight));
    FreeSlots::Found found;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t position = 0; position * extent_.size() < coordinate_.size(); ++position) {
        if (!free.is_free(Position{position})) continue;
        ++found.evaluated;
        double apart = 0;
        for (std::size_t axis = 0; axis < extent_.size(); ++axis) {
            const double line = std::abs(weight * coordinate_of(position, axis) - center[axis]);
            apart += wraps_[axis] ? std::min(line, weight * extent_[axis] - line) : line;
        }
        if (apart >= least) continue;
        least = apart;
        found.position = Position{position};
    }
    return found;
}

}  // namespace topoloom::greedy
