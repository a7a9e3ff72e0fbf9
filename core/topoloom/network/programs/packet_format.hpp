// SPDX-License-Identifier: BSD-3-Clause
// Division of messages into packets, and of packets into flits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom {

/// Sizes in bytes. A packet is a header and at most `payload` bytes of one message. A packet has at least one
/// flit, even without header and payload.
struct PacketFormat {
    std::uint32_t flit = 32;
    std::uint32_t payload = 256;
    std::uint32_t header = 16;

    [[nodiscard]] std::uint64_t packet_count(Bytes message) const {
        return std::max<std::uint64_t>(1,
                                       (static_cast<std::uint64_t>(message.value) + payload - 1) / payload);
    }
    /// Flits of the next packet if `left` bytes of the message remain.
    [[nodiscard]] std::uint32_t flit_count(std::uint64_t left) const {
        const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, payload)) + header;
        return std::max((bytes + flit - 1) / flit, 1U);
    }
};

/// Throws Error for packets that are empty or too large.
void require_packet_format(const PacketFormat& format);

}  // namespace topoloom
