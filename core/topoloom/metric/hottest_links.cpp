// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <tuple>

#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/judge.hpp"

namespace topoloom {

namespace {

constexpr std::size_t contributors_kept = 3;

/// Keeps the heaviest; ties go to the lower ranks, so that the order of insertion does not matter.
void keep_heaviest(std::vector<Contribution>& kept, const Contribution& more) {
    const auto before = [](const Contribution& a, const Contribution& b) {
        return std::tuple(-a.bytes, a.source, a.target) < std::tuple(-b.bytes, b.source, b.target);
    };
    kept.insert(std::upper_bound(kept.begin(), kept.end(), more, before), more);
    if (kept.size() > contributors_kept) kept.pop_back();
}

std::vector<HotLink> most_congested(const Machine& machine, const Judgement& judgement, std::size_t count) {
    return with_topology(machine, [&](const auto& network) {
        std::vector<double> congestion(judgement.loads.size());
        for (const LinkRun& run : network.bandwidth_runs()) {
            for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i) {
                congestion[i] = judgement.loads[i] / run.bandwidth.value;
            }
        }
        std::vector<std::uint32_t> order(congestion.size());
        std::iota(order.begin(), order.end(), 0U);
        const std::size_t kept = std::min(count, order.size());
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                          [&](auto a, auto b) { return std::tuple(-congestion[a], a) < std::tuple(-congestion[b], b); });
        std::vector<HotLink> hot;
        for (std::size_t i = 0; i < kept && judgement.loads[order[i]] > 0; ++i) {
            const Link link{order[i]};
            hot.push_back({link, network.link_name(link), judgement.loads[order[i]], congestion[order[i]], {}});
        }
        return hot;
    });
}

}  // namespace

std::vector<HotLink> hottest_links(const CommGraph& graph, const Machine& machine, const Placement& placement,
                                   const Judgement& judgement, std::size_t count, int threads) {
    std::vector<HotLink> hot = most_congested(machine, judgement, count);
    constexpr std::uint8_t not_hot = 255;
    std::vector<std::uint8_t> hot_index(machine.link_count(), not_hot);
    hot.resize(std::min<std::size_t>(hot.size(), not_hot));
    for (std::size_t i = 0; i < hot.size(); ++i) hot_index[hot[i].link.value] = static_cast<std::uint8_t>(i);

    using Found = std::vector<std::vector<Contribution>>;  // per hot link
    std::vector<Found> found(static_cast<std::size_t>(thread_count(threads)), Found(hot.size()));
    const Chunks chunks(graph.rank_count(), ranks_per_chunk);
    with_topology(machine, [&](const auto& network) {
        parallel_for(chunks.size(), threads, [&](std::size_t c, int worker) {
            Found& mine = found[static_cast<std::size_t>(worker)];
            for (std::size_t u = chunks[c].begin; u < chunks[c].end; ++u) {
                const Node from = machine.node(placement[Rank{u}]);
                for (const Edge edge : graph.sends(Rank{u})) {
                    const auto bytes = static_cast<double>(edge.bytes.value);
                    network.route(from, machine.node(placement[edge.peer]), [&](Link link, double share) {
                        const std::uint8_t i = hot_index[link.value];
                        if (i != not_hot) keep_heaviest(mine[i], {Rank{u}, edge.peer, bytes * share});
                    });
                }
            }
        });
    });
    for (const Found& one : found) {
        for (std::size_t i = 0; i < hot.size(); ++i) {
            for (const Contribution& c : one[i]) keep_heaviest(hot[i].contributors, c);
        }
    }
    return hot;
}

}  // namespace topoloom
