// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/shared/slot_distances.hpp"

#include <limits>

namespace topoloom::shared {

SlotDistances::SlotDistances(const Allocation& allocation)
    : space_(make_slot_space(allocation.machine(), allocation.slots())) {
    const auto count = static_cast<std::uint32_t>(allocation.slot_count());
    for (std::uint32_t a = 0; a < count; ++a) port_cost_.push_back(space_->port_distance(a));
    if (count > max_in_table ||
        allocation.machine().max_distance() > std::numeric_limits<std::uint16_t>::max())
        return;
    std::vector<std::uint32_t> row(count);
    for (std::uint32_t a = 0; a < count; ++a) {
        space_->measure_distances(a, 0, row);
        for (const std::uint32_t distance : row) table_.push_back(static_cast<std::uint16_t>(distance));
    }
}

}  // namespace topoloom::shared
