// SPDX-License-Identifier: BSD-3-Clause
// Parts of a fabric for threads, which wait for each other only as often as channels need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "topoloom/network/fabric.hpp"

namespace topoloom {

/// Routers with consecutive numbers, and the nodes that send by them.
struct Shard {
    std::uint32_t first_router = 0;
    std::uint32_t end_router = 0;
    std::vector<Node> nodes;
    std::vector<ChannelId> entries;  // from these nodes
    std::vector<ChannelId> exits;    // to them
};

struct Shards {
    std::vector<Shard> parts;
    bool has_foreign_entries = false;  // a node has channels to routers of another shard than its own
};

/// As many as asked for, or as there are routers, with about as many ports each.
[[nodiscard]] Shards make_shards(const Fabric& fabric, std::size_t count);

/// Runs each shard from cycle `begin` to `end` in a thread of its own: work(shard, from, to) with at most `ahead` cycles at a
/// time, after which all wait for each other. The first exception is rethrown once all have stopped.
void run_shards(std::size_t shards, std::uint64_t begin, std::uint64_t end, std::uint32_t ahead,
                const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& work);

}  // namespace topoloom
