// SPDX-License-Identifier: BSD-3-Clause
// Interface of workloads: packets that nodes send, and reactions to received packets.
#pragma once

#include <cstdint>
#include <limits>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// The cycle of an event that never happens.
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// A packet that a node wants to send.
struct PacketRequest {
    Node to;
    std::uint32_t flits = 0;    // number of flits; 0 if there is no packet, see Workload::take()
    std::uint64_t message = 0;  // message number, defined by the workload
    std::uint64_t made = 0;     // cycle
};

/// A source of packets. Networks request a node's packets one by one and report arrivals. Calls for a node
/// modify only the state of that node, so threads can process nodes in any order.
class Workload {
   public:
    Workload() = default;
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;
    virtual ~Workload() = default;

    /// The largest packet, in flits.
    [[nodiscard]] virtual std::uint32_t longest_packet() const = 0;
    /// The cycle of the next packet or internal event of a node, or `never` if the node waits for other nodes
    /// or is done.
    [[nodiscard]] virtual std::uint64_t next(Node node) const = 0;
    /// Takes the packet due at next(); `cycle` must not be earlier. If the result has 0 flits, an internal
    /// event was processed instead, and next() has advanced.
    [[nodiscard]] virtual PacketRequest take(Node node, std::uint64_t cycle) = 0;
    /// Notifies that the tail of a packet leaves a node at the start of a cycle, which may be in the future.
    /// Since it took this packet, the node has taken no other.
    virtual void on_sent(Node /*node*/, const PacketRequest& /*order*/, std::uint64_t /*cycle*/) {}
    /// Notifies that the tail of a packet has arrived at a node.
    virtual void on_received(Node /*node*/, const PacketRequest& /*order*/, std::uint64_t /*cycle*/) {}
};

}  // namespace topoloom
