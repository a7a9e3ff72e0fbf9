// SPDX-License-Identifier: BSD-3-Clause
// Partitions a fabric among threads, which synchronize as rarely as the channel delays permit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "topoloom/network/fabric.hpp"

namespace topoloom {

/// A part of a fabric: consecutive routers, and the nodes attached to them.
struct Shard {
    std::uint32_t first_router = 0;
    std::uint32_t end_router = 0;
    std::vector<Node> nodes;
    std::vector<ChannelId> entries;  // channels that begin at these nodes
    std::vector<ChannelId> exits;    // channels that end at these nodes
};

struct Shards {
    std::vector<Shard> parts;
    bool has_foreign_entries = false;  // whether a node has channels to routers of other shards
};

/// Makes `count` shards, at most one per router, with similar port counts.
[[nodiscard]] Shards make_shards(const Fabric& fabric, std::size_t count);

/// Runs each shard in its own thread from cycle `begin` to `end`. Between barriers, calls work(shard, from,
/// to) for at most `ahead` cycles. Rethrows the first exception after all threads have stopped.
void run_shards(std::size_t shards, std::uint64_t begin, std::uint64_t end, std::uint32_t ahead,
                const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& work);

}  // namespace topoloom
