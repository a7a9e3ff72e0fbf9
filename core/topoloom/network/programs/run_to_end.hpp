// SPDX-License-Identifier: BSD-3-Clause
// Simulation of a finite workload to completion.
#pragma once

#include <cstdint>

#include "topoloom/base/budget.hpp"
#include "topoloom/network/packet_network.hpp"
#include "topoloom/network/programs/finite_workload.hpp"

namespace topoloom {

/// Runs a new network until all nodes have finished. Returns the cycle of the last step, or `never` if the
/// meter stopped the run. `longest_delay` is the maximum channel delay in cycles. Throws Error on deadlock.
[[nodiscard]] std::uint64_t run_to_end(PacketNetwork& network, const FiniteWorkload& senders, Meter& meter,
                                       std::uint64_t longest_delay = 0);

}  // namespace topoloom
