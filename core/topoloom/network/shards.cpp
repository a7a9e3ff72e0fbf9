// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/shards.hpp"

#include <algorithm>
#include <barrier>
#include <exception>
#include <mutex>
#include <thread>

#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

/// Returns the shard of each router.
std::vector<std::uint32_t> divide_routers(const Fabric& fabric, std::size_t count) {
    const std::size_t ports = fabric.input_count() + fabric.output_count();
    std::vector<std::uint32_t> shard(fabric.router_count());
    for (std::uint32_t router = 0; router < shard.size(); ++router) {
        const std::size_t before = fabric.first_input(router) + std::size_t{fabric.first_output(router)};
        shard[router] = static_cast<std::uint32_t>(before * count / ports);
    }
    return shard;
}

}  // namespace

Shards make_shards(const Fabric& fabric, std::size_t count) {
    const std::size_t parts = std::min(std::max<std::size_t>(count, 1), fabric.router_count());
    const std::vector<std::uint32_t> shard = divide_routers(fabric, parts);
    Shards shards;
    shards.parts.resize(parts);
    for (std::uint32_t router = 0; router < shard.size(); ++router) {
        Shard& part = shards.parts[shard[router]];
        if (part.end_router == 0) part.first_router = router;
        part.end_router = router + 1;
    }
    const NetworkView view(fabric.machine().topology());
    /// A node belongs to the shard that its first channel leads to.
    std::vector<std::uint32_t> of_vertex(view.vertex_count(), 0);
    std::vector<bool> is_known(view.vertex_count(), false);
    const auto links = ids<Link>(view.link_count());
    for (const Link link : links) {
        const Channel& ends = fabric.channel(ChannelId{link.value});
        if (!ends.is_entry() || ends.is_exit()) continue;
        const std::uint32_t vertex = view.ends(link).from;
        if (!is_known[vertex]) of_vertex[vertex] = shard[ends.to];
        is_known[vertex] = true;
        shards.has_foreign_entries = shards.has_foreign_entries || of_vertex[vertex] != shard[ends.to];
        shards.parts[of_vertex[vertex]].entries.push_back(ChannelId{link.value});
    }
    for (const Link link : links) {
        const Channel& ends = fabric.channel(ChannelId{link.value});
        if (ends.is_exit() && !ends.is_entry())
            shards.parts[of_vertex[view.ends(link).to]].exits.push_back(ChannelId{link.value});
    }
    for (const Node node : ids<Node>(fabric.node_count())) {
        std::uint32_t at = of_vertex[view.vertex(node)];
        if (fabric.is_own_router(node)) {
            at = shard[fabric.channel(fabric.entry(node)).to];
            shards.parts[at].entries.push_back(fabric.entry(node));
            shards.parts[at].exits.push_back(fabric.exit(node));
        }
        shards.parts[at].nodes.push_back(node);
    }
    return shards;
}

void run_shards(std::size_t shards, std::uint64_t begin, std::uint64_t end, std::uint32_t ahead,
                const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& work) {
    if (shards == 1) return work(0, begin, end);
    std::exception_ptr problem;
    std::mutex problem_lock;
    bool stop = false;
    std::barrier all_there(static_cast<std::ptrdiff_t>(shards),
                           [&]() noexcept { stop = problem != nullptr; });
    const auto run = [&](std::size_t shard) {
        for (std::uint64_t from = begin; from < end && !stop; from += ahead) {
            try {
                work(shard, from, std::min<std::uint64_t>(from + ahead, end));
            } catch (...) {
                const std::lock_guard hold(problem_lock);
                if (!problem) problem = std::current_exception();
            }
            all_there.arrive_and_wait();
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t shard = 1; shard < shards; ++shard) others.emplace_back(run, shard);
        run(0);
    }
    if (problem) std::rethrow_exception(problem);
}

}  // namespace topoloom
