// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/allocation.hpp"

#include "topoloom/base/error.hpp"

namespace topoloom {

Allocation::Allocation(const Machine& machine, std::vector<Node> nodes, std::uint32_t slots_each)
    : machine_(&machine), nodes_(std::move(nodes)), slots_each_(slots_each == 0 ? machine.slots_per_node() : slots_each) {
    if (nodes_.empty()) fail("the allocation is empty; name at least one node");
    if (slots_each_ > machine.slots_per_node()) {
        fail("the allocation wants ", slots_each_, " slots of every node, but a node has ", machine.slots_per_node());
    }
    std::vector<bool> seen(machine.node_count(), false);
    slots_.reserve(nodes_.size() * slots_each_);
    for (const Node node : nodes_) {
        if (node.value >= machine.node_count()) {
            fail("the allocation names node ", node.value, ", but the machine has only ", machine.node_count(), " nodes");
        }
        if (seen[node.value]) fail("the allocation names node ", node.value, " twice");
        seen[node.value] = true;
        for (std::uint32_t i = 0; i < slots_each_; ++i) slots_.push_back(machine.slot(node, i));
    }
}

Allocation Allocation::whole(const Machine& machine) {
    const ids<Node> all(machine.node_count());
    return {machine, std::vector<Node>(all.begin(), all.end())};
}

void require_room(std::size_t rank_count, const Allocation& allocation) {
    if (rank_count == 0) fail("there are no ranks to place");
    if (rank_count > allocation.slot_count()) {
        fail(rank_count, " ranks do not fit on ", allocation.slot_count(), " slots (", allocation.nodes().size(),
             " nodes with ", allocation.slots_each(), " each); allocate more nodes or start fewer ranks");
    }
}

Placement::Placement(const Allocation& allocation, std::vector<Slot> slot_of_rank) : slots_(std::move(slot_of_rank)) {
    require_room(slots_.size(), allocation);
    enum : char { not_allocated, open, taken };
    std::vector<char> state(allocation.machine().slot_count(), not_allocated);
    for (const Slot slot : allocation.slots()) state[slot.value] = open;
    for (const Rank rank : ids<Rank>(slots_.size())) {
        const Slot slot = slots_[rank.value];
        if (slot.value >= state.size() || state[slot.value] == not_allocated) {
            fail("rank ", rank.value, " is placed on slot ", slot.value, ", which is not part of the allocation");
        }
        if (state[slot.value] == taken) fail("rank ", rank.value, " is placed on slot ", slot.value, ", which is taken");
        state[slot.value] = taken;
    }
}

}  // namespace topoloom
