// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/workloads/open_loop.hpp"

namespace topoloom {

OpenLoop::OpenLoop(const TrafficPattern& traffic, std::size_t nodes, std::uint32_t packet, double load,
                   std::uint64_t seed, const Injection& injection)
    : traffic_(traffic), load_(load), packet_(packet) {
    sources_.reserve(nodes);
    for (const Node node : ids<Node>(nodes)) {
        sources_.emplace_back(injection, load, packet, seed, node.value);
        sender_count_ += traffic.sends(node) ? 1 : 0;
    }
}

}  // namespace topoloom
