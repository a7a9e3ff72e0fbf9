// SPDX-License-Identifier: BSD-3-Clause
// Bandwidth of concurrent messages on a ring bus whose arbiter grants one piece at a time.
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
    Bytes piece{16384};  // bytes of the largest DMA transfer; smaller messages never contend
    Seconds startup{0};  // per message
    /// Station of the memory controller, which transfers one piece at a time, or Node::none.
    Node memory = Node::none;
    /// Whether rings have the following limit, which was observed but not explained: three messages of equal
    /// size do not share a ring if at least two of them span two or more links and pass an end of the bus.
    /// The two ends are between the last station and the first, and on the opposite side of the bus. The
    /// source gives no numbers; in this model such a ring carries two of these messages at a time.
    bool ring_ends = false;
};

/// Worst, mean and best bandwidth over all direction choices of half-way messages, whose directions are
/// unknown.
struct BusRate {
    BytesPerSecond worst{0}, mean{0}, best{0};
};

struct BusRates {
    std::vector<BusRate> of_message;
    BusRate slowest;       // message
    BusRate average;       // average over all messages
    std::size_t ways = 1;  // number of direction choices of half-way messages
};

/// Simulates messages that all start at once. A station sends one piece and receives one piece at a time, at
/// the bandwidth of a ring. Pieces use the shorter arc. A piece starts if the rings of its direction can
/// carry it together with the pieces in flight: pieces on a ring share no link, and at most `transfers` of
/// them are in flight. The longest-waiting message has priority. Sudheer 2012, section 4.6, states these
/// principles without a formula. Throws Error for empty messages, messages from a station to itself, a piece
/// of 0 bytes, more than 64 stations, more than 12 half-way messages, and more than 2^20 pieces over all
/// direction choices.
[[nodiscard]] BusRates bus_rates(const RingBus& bus, std::span<const BusMessage> messages,
                                 const BusTiming& timing);

}  // namespace topoloom
