// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/workloads/open_loop.hpp"

#include "topoloom/base/error.hpp"

namespace topoloom {

OpenLoop::OpenLoop(const TrafficPattern& traffic, std::size_t nodes, std::uint32_t packet, double load,
                   std::uint64_t seed)
    : traffic_(traffic), load_(load), packet_(packet) {
    if (packet == 0) fail("a packet has 1 flit or more, not 0");
    if (!(load > 0) || load > 1)
        fail("a load must be above 0 and at most 1 flit per node and cycle, not ", load);
    sources_.reserve(nodes);
    for (const Node node : ids<Node>(nodes)) {
        sources_.emplace_back(load / packet, seed, node.value);
        sender_count_ += traffic.sends(node) ? 1 : 0;
    }
}

}  // namespace topoloom
