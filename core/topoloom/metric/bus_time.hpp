// SPDX-License-Identifier: BSD-3-Clause
// How fast messages are on a ring bus: pieces in turn on its rings, as an arbiter grants them.
#pragma once

#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/topologies/ring_bus.hpp"

namespace topoloom {

struct BusMessage {
    Node from, to;
    Bytes bytes;
};

struct BusTiming {
    Bytes piece{16384};  // the largest DMA transfer; messages of less neither wait nor make others wait
    Seconds startup{0};  // of a message
    /// The station of the memory controller, which reads or writes one piece at a time; none if there is not any.
    Node memory = Node::none;
    /// Observed, not explained: a ring does not carry three messages of one size where two or more of them go over two
    /// or more links and pass an end of the bus, between its last station and the first or opposite. The source gives no
    /// amount; here such a ring carries two of them at a time.
    bool ring_ends = false;
};

/// Bandwidth over all ways that half-way messages may go, of which nothing is known: the least, the mean, the most.
struct BusRate {
    BytesPerSecond worst{0}, mean{0}, best{0};
};

struct BusRates {
    std::vector<BusRate> of_message;
    BusRate slowest;       // message
    BusRate average;       // over the messages
    std::size_t ways = 1;  // of the half-way messages
};

/// All messages start at once. A station sends one piece at a time and receives one, each at the bandwidth of a ring.
/// Pieces take the shorter arc, and start if those in flight in that direction can be dealt to its rings with them: on
/// a ring no two share a link, and no more than the bus's `transfers` are in flight. Who has waited longest goes first.
/// The principles are those of Sudheer 2012, section 4.6, which gives no formula. Throws Error for messages without bytes
/// or from a station to itself, without a piece, for more than 64 stations, and for more than 12 half-way messages or, over
/// all ways, 2^20 pieces.
[[nodiscard]] BusRates bus_rates(const RingBus& bus, std::span<const BusMessage> messages,
                                 const BusTiming& timing);

}  // namespace topoloom
