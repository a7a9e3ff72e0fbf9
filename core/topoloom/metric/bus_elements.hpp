// SPDX-License-Identifier: BSD-3-Clause
// The SPEs of the Cell processor on its ring bus, and named thread affinities for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/topologies/ring_bus.hpp"

namespace topoloom {

inline constexpr std::size_t bus_elements = 8;

/// A named thread affinity: thread t runs on SPE element_of_thread[t].
using BusAffinity = std::array<std::uint8_t, bus_elements>;

/// Stations of SPE 0 ... 7 on the bus of 12 stations. The clockwise order is PPE, SPE 1, 3, 5, 7, I/O 1, BIF,
/// SPE 6, 4, 2, 0, memory; inferred from the measurements in Sudheer 2012, ch. 4.
inline constexpr std::array<Node, bus_elements> cell_elements{Node{10}, Node{1}, Node{9}, Node{2},
                                                              Node{8},  Node{3}, Node{7}, Node{4}};
inline constexpr Node cell_memory{11};

struct NamedAffinity {
    std::string_view name;
    std::string_view summary;
    BusAffinity element_of_thread;
};

/// The affinities of Sudheer 2012, ch. 4.
[[nodiscard]] std::span<const NamedAffinity> named_affinities();

/// Returns the stations of elements 0 ... 7: the Cell layout if the bus has 12 stations and all eight SPEs
/// are allocated, otherwise the nodes of the eight allocated slots in order. Throws Error for other
/// allocations, and for machines without a ring bus.
[[nodiscard]] std::array<Node, bus_elements> find_element_stations(const Allocation& allocation);

/// Returns the bus of a machine. Throws Error for other topologies.
[[nodiscard]] const RingBus& ring_bus_of(const Machine& machine);

}  // namespace topoloom
