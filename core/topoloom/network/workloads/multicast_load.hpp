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

/// Receiver sets of multicasts. Each sender has several and draws one for each packet.
struct MulticastSets {
    /// multicast(fanout=4,sets=8,senders=0)  sets of this many receivers on average, each other node with the same chance;
    ///                                       `senders` nodes, equally spaced, send to those that do not; 0: all send to all
    /// copies(...)                           likewise, but cards send a packet to each receiver
    /// Throws Error for fanouts above the number of receivers.
    MulticastSets(std::string_view text, std::size_t nodes, std::uint64_t seed);
    /// Whether text names one of these.
    [[nodiscard]] static bool is_named(std::string_view text) {
        const std::string_view name = text.substr(0, text.find('('));
        return name == "multicast" || name == "copies";
    }

    bool in_switches = true;  // packets are copied
    std::vector<Node> senders;
    std::vector<Multicast> sets;  // of the first sender, then of the next
    std::size_t sets_per_sender = 0;
    double fanout = 0;  // of these sets, on average
};

/// Trees for them: of a fat tree up by the least loaded parents, elsewhere along the machine's routes.
[[nodiscard]] std::vector<SwitchGroup> multicast_groups(const Machine& machine, const MulticastSets& sets);

/// Each sender makes packets of the same length at the same rate. Switches copy them along the trees, or a card sends a copy to
/// each receiver in turn.
class MulticastLoad final : public LoadSource {
   public:
    /// `load`: flits that each sender makes per cycle. Keeps a reference to the sets. Throws Error for what a Source refuses, and a closed
    /// loop.
    MulticastLoad(const MulticastSets& sets, std::size_t nodes, std::uint32_t packet, double load,
                  std::uint64_t seed, const Injection& injection = Injection{});

    [[nodiscard]] double load() const override { return load_; }
    [[nodiscard]] bool sends(Node node) const override { return number_[node.value] != no_index; }
    [[nodiscard]] std::size_t sender_count() const override { return sets_.senders.size(); }
    [[nodiscard]] double copies() const override { return sets_.fanout; }
    [[nodiscard]] std::uint32_t longest_packet() const override { return packet_; }
    [[nodiscard]] std::uint64_t next(Node node) const override;
    [[nodiscard]] PacketRequest take(Node node, std::uint64_t cycle) override;

   private:
    /// A multicast that the NIC is copying.
    struct Begun {
        std::size_t set = 0;
        std::size_t left = 0;  // members
        std::uint64_t made = 0;
    };

    const MulticastSets& sets_;
    std::uint32_t packet_;
    double load_;
    std::vector<std::uint32_t> number_;  // [node]: among the senders; no_index: it does not send
    std::vector<PacketSource> sources_;  // [sender]
    std::vector<Begun> begun_;           // [sender]
};

}  // namespace topoloom
