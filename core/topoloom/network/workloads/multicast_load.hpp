// SPDX-License-Identifier: BSD-3-Clause
// Random multicasts, copied by switches or by the sending NIC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "topoloom/network/crosspoint/switch_group.hpp"
#include "topoloom/network/workloads/load_source.hpp"
#include "topoloom/network/workloads/packet_source.hpp"

namespace topoloom {

/// Receiver sets of multicasts. Each sender has several sets and draws one per packet.
struct MulticastSets {
    /// multicast(fanout=4,sets=8,senders=0)  `sets` random sets per sender, of `fanout` receivers on average;
    ///                                       `senders` equally spaced nodes send to the other nodes; 0: all send to all
    /// copies(...)                           the same sets, but the NIC sends a packet to each receiver
    /// Throws Error for fanouts above the number of receivers.
    MulticastSets(std::string_view text, std::size_t nodes, std::uint64_t seed);
    /// Whether the text describes a `multicast` or `copies` pattern.
    [[nodiscard]] static bool is_multicast_text(std::string_view text) {
        const std::string_view name = text.substr(0, text.find('('));
        return name == "multicast" || name == "copies";
    }

    bool in_switches = true;  // whether switches copy packets
    std::vector<Node> senders;
    std::vector<Multicast> sets;  // sets of receivers, grouped by sender
    std::size_t sets_per_sender = 0;
    double fanout = 0;  // mean number of receivers per set
};

/// Builds trees for the sets. On fat trees they lead up over the least loaded parents; elsewhere they follow
/// the machine's routes.
[[nodiscard]] std::vector<SwitchGroup> multicast_groups(const Machine& machine, const MulticastSets& sets);

/// A multicast workload. Each sender creates packets of the same length at the same rate. Switches copy
/// packets along the trees, or the NIC sends a copy to each receiver in turn.
class MulticastLoad final : public LoadSource {
   public:
    /// `load` is in flits per sender and cycle. Refers to the sets. Throws the same errors as PacketSource,
    /// and Error for closed-loop injection.
    MulticastLoad(const MulticastSets& sets, std::size_t nodes, std::uint32_t packet, double load,
                  std::uint64_t seed, const Injection& injection = Injection{});

    [[nodiscard]] double load() const override { return load_; }
    [[nodiscard]] bool sends(Node node) const override { return number_[node.value] != no_index; }
    [[nodiscard]] std::size_t sender_count() const override { return sets_.senders.size(); }
    [[nodiscard]] double mean_copies() const override { return sets_.fanout; }
    [[nodiscard]] std::uint32_t longest_packet() const override { return packet_; }
    [[nodiscard]] std::uint64_t next(Node node) const override;
    [[nodiscard]] PacketRequest take(Node node, std::uint64_t cycle) override;

   private:
    /// A multicast of which the NIC is sending copies.
    struct OpenMulticast {
        std::size_t set = 0;
        std::size_t left = 0;  // members
        std::uint64_t made = 0;
    };

    const MulticastSets& sets_;
    std::uint32_t packet_;
    double load_;
    std::vector<std::uint32_t> number_;  // [node]: index among the senders, or no_index
    std::vector<PacketSource> sources_;  // [sender]
    std::vector<OpenMulticast> open_;    // [sender]
};

}  // namespace topoloom
