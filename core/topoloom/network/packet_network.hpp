// SPDX-License-Identifier: BSD-3-Clause
// Interface of simulated networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace topoloom {

/// Statistics of received packets since the last reset. Integers, so that sums do not depend on the order of
/// addition.
struct ReceivedPackets {
    /// Latencies up to this number of cycles have a separate histogram bin.
    static constexpr std::size_t max_cycles = std::size_t{1} << 16;

    std::uint64_t packets = 0;
    std::uint64_t flits = 0;
    std::uint64_t latency = 0;  // sum of latencies in cycles, from creation to arrival of the tail
    /// [latency in cycles]: number of packets; the last bin includes longer latencies.
    std::vector<std::uint64_t> by_latency{};
    std::vector<std::uint64_t> sent{};  // [node]: number of flits sent; empty if not counted
};

/// Buffer occupancy at one time.
struct BufferUsage {
    std::uint64_t stored = 0;  // number of flits in buffers of switches
    std::uint64_t room = 0;    // capacity of these buffers in flits
    std::uint64_t outputs = 0;
};

/// A simulated network that transports the packets of a workload.
class PacketNetwork {
   public:
    PacketNetwork() = default;
    PacketNetwork(const PacketNetwork&) = delete;
    PacketNetwork& operator=(const PacketNetwork&) = delete;
    virtual ~PacketNetwork() = default;

    virtual void run(std::uint64_t cycles) = 0;
    [[nodiscard]] virtual std::uint64_t cycle() const = 0;
    /// The cycle of the next event: the current cycle while flits or credits are in flight, else the cycle of
    /// the next packet, or `never`.
    [[nodiscard]] virtual std::uint64_t next_event() const = 0;
    /// For each node, the cycles since its next packet to send was created.
    [[nodiscard]] virtual std::vector<std::uint64_t> lags() const = 0;
    /// Returns the statistics gathered since the last call.
    [[nodiscard]] virtual ReceivedPackets take_received() = 0;
    /// Total number of flits forwarded by switches.
    [[nodiscard]] virtual std::uint64_t flit_hops() const = 0;
    /// Total number of flits transported per channel.
    [[nodiscard]] virtual std::vector<std::uint64_t> carried() const = 0;
    [[nodiscard]] virtual BufferUsage usage() const { return {}; }
    /// Describes the packets of a deadlock in one line; empty if no deadlock is found.
    [[nodiscard]] virtual std::string describe_deadlock() const { return {}; }
    /// Throws Error if flits or credits were lost or duplicated, in any buffer or between nodes.
    virtual void check() const = 0;
};

}  // namespace topoloom
