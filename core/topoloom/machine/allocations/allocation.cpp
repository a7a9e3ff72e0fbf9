// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/allocations/allocation.hpp"

#include <algorithm>
#include <unordered_map>

#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"

namespace topoloom {
namespace {

/// Throws Error if lists of so many slots do not fit, before they are allocated: a short text can describe 2^31 slots.
void require_slot_memory(std::uint64_t slots) {
    constexpr std::uint64_t bytes_per_slot = 16;  // lists of nodes and slots while they grow
    if (slots > usable_memory() / bytes_per_slot) {
        fail("an allocation of ", slots,
             " slots does not fit in the memory of this process; allocate fewer nodes");
    }
}

/// Values by id. A text names few of the 2^31 nodes that a short one can describe, so the memory is that of the ids in use
/// if they are sparse.
template <class Value>
class IdTable {
   public:
    IdTable(std::size_t ids, std::size_t in_use, Value initial) : initial_(initial) {
        constexpr std::size_t always_dense = std::size_t{1} << 20;
        if (ids <= always_dense || ids / 16 <= in_use) dense_.assign(ids, initial);
    }
    [[nodiscard]] Value& operator[](std::uint32_t id) {
        return dense_.empty() ? sparse_.try_emplace(id, initial_).first->second : dense_[id];
    }

   private:
    Value initial_;
    std::vector<Value> dense_;
    std::unordered_map<std::uint32_t, Value> sparse_;
};

}  // namespace

Allocation::Allocation(const Machine& machine, std::vector<Node> nodes)
    : machine_(&machine), nodes_(std::move(nodes)) {
    if (nodes_.empty()) fail("the allocation is empty; name at least one node");
    require_slot_memory(nodes_.size() * std::uint64_t{machine.slots_per_node()});
    IdTable<char> seen(machine.node_count(), nodes_.size(), 0);
    slots_.reserve(nodes_.size() * machine.slots_per_node());
    for (const Node node : nodes_) {
        if (node.value >= machine.node_count()) {
            fail("the allocation names node ", node.value, ", but the machine has only ",
                 machine.node_count(), " nodes");
        }
        if (seen[node.value]++ != 0) fail("the allocation names node ", node.value, " twice");
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
    IdTable<std::uint32_t> index_of_node(machine.node_count(), slots.size(), unseen);
    IdTable<char> taken(machine.slot_count(), slots.size(), 0);
    for (const Slot slot : slots) {
        if (slot.value >= machine.slot_count()) {
            fail("the allocation names slot ", slot.value, ", but the machine has only ",
                 machine.slot_count(), " slots");
        }
        if (taken[slot.value]++ != 0) fail("the allocation names slot ", slot.value, " twice");
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

Allocation Allocation::whole(const Machine& machine) {
    require_slot_memory(machine.slot_count());
    return {machine, machine.usable_nodes()};
}

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
    const std::size_t all_slots = allocation.machine().slot_count();
    IdTable<char> state(all_slots, allocation.slot_count(), not_allocated);
    for (const Slot slot : allocation.slots()) state[slot.value] = open;
    for (const Rank rank : ids<Rank>(slots_.size())) {
        const Slot slot = slots_[rank.value];
        if (slot.value >= all_slots || state[slot.value] == not_allocated) {
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
