// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/run_to_end.hpp"

#include <string>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// Number of cycles between two checks for a deadlock.
constexpr std::uint64_t cycles_between_checks = 1024;
/// A deadlock is reported if no flit crosses a switch for this number of cycles plus the longest channel
/// delay.
constexpr std::uint64_t stall_timeout = 1 << 16;

}  // namespace

std::uint64_t run_to_end(PacketNetwork& network, const FiniteWorkload& senders, Meter& meter,
                         std::uint64_t longest_delay) {
    std::uint64_t moved = network.cycle(), hops = 0, steps = 0;
    while (!senders.is_done()) {
        const std::uint64_t next = network.next_event();
        network.run(next == never ? cycles_between_checks : next - network.cycle() + cycles_between_checks);
        if (!meter.poll()) return never;
        if (network.flit_hops() != hops || senders.steps_done() != steps ||
            network.next_event() != network.cycle()) {
            hops = network.flit_hops();
            steps = senders.steps_done();
            moved = network.cycle();
        }
        if (network.next_event() == never && !senders.is_done())
            fail("the program deadlocks: ", senders.describe_first_waiting());
        if (network.cycle() - moved <= stall_timeout + longest_delay) continue;
        const std::string circle = network.describe_deadlock();
        fail("packets are deadlocked: ", circle.empty() ? senders.describe_first_waiting() : circle);
    }
    return senders.end();
}

}  // namespace topoloom
