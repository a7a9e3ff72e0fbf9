// SPDX-License-Identifier: BSD-3-Clause
// Interface of simulated networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace topoloom {

/// Counts of received packets since the last reset. Integers, so that sums do not depend on their order.
struct Received {
    /// Latencies up to this number of cycles have a histogram bin of their own.
    static constexpr std::size_t max_cycles = std::size_t{1} << 16;

    std::uint64_t packets = 0;
    std::uint64_t flits = 0;
    std::uint64_t latency = 0;  // sum over packets, in cycles: from creation to arrival of the tail
    std::vector<std::uint64_t> by_latency{};  // [cycles]; the last bin includes all longer ones
    std::vector<std::uint64_t> sent{};        // [node]: flits; empty: not counted
};

/// Buffer occupancy at one time.
struct Usage {
    std::uint64_t stored = 0;  // flits in buffers of switches
    std::uint64_t room = 0;    // of all these buffers
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
    /// The cycle of the next event: the current one while flits or credits are in flight, otherwise that of the
    /// next packet; `never` if there is none.
    [[nodiscard]] virtual std::uint64_t next_event() const = 0;
    /// [node]: cycles since the creation of the packet that the node sends next.
    [[nodiscard]] virtual std::vector<std::uint64_t> lags() const = 0;
    /// Returns the counts since the last call.
    [[nodiscard]] virtual Received take_received() = 0;
    /// Flits forwarded by switches so far.
    [[nodiscard]] virtual std::uint64_t flit_hops() const = 0;
    /// [channel]: flits transported so far.
    [[nodiscard]] virtual std::vector<std::uint64_t> carried() const = 0;
    [[nodiscard]] virtual Usage usage() const { return {}; }
    /// The packets of a deadlock in one line; empty if there is none or it is unknown.
    [[nodiscard]] virtual std::string describe_deadlock() const { return {}; }
    /// Checks conservation of flits and credits: per buffer, and between nodes. Throws Error on a violation.
    virtual void check() const = 0;
};

}  // namespace topoloom
