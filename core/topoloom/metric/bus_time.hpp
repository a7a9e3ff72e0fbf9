// SPDX-License-Identifier: BSD-3-Clause
// Bandwidth of concurrent messages on a ring bus, which an arbiter grants piece by piece.
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
    Bytes piece{16384};  // largest DMA transfer; smaller messages never contend
    Seconds startup{0};  // per message
    /// Station of the memory controller, which transfers one piece at a time; Node::none if there is none.
    Node memory = Node::none;
    /// Observed, not explained: a ring does not carry three messages of one size if at least two of them span two
    /// or more links and pass an end of the bus, between its last station and the first or opposite. The source
    /// gives no amount; here such a ring carries two of them at a time.
    bool ring_ends = false;
};

/// Worst, mean and best bandwidth over all directions of half-way messages, which are unknown.
struct BusRate {
    BytesPerSecond worst{0}, mean{0}, best{0};
};

struct BusRates {
    std::vector<BusRate> of_message;
    BusRate slowest;       // message
    BusRate average;       // over all messages
    std::size_t ways = 1;  // direction choices of half-way messages
};

/// All messages start at once. A station sends one piece and receives one piece at a time, at the bandwidth of a
/// ring. Pieces take the shorter arc. A piece starts if it fits on the rings of its direction with those in flight:
/// pieces on a ring share no link, and at most `transfers` are in flight. The longest-waiting message goes first.
/// Sudheer 2012, section 4.6, states these principles without a formula. Throws Error for empty messages, messages to
/// the same station, a piece of 0 bytes, more than 64 stations, more than 12 half-way messages, and more than 2^20
/// pieces over all directions.
[[nodiscard]] BusRates bus_rates(const RingBus& bus, std::span<const BusMessage> messages,
                                 const BusTiming& timing);

}  // namespace topoloom
