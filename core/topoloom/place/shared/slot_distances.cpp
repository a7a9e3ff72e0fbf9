// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/shared/slot_distances.hpp"

#include <limits>

#include "topoloom/place/state/arrangement.hpp"

namespace topoloom::shared {

SlotDistances::SlotDistances(const Allocation& allocation) {
    const Machine& machine = allocation.machine();
    with_space(machine, [&](const auto& space) {
        const auto points = slot_points(space, allocation);
        for (const auto& point : points) port_cost_.push_back(space.port_cost(point));
        if (points.size() <= max_in_table &&
            machine.max_distance() <= std::numeric_limits<std::uint16_t>::max()) {
            for (const auto& a : points) {
                for (const auto& b : points)
                    table_.push_back(static_cast<std::uint16_t>(space.distance(a, b)));
            }
        } else {
            distance_ = [space, points](Position a, Position b) -> std::uint32_t {
                return space.distance(points[a.value], points[b.value]);
            };
        }
    });
}

}  // namespace topoloom::shared
