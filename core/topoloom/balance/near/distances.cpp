// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/near/distances.hpp"

#include "topoloom/machine/slot_space.hpp"

namespace topoloom {

namespace {

void add_slots(std::vector<Slot>& to, std::span<const Slot> slots, std::span<const std::uint32_t> ranks) {
    for (const std::uint32_t rank : ranks) to.push_back(slots[rank]);
}

}  // namespace

std::vector<std::uint32_t> distances_along(const Machine& machine, std::span<const Slot> slots,
                                           std::span<const std::uint32_t> ranks) {
    std::vector<Slot> along;
    add_slots(along, slots, ranks);
    const auto space = make_slot_space(machine, along);
    std::vector<std::uint32_t> distances;
    for (std::uint32_t i = 1; i < along.size(); ++i) distances.push_back(space->distance(i - 1, i));
    return distances;
}

std::vector<std::uint32_t> distances_between(const Machine& machine, std::span<const Slot> slots,
                                             std::span<const std::uint32_t> from,
                                             std::span<const std::uint32_t> to) {
    std::vector<Slot> ends;
    add_slots(ends, slots, to);
    add_slots(ends, slots, from);
    const auto space = make_slot_space(machine, ends);
    std::vector<std::uint32_t> distances(from.size() * to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        space->measure_distances(static_cast<std::uint32_t>(to.size() + i), 0,
                                 std::span(distances).subspan(i * to.size(), to.size()));
    }
    return distances;
}

std::vector<std::uint32_t> shipment_distances(std::span<const Shipment> shipments,
                                              std::span<const std::uint32_t> ranks, const Machine& machine,
                                              std::span<const Slot> slots) {
    std::vector<Slot> ends;
    add_slots(ends, slots, ranks);
    const auto space = make_slot_space(machine, ends);
    std::vector<std::uint32_t> distances;
    distances.reserve(shipments.size());
    for (const auto& [sender, receiver, tasks] : shipments)
        distances.push_back(space->distance(sender, receiver));
    return distances;
}

}  // namespace topoloom
