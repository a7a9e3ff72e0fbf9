// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/bus_elements.hpp"

#include <algorithm>
#include <variant>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr std::uint32_t cell_stations = 12;

constexpr std::array<NamedAffinity, 5> affinities{{
    {"identity", "thread i on element i", {0, 1, 2, 3, 4, 5, 6, 7}},
    {"ring", "threads in order around the bus, counter-clockwise", {0, 2, 4, 6, 7, 5, 3, 1}},
    {"overlap", "threads 2i and 2i + 1 half-way around from each other", {0, 7, 2, 5, 4, 3, 6, 1}},
    {"even-odd", "threads 0 to 3 on the even elements, 4 to 7 on the odd", {0, 4, 2, 6, 1, 5, 3, 7}},
    {"leap2", "threads i and i XOR 2 half-way around from each other", {0, 4, 7, 3, 1, 5, 6, 2}},
}};

}  // namespace

std::span<const NamedAffinity> named_affinities() { return affinities; }

const RingBus& ring_bus_of(const Machine& machine) {
    const auto* const bus = std::get_if<RingBus>(&machine.topology());
    if (bus == nullptr) fail("bus affinities are for ring buses, not for ", machine.text());
    return *bus;
}

std::array<Node, bus_elements> find_element_stations(const Allocation& allocation) {
    const Machine& machine = allocation.machine();
    const RingBus& bus = ring_bus_of(machine);
    const auto nodes = allocation.nodes();
    const auto allocated = [&](Node node) { return std::ranges::find(nodes, node) != nodes.end(); };
    if (bus.node_count() == cell_stations && std::ranges::all_of(cell_elements, allocated))
        return cell_elements;
    if (allocation.slot_count() != bus_elements)
        fail("affinities are for 8 elements, not for the ", allocation.slot_count(), " slots of ",
             machine.text(), "; allocate 8 of them");
    std::array<Node, bus_elements> elements;
    std::ranges::transform(allocation.slots(), elements.begin(),
                           [&](Slot slot) { return machine.node(slot); });
    return elements;
}

}  // namespace topoloom
