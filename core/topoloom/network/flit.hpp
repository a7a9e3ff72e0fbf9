// SPDX-License-Identifier: BSD-3-Clause
// Flits, the units of packets that channels transport.
#pragma once

#include <cstdint>

namespace topoloom {

/// A flit: packet, virtual channel, and head and tail flags. The default value means no flit.
class Flit {
   public:
    constexpr Flit() = default;
    constexpr Flit(std::uint32_t packet, std::uint32_t vc, bool is_head, bool is_tail)
        : packet_(packet), vc_(static_cast<std::uint8_t>(vc)), flags_(flags_of(is_head, is_tail)) {}

    [[nodiscard]] constexpr std::uint32_t packet() const { return packet_; }
    [[nodiscard]] constexpr std::uint32_t vc() const { return vc_; }
    [[nodiscard]] constexpr bool is_head() const { return (flags_ & 1U) != 0; }
    [[nodiscard]] constexpr bool is_tail() const { return (flags_ & 2U) != 0; }
    [[nodiscard]] constexpr bool is_none() const { return flags_ == 0; }
    [[nodiscard]] constexpr Flit with_vc(std::uint32_t vc) const {
        Flit flit = *this;
        flit.vc_ = static_cast<std::uint8_t>(vc);
        return flit;
    }
    friend constexpr bool operator==(const Flit&, const Flit&) = default;

   private:
    static constexpr std::uint8_t flags_of(bool is_head, bool is_tail) {
        return static_cast<std::uint8_t>(4U | (is_head ? 1U : 0U) | (is_tail ? 2U : 0U));
    }
    std::uint32_t packet_ = 0;
    std::uint8_t vc_ = 0;
    std::uint8_t flags_ = 0;
};

}  // namespace topoloom
