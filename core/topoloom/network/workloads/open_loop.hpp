// SPDX-License-Identifier: BSD-3-Clause
// Open-loop workload: nodes create packets at random, regardless of backpressure.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/network/workloads/load_source.hpp"
#include "topoloom/network/workloads/packet_source.hpp"
#include "topoloom/network/workloads/traffic_pattern.hpp"

namespace topoloom {

/// An open-loop workload. All sending nodes of the pattern create packets of the same length at the same mean
/// rate.
class OpenLoop final : public LoadSource {
   public:
    /// `load` is in flits per sending node and cycle. Refers to the traffic. Throws the same errors as
    /// PacketSource.
    OpenLoop(const TrafficPattern& traffic, std::size_t nodes, std::uint32_t packet, double load,
             std::uint64_t seed, const Injection& injection = Injection{});

    [[nodiscard]] double load() const override { return load_; }
    [[nodiscard]] bool sends(Node node) const override { return traffic_.sends(node); }
    [[nodiscard]] std::size_t sender_count() const override { return sender_count_; }
    [[nodiscard]] std::uint32_t longest_packet() const override { return packet_; }
    [[nodiscard]] std::uint64_t next(Node node) const override {
        return traffic_.sends(node) ? sources_[node.value].next() : never;
    }
    [[nodiscard]] PacketRequest take(Node node, std::uint64_t /*cycle*/) override {
        PacketSource& source = sources_[node.value];
        const std::uint64_t made = source.next();
        source.take();
        return {traffic_.draw_destination(node, source.rng()), packet_, 0, made};
    }

   private:
    const TrafficPattern& traffic_;
    double load_;
    std::uint32_t packet_;
    std::size_t sender_count_ = 0;
    std::vector<PacketSource> sources_;  // [node]
};

}  // namespace topoloom
