// SPDX-License-Identifier: BSD-3-Clause
// Networks of ranks that are neighbors on the machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/rank_network.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// A network whose ranks are numbered anew.
struct NumberedNetwork {
    RankNetwork network;
    std::vector<std::uint32_t> rank_of_number;
};

/// Joins ranks of one router in a chain, and ranks of adjacent routers of a torus or mesh one by one. Parts that are
/// not joined so are joined along the machine's curve. Without a grid, joins ranks whose positions along the curve
/// differ in one bit: low bits are the same node and the same switches. O(ranks log ranks).
[[nodiscard]] NumberedNetwork join_machine_neighbors(const Machine& machine, std::span<const Slot> slots);

}  // namespace topoloom
