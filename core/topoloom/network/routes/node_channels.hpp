// SPDX-License-Identifier: BSD-3-Clause
// By which channels nodes send and receive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/network/fabric.hpp"

namespace topoloom {

/// Channels from nodes to routers, and back. A node has several where it is attached to several routers.
struct NodeChannels {
    explicit NodeChannels(const Fabric& fabric);

    std::vector<std::vector<ChannelId>> entries;  // [node]
    std::vector<std::vector<ChannelId>> exits;    // [node]
    std::vector<Node> node_at;  // [router]: the first that enters there; none: there is none
};

}  // namespace topoloom
