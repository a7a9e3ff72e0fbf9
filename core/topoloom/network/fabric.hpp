// SPDX-License-Identifier: BSD-3-Clause
// The packet simulator's view of a machine: routers, ports and channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

using ChannelId = Id<struct ChannelKind>;

/// A channel from a router output to an input of another router. Entry channels begin at a node, exit
/// channels end at a node. Ports are numbered over all routers.
struct Channel {
    std::uint32_t from = no_index;    // router
    std::uint32_t to = no_index;      // router
    std::uint32_t output = no_index;  // output port of `from`
    std::uint32_t input = no_index;   // input port of `to`

    [[nodiscard]] bool is_entry() const { return from == no_index; }
    [[nodiscard]] bool is_exit() const { return to == no_index; }
};

/// The routers and channels of a machine. Routers are the vertices that forward messages. Channels are the
/// machine's links in order, then an entry and an exit per node that is a router itself.
class Fabric {
   public:
    /// The fabric refers to the machine. Throws Error for machines with isolated nodes.
    explicit Fabric(const Machine& machine);

    [[nodiscard]] const Machine& machine() const { return *machine_; }
    [[nodiscard]] std::size_t node_count() const { return machine_->node_count(); }
    [[nodiscard]] std::size_t router_count() const { return first_input_.size() - 1; }
    [[nodiscard]] std::size_t channel_count() const { return channels_.size(); }
    [[nodiscard]] std::size_t input_count() const { return into_.size(); }
    [[nodiscard]] std::size_t output_count() const { return out_of_.size(); }
    [[nodiscard]] const Channel& channel(ChannelId id) const { return channels_[id.value]; }
    /// Channels at the inputs or outputs of a router, which are consecutive ports.
    [[nodiscard]] std::span<const ChannelId> inputs_of(std::uint32_t router) const {
        return channels_of_router(into_, first_input_, router);
    }
    [[nodiscard]] std::span<const ChannelId> outputs_of(std::uint32_t router) const {
        return channels_of_router(out_of_, first_output_, router);
    }
    [[nodiscard]] std::uint32_t first_input(std::uint32_t router) const { return first_input_[router]; }
    [[nodiscard]] std::uint32_t first_output(std::uint32_t router) const { return first_output_[router]; }
    /// The channel at a port.
    [[nodiscard]] ChannelId channel_at_input(std::uint32_t port) const { return into_[port]; }
    [[nodiscard]] ChannelId channel_at_output(std::uint32_t port) const { return out_of_[port]; }
    [[nodiscard]] std::string name(ChannelId id) const;

    /// Entry and exit channel of a node that is a router itself.
    [[nodiscard]] bool is_own_router(Node node) const { return own_[node.value] != no_index; }
    [[nodiscard]] ChannelId entry(Node node) const { return ChannelId{link_count_ + 2 * own_[node.value]}; }
    [[nodiscard]] ChannelId exit(Node node) const {
        return ChannelId{link_count_ + 2 * own_[node.value] + 1};
    }

   private:
    [[nodiscard]] static std::span<const ChannelId> channels_of_router(
        const std::vector<ChannelId>& all, const std::vector<std::uint32_t>& first, std::uint32_t router) {
        return std::span(all).subspan(first[router], first[router + 1] - first[router]);
    }
    void number_ports();

    const Machine* machine_;
    std::size_t link_count_;
    std::vector<Channel> channels_;
    std::vector<std::uint32_t> own_;  // [node]: index among nodes that are routers themselves, or no_index
    std::vector<ChannelId> into_, out_of_;
    std::vector<std::uint32_t> first_input_, first_output_;  // [router]
};

}  // namespace topoloom
