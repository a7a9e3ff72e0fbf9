// SPDX-License-Identifier: BSD-3-Clause
// How long what ends takes in simulated switches.
#pragma once

#include <cstdint>

#include "topoloom/base/budget.hpp"
#include "topoloom/network/packet_network.hpp"
#include "topoloom/network/programs/finite_workload.hpp"

namespace topoloom {

/// Runs the network, which is new, and which these send over, until all have done their steps. Returns the cycle in which
/// the last one had, or `never` if the meter stopped it before. Throws Error where nothing moves any more, though a channel takes
/// no more than `longest_delay` cycles.
[[nodiscard]] std::uint64_t run_to_end(PacketNetwork& network, const FiniteWorkload& senders, Meter& meter,
                                       std::uint64_t longest_delay = 0);

}  // namespace topoloom
