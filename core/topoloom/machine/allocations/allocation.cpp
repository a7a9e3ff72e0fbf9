// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/allocations/allocation.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"

namespace topoloom {

Allocation::Allocation(const Machine& machine, std::vector<Node> nodes)
    : machine_(&machine), nodes_(std::move(nodes)) {
    if (nodes_.empty()) fail("the allocation is empty; name at least one node");
    std::vector<bool> seen(machine.node_count(), false);
    slots_.reserve(nodes_.size() * machine.slots_per_node());
    for (const Node node : nodes_) {
        if (node.value >= machine.node_count()) {
            fail("the allocation names node ", node.value, ", but the machine has only ",
                 machine.node_count(), " nodes");
        }
        if (seen[node.value]) fail("the allocation names node ", node.value, " twice");
        seen[node.value] = true;
        for (std::uint32_t i = 0; i < machine.slots_per_node(); ++i) {
            node_of_slot_.push_back(static_cast<std::uint32_t>(slots_.size() / machine.slots_per_node()));
            slots_.push_back(machine.slot(node, i));
        }
    }
    machine.require_usable(nodes_);
}

Allocation Allocation::of_slots(const Machine& machine, std::vector<Slot> slots) {
    if (slots.empty()) fail("the allocation is empty; name at least one slot");
    Allocation allocation(machine);
    constexpr std::uint32_t unseen = 0xFFFFFFFFU;
    std::vector<std::uint32_t> index_of_node(machine.node_count(), unseen);
    std::vector<bool> taken(machine.slot_count(), false);
    for (const Slot slot : slots) {
        if (slot.value >= machine.slot_count()) {
            fail("the allocation names slot ", slot.value, ", but the machine has only ",
                 machine.slot_count(), " slots");
        }
        if (taken[slot.value]) fail("the allocation names slot ", slot.value, " twice");
        taken[slot.value] = true;
        std::uint32_t& index = index_of_node[machine.node(slot).value];
        if (index == unseen) {
            index = static_cast<std::uint32_t>(allocation.nodes_.size());
            allocation.nodes_.push_back(machine.node(slot));
        }
        allocation.node_of_slot_.push_back(index);
    }
    machine.require_usable(allocation.nodes_);
    allocation.slots_ = std::move(slots);
    return allocation;
}

Allocation Allocation::whole(const Machine& machine) { return {machine, machine.usable_nodes()}; }

Placement::Placement(const Allocation& allocation, std::vector<Slot> slot_of_rank, SlotUse use)
    : slots_(std::move(slot_of_rank)),
      use_(use),
      machine_(allocation.machine().shared_text()),
      allocation_(allocation.identity_) {
    if (slots_.empty()) fail("there are no ranks to place");
    if (use == SlotUse::one_rank && slots_.size() > allocation.slot_count()) {
        fail(slots_.size(), " ranks do not fit on the ", allocation.slot_count(), " slots of ",
             allocation.nodes().size(), " nodes; allocate more nodes or start fewer ranks");
    }
    enum : char { not_allocated, open, taken };
    std::vector<char> state(allocation.machine().slot_count(), not_allocated);
    for (const Slot slot : allocation.slots()) state[slot.value] = open;
    for (const Rank rank : ids<Rank>(slots_.size())) {
        const Slot slot = slots_[rank.value];
        if (slot.value >= state.size() || state[slot.value] == not_allocated) {
            fail("rank ", rank.value, " is placed on slot ", slot.value,
                 ", which is not part of the allocation");
        }
        if (state[slot.value] == taken)
            fail("rank ", rank.value, " is placed on slot ", slot.value, ", which is taken");
        if (use == SlotUse::one_rank) state[slot.value] = taken;
    }
}

Placement Placement::from_saved_slots(std::shared_ptr<const std::string> machine_text,
                                      std::vector<Slot> slot_of_rank, SlotUse use) {
    if (slot_of_rank.empty()) fail("there are no ranks to place");
    if (use == SlotUse::one_rank) {
        std::vector<Slot> sorted = slot_of_rank;
        std::ranges::sort(sorted);
        const auto twice = std::ranges::adjacent_find(sorted);
        if (twice != sorted.end()) fail("two ranks are placed on slot ", twice->value);
    }
    Placement placement;
    placement.slots_ = std::move(slot_of_rank);
    placement.use_ = use;
    placement.machine_ = std::move(machine_text);
    return placement;
}

void Placement::require_compatible_with(const Allocation& allocation) const {
    if (allocation_ == allocation.identity_) return;
    require_made_for(allocation.machine(), machine_, "the placement");
    std::vector<bool> allocated(allocation.machine().slot_count(), false);
    for (const Slot slot : allocation.slots()) allocated[slot.value] = true;
    for (const Rank rank : ids<Rank>(slots_.size())) {
        const Slot slot = slots_[rank.value];
        if (slot.value >= allocated.size() || !allocated[slot.value])
            fail("the placement is for another allocation: slot ", slot.value, " of rank ", rank.value,
                 " is not part of this one");
    }
}

}  // namespace topoloom
