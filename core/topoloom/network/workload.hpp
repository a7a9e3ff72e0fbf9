// SPDX-License-Identifier: BSD-3-Clause
// What nodes send, and what follows from what they receive.
#pragma once

#include <cstdint>
#include <limits>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// Of an event that has no cycle.
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// A packet that a node is to send.
struct PacketRequest {
    Node to;
    std::uint32_t flits = 0;    // 0: there is none, see Workload::take()
    std::uint64_t message = 0;  // the workload's own number of what it is a part of
    std::uint64_t made = 0;     // cycle
};

/// Networks ask for a node's packets one by one, and say which ones have come. All that a workload knows of a node is changed by
/// calls for that node alone, so that threads may take nodes in any order.
class Workload {
   public:
    Workload() = default;
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;
    virtual ~Workload() = default;

    /// The most flits of a packet.
    [[nodiscard]] virtual std::uint32_t longest_packet() const = 0;
    /// The cycle from which on a node has a packet to send, or something to do by itself; `never` as long as it waits for
    /// others, or is done.
    [[nodiscard]] virtual std::uint64_t next(Node node) const = 0;
    /// The packet that next() spoke of, which the network takes in this cycle, not before it is made. No flits: there was something
    /// else to do, which is done, and next() is later.
    [[nodiscard]] virtual PacketRequest take(Node node, std::uint64_t cycle) = 0;
    /// All of a packet has left a node when a cycle begins, which may be a later one. It took no other since.
    virtual void left(Node /*node*/, const PacketRequest& /*order*/, std::uint64_t /*cycle*/) {}
    /// All of a packet has come to a node in a cycle.
    virtual void receive(Node /*node*/, const PacketRequest& /*order*/, std::uint64_t /*cycle*/) {}
};

}  // namespace topoloom
