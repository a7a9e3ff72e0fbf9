// SPDX-License-Identifier: BSD-3-Clause
// Injection and ejection channels of nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/network/fabric.hpp"

namespace topoloom {

/// Channels from nodes to routers and back. A node attached to several routers has several.
struct NodeChannels {
    explicit NodeChannels(const Fabric& fabric);

    std::vector<std::vector<ChannelId>> entries;  // [node]
    std::vector<std::vector<ChannelId>> exits;    // [node]
    /// [router]: first node that has a channel to this router, or none.
    std::vector<Node> node_at;
};

}  // namespace topoloom
