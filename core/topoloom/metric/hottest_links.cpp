// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/judge.hpp"
#include "topoloom/metric/proxies.hpp"

namespace topoloom {

namespace {

constexpr std::size_t contributors_kept = 3;

/// Inserts a contribution and drops the smallest one. If several are smallest, drops the one with the highest
/// ranks, so that the order of insertion does not matter.
void insert_if_heavy(std::vector<Contribution>& kept, const Contribution& more) {
    const auto before = [](const Contribution& a, const Contribution& b) {
        return std::tuple(-a.bytes, a.source, a.target) < std::tuple(-b.bytes, b.source, b.target);
    };
    kept.insert(std::upper_bound(kept.begin(), kept.end(), more, before), more);
    if (kept.size() > contributors_kept) kept.pop_back();
}

std::vector<HotLink> find_most_congested(const Machine& machine, const Judgement& judgement,
                                         std::size_t count) {
    const NetworkView network(machine.topology());
    std::vector<double> congestion(judgement.loads.size());
    for (const LinkRun& run : network.bandwidth_runs()) {
        for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i) {
            congestion[i] = judgement.loads[i] / run.bandwidth.value;
        }
    }
    std::vector<std::uint32_t> order(congestion.size());
    std::iota(order.begin(), order.end(), 0U);
    const std::size_t kept = std::min(count, order.size());
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
        [&](auto a, auto b) { return std::tuple(-congestion[a], a) < std::tuple(-congestion[b], b); });
    std::vector<HotLink> hot;
    for (std::size_t i = 0; i < kept && judgement.loads[order[i]] > 0; ++i) {
        const Link link{order[i]};
        hot.push_back({link, network.link_name(link), judgement.loads[order[i]], congestion[order[i]], {}});
    }
    return hot;
}

using Routes = std::function<void(Node, Node, const RouteVisitor&)>;

/// Returns the routes that the judgement assumes. The routes refer to the machine.
Routes routes_of(const Machine& machine, const Judgement& judgement) {
    if (judgement.minimal_share) {
        return with_topology(machine, [&](const auto& network) -> Routes {
            if constexpr (requires { network.with_minimal_share(0); }) {
                return [routes = network.with_minimal_share(*judgement.minimal_share)](
                           Node from, Node to, const RouteVisitor& visit) { routes.route(from, to, visit); };
            }
            return {};
        });
    }
    return [network = NetworkView(machine.topology())](Node from, Node to, const RouteVisitor& visit) {
        network.route(from, to, visit);
    };
}

}  // namespace

std::vector<HotLink> hottest_links(const CommGraph& graph, const Machine& machine, const Placement& placement,
                                   const Judgement& judgement, std::size_t count, int threads) {
    require_placed(graph, machine, placement.slots());
    if (!graph.proxied().empty()) {
        const CommGraph sent = apply_proxies(graph, placement.slots());
        return hottest_links(sent, machine, placement, judgement, count, threads);
    }
    std::vector<HotLink> hot = find_most_congested(machine, judgement, count);
    // Few of the visited links are hot. With one byte per link, the others need no lookup.
    std::vector<char> is_hot(machine.link_count(), 0);
    std::vector<std::pair<Link, std::size_t>> index;
    for (std::size_t i = 0; i < hot.size(); ++i) {
        is_hot[hot[i].link.value] = 1;
        index.emplace_back(hot[i].link, i);
    }
    std::sort(index.begin(), index.end());
    const auto index_of = [&](Link link) {
        return std::lower_bound(index.begin(), index.end(), std::pair(link, std::size_t{0}))->second;
    };

    using Found = std::vector<std::vector<Contribution>>;  // [hot link]
    std::vector<Found> found(static_cast<std::size_t>(thread_count(threads)), Found(hot.size()));
    const Chunks chunks(graph.rank_count(), ranks_per_chunk);
    const Routes route = routes_of(machine, judgement);
    parallel_for(chunks.size(), threads, [&](std::size_t c, int worker) {
        Found& mine = found[static_cast<std::size_t>(worker)];
        // Shares of one message on hot links; split routes visit some links repeatedly.
        std::vector<double> shares(hot.size(), 0);
        std::vector<std::size_t> visited;
        const auto visit = [&](Link link, double share) {
            if (!is_hot[link.value]) return;
            const std::size_t i = index_of(link);
            if (shares[i] == 0) visited.push_back(i);
            shares[i] += share;
        };
        for (std::size_t u = chunks[c].begin; u < chunks[c].end; ++u) {
            const Node from = machine.node(placement[Rank{u}]);
            for (const Edge edge : graph.sends(Rank{u})) {
                if (edge.bytes == Bytes{0}) continue;
                route(from, machine.node(placement[edge.peer]), RouteVisitor(visit));
                for (const std::size_t i : visited) {
                    const auto bytes = static_cast<double>(edge.bytes.value);
                    insert_if_heavy(mine[i], {Rank{u}, edge.peer, bytes * shares[i]});
                    shares[i] = 0;
                }
                visited.clear();
            }
        }
    });
    for (const Found& one : found) {
        for (std::size_t i = 0; i < hot.size(); ++i) {
            for (const Contribution& c : one[i]) insert_if_heavy(hot[i].contributors, c);
        }
    }
    return hot;
}

}  // namespace topoloom
