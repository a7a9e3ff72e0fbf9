// SPDX-License-Identifier: BSD-3-Clause
// Closed-loop workload: nodes limit outstanding packets and wait for replies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "topoloom/network/workloads/load_source.hpp"
#include "topoloom/network/workloads/packet_source.hpp"
#include "topoloom/network/workloads/traffic_pattern.hpp"

namespace topoloom {

/// A closed-loop workload. All sending nodes of the pattern create packets at the same mean rate. A node with
/// `window` packets without a reply holds back further packets. Latency counts from the cycle in which a
/// packet is no longer held back. A receiver replies immediately, before sending its own packets.
class ClosedLoop final : public LoadSource {
   public:
    /// `load` is in flits per sending node and cycle, without replies. Refers to the traffic. Throws the same
    /// errors as PacketSource, and Error for nodes or windows beyond 32 bits.
    ClosedLoop(const TrafficPattern& traffic, std::size_t nodes, std::uint32_t packet, double load,
               std::uint64_t seed, const Injection& injection);

    [[nodiscard]] double load() const override { return load_; }
    [[nodiscard]] bool sends(Node node) const override { return traffic_.sends(node); }
    [[nodiscard]] std::size_t sender_count() const override { return sender_count_; }
    [[nodiscard]] double mean_copies() const override { return 1 + static_cast<double>(reply_) / packet_; }
    [[nodiscard]] std::uint32_t longest_packet() const override { return std::max(packet_, reply_); }
    [[nodiscard]] std::uint64_t held_back_cycles(Node node, std::uint64_t cycle) const override;
    [[nodiscard]] std::uint64_t next(Node node) const override;
    [[nodiscard]] PacketRequest take(Node node, std::uint64_t cycle) override;
    void on_received(Node node, const PacketRequest& order, std::uint64_t cycle) override;

   private:
    struct Reply {
        Node to;
        std::uint64_t made;
    };
    struct Sender {
        PacketSource source;
        std::uint32_t open = 0;        // number of packets without a reply
        std::uint64_t since = 0;       // cycle in which the window last stopped being full
        std::vector<Reply> replies{};  // replies to send, from index `first` on
        std::size_t first = 0;
    };

    const TrafficPattern& traffic_;
    double load_;
    std::uint32_t packet_, reply_, window_;
    std::size_t sender_count_ = 0;
    std::vector<Sender> senders_;  // [node]
};

}  // namespace topoloom
