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
    std::vector<Node> node_at;                    // [router]: first node that enters there, or none
};

}  // namespace topoloom
