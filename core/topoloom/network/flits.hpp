// SPDX-License-Identifier: BSD-3-Clause
// Packets, and the flits that they are cut in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/network/paths.hpp"
#include "topoloom/network/workload.hpp"

namespace topoloom {

/// A flit knows its packet, the virtual channel that it is on, and whether it is the packet's first or last. By default none.
class Flit {
   public:
    constexpr Flit() = default;
    constexpr Flit(std::uint32_t packet, std::uint32_t vc, bool is_head, bool is_tail)
        : packet_(packet), vc_(static_cast<std::uint8_t>(vc)), marks_(mark(is_head, is_tail)) {}

    [[nodiscard]] constexpr std::uint32_t packet() const { return packet_; }
    [[nodiscard]] constexpr std::uint32_t vc() const { return vc_; }
    [[nodiscard]] constexpr bool is_head() const { return (marks_ & 1U) != 0; }
    [[nodiscard]] constexpr bool is_tail() const { return (marks_ & 2U) != 0; }
    [[nodiscard]] constexpr bool is_none() const { return marks_ == 0; }
    [[nodiscard]] constexpr Flit on(std::uint32_t vc) const {
        Flit flit = *this;
        flit.vc_ = static_cast<std::uint8_t>(vc);
        return flit;
    }
    friend constexpr bool operator==(const Flit&, const Flit&) = default;

   private:
    static constexpr std::uint8_t mark(bool is_head, bool is_tail) {
        return static_cast<std::uint8_t>(4U | (is_head ? 1U : 0U) | (is_tail ? 2U : 0U));
    }
    std::uint32_t packet_ = 0;
    std::uint8_t vc_ = 0;
    std::uint8_t marks_ = 0;
};

/// Those on their way, with their paths. Numbers are used again.
class Packets {
   public:
    struct Packet {
        Order order;
        std::uint32_t hop = 0;  // of the path: where its head is, or goes
    };

    explicit Packets(std::size_t longest_path) : longest_(longest_path) {}

    [[nodiscard]] std::uint32_t make(const Order& order, std::span<const Hop> path) {
        if (free_.empty()) add();
        const std::uint32_t packet = free_.back();
        free_.pop_back();
        packets_[packet] = {order};
        std::copy(path.begin(), path.end(), hops_.begin() + static_cast<std::ptrdiff_t>(packet * longest_));
        return packet;
    }
    void free(std::uint32_t packet) { free_.push_back(packet); }
    [[nodiscard]] Packet& operator[](std::uint32_t packet) { return packets_[packet]; }
    [[nodiscard]] const Packet& operator[](std::uint32_t packet) const { return packets_[packet]; }
    /// The hop that the head takes next, or has taken last.
    [[nodiscard]] const Hop& hop(std::uint32_t packet) const {
        return hops_[packet * longest_ + packets_[packet].hop];
    }
    void step(std::uint32_t packet) { ++packets_[packet].hop; }
    [[nodiscard]] std::size_t on_their_way() const { return packets_.size() - free_.size(); }

   private:
    void add() {
        free_.push_back(static_cast<std::uint32_t>(packets_.size()));
        packets_.emplace_back();
        hops_.resize(hops_.size() + longest_);
    }

    std::size_t longest_;
    std::vector<Packet> packets_;
    std::vector<Hop> hops_;  // [packet][hop]
    std::vector<std::uint32_t> free_;
};

}  // namespace topoloom
