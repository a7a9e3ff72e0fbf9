// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/hilbert_slots.hpp"

#include "topoloom/place/state/curve_positions.hpp"

namespace topoloom {

HilbertSlots::HilbertSlots(const Allocation& allocation)
    : order_(curve_positions(Curve::hilbert, allocation)), index_in_order_(order_.size()) {
    std::vector<Slot> slots;
    slots.reserve(order_.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i) {
        index_in_order_[order_[i].value] = i;
        slots.push_back(allocation.slots()[order_[i].value]);
    }
    space_ = make_slot_space(allocation.machine(), slots);
    space_->build_parts();
}

}  // namespace topoloom
