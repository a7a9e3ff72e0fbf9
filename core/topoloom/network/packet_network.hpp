// SPDX-License-Identifier: BSD-3-Clause
// What all kinds of simulated switches can be asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace topoloom {

/// What nodes have received since the counts began. Integers, whose sums do not depend on their order.
struct Received {
    /// Latencies are counted one by one up to this number of cycles.
    static constexpr std::size_t max_cycles = std::size_t{1} << 16;

    std::uint64_t packets = 0;
    std::uint64_t flits = 0;
    std::uint64_t latency = 0;                // sum over packets, in cycles: from made to all there
    std::vector<std::uint64_t> by_latency{};  // [cycles], the last also of all longer ones
    std::vector<std::uint64_t> sent{};        // [node]: flits; empty: not counted
};

/// What is in use at a time.
struct Usage {
    std::uint64_t stored = 0;  // flits in buffers of switches
    std::uint64_t room = 0;    // of all these buffers
    std::uint64_t outputs = 0;
};

/// Switches and channels that pass on what a workload makes its nodes send.
class PacketNetwork {
   public:
    PacketNetwork() = default;
    PacketNetwork(const PacketNetwork&) = delete;
    PacketNetwork& operator=(const PacketNetwork&) = delete;
    virtual ~PacketNetwork() = default;

    virtual void run(std::uint64_t cycles) = 0;
    [[nodiscard]] virtual std::uint64_t cycle() const = 0;
    /// The cycle in which something happens next: this one as long as flits or credits are on their way, else the one in which a
    /// node sends, `never` if none will.
    [[nodiscard]] virtual std::uint64_t next_event() const = 0;
    /// [node]: how far it is behind, in cycles since the packet was made that it would send next.
    [[nodiscard]] virtual std::vector<std::uint64_t> lags() const = 0;
    /// Counts since the last call of this function.
    [[nodiscard]] virtual Received take_received() = 0;
    /// Flits that have crossed a switch so far.
    [[nodiscard]] virtual std::uint64_t flit_hops() const = 0;
    /// [channel]: flits that have gone over it so far.
    [[nodiscard]] virtual std::vector<std::uint64_t> carried() const = 0;
    [[nodiscard]] virtual Usage usage() const { return {}; }
    /// Packets that wait for each other in a circle, in a line; empty: there are none, or it is not known.
    [[nodiscard]] virtual std::string describe_deadlock() const { return {}; }
    /// Throws Error unless all adds up: each buffer is as large as the flits and credits that belong to it, wherever they are, and
    /// what nodes have sent has been received or is on its way.
    virtual void check() const = 0;
};

}  // namespace topoloom
