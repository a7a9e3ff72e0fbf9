// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/rank_network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace topoloom {

namespace {

/// The outgoing pairs of every rank, in the direction of flow.
struct OutgoingPairs {
    std::vector<std::size_t> first;
    std::vector<std::size_t> pairs;
};

OutgoingPairs find_outgoing_pairs(const RankNetwork& network, const std::vector<std::int64_t>& flow) {
    const auto sender = [&](std::size_t p) {
        return flow[p] > 0 ? network.pairs[p].low : network.pairs[p].high;
    };
    OutgoingPairs out{std::vector<std::size_t>(network.ranks + 1, 0), {}};
    for (std::size_t p = 0; p < flow.size(); ++p) {
        if (flow[p] != 0) ++out.first[sender(p) + 1];
    }
    for (std::size_t i = 0; i < network.ranks; ++i) out.first[i + 1] += out.first[i];
    out.pairs.resize(out.first.back());
    std::vector<std::size_t> next(out.first.begin(), out.first.end() - 1);
    for (std::size_t p = 0; p < flow.size(); ++p) {
        if (flow[p] != 0) out.pairs[next[sender(p)]++] = p;
    }
    return out;
}

/// Subtracts from every cycle its smallest flow, by depth-first search. O(pairs + ranks on cycles).
void remove_flow_cycles(const RankNetwork& network, std::vector<std::int64_t>& flow) {
    const OutgoingPairs out = find_outgoing_pairs(network, flow);
    std::vector<std::size_t> next(out.first.begin(), out.first.end() - 1);
    std::vector<std::uint32_t> depth(network.ranks, 0);  // position on the path, from 1; 0: not on it
    std::vector<std::size_t> path;                       // pairs
    std::vector<std::uint32_t> on_path;                  // ranks on the path; one more than pairs on it
    const auto receiver = [&](std::size_t p, std::uint32_t sender) {
        return network.pairs[p].low == sender ? network.pairs[p].high : network.pairs[p].low;
    };
    const auto leave = [&] {
        depth[on_path.back()] = 0;
        on_path.pop_back();
    };
    for (std::uint32_t start = 0; start < network.ranks; ++start) {
        on_path.assign(1, start);
        depth[start] = 1;
        while (!on_path.empty()) {
            const std::uint32_t here = on_path.back();
            while (next[here] < out.first[here + 1] && flow[out.pairs[next[here]]] == 0) ++next[here];
            if (next[here] == out.first[here + 1]) {
                leave();
                if (!path.empty()) {
                    ++next[on_path.back()];
                    path.pop_back();
                }
                continue;
            }
            const std::size_t pair = out.pairs[next[here]];
            const std::uint32_t there = receiver(pair, here);
            path.push_back(pair);
            if (depth[there] == 0) {
                on_path.push_back(there);
                depth[there] = static_cast<std::uint32_t>(on_path.size());
                continue;
            }
            const std::size_t begin = depth[there] - 1;  // the cycle starts at this pair
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (std::size_t i = begin; i < path.size(); ++i)
                least = std::min(least, std::abs(flow[path[i]]));
            for (std::size_t i = begin; i < path.size(); ++i)
                flow[path[i]] -= flow[path[i]] > 0 ? least : -least;
            while (on_path.back() != there) leave();
            path.resize(begin);
        }
    }
}

}  // namespace

RankNetwork make_rank_network(NeighborRule rule, std::size_t ranks) {
    RankNetwork network{
        ranks, {}, std::vector<std::uint32_t>(ranks, 0), std::vector<std::size_t>(ranks, no_pair)};
    const auto add = [&](std::uint32_t low, std::size_t high, bool in_tree) {
        if (in_tree) network.pair_to_root[high] = network.pairs.size();
        network.pairs.push_back({low, static_cast<std::uint32_t>(high)});
        ++network.degree[low];
        ++network.degree[high];
    };
    for (std::uint32_t i = 0; i < ranks; ++i) {
        if (rule == NeighborRule::ring) {
            if (std::size_t{i} + 1 < ranks) add(i, std::size_t{i} + 1, true);
            if (i == 0 && ranks > 2) add(0, ranks - 1, false);
            continue;
        }
        for (std::size_t bit = 1; bit < ranks; bit *= 2) {
            // The next rank on the path to the root has the lowest set bit cleared.
            const std::size_t other = i | bit;
            if (other != i && other < ranks) add(i, other, i == 0 || bit < (i & (0U - i)));
        }
    }
    return network;
}

Plan convert_flow_to_plan(const RankNetwork& network, const Flow& flow, std::vector<std::int64_t> excess) {
    std::vector<std::int64_t> rounded_flow(flow.size(), 0);
    std::vector<char> is_tree_pair(flow.size(), 0);
    for (const std::size_t pair : network.pair_to_root) {
        if (pair != no_pair) is_tree_pair[pair] = 1;
    }
    for (std::size_t p = 0; p < flow.size(); ++p) {
        if (is_tree_pair[p]) continue;
        rounded_flow[p] = std::llround(flow[p]);
        excess[network.pairs[p].low] -= rounded_flow[p];
        excess[network.pairs[p].high] += rounded_flow[p];
    }
    // The next rank on the path to the root always has a lower number.
    for (std::size_t i = network.ranks; i-- > 1;) {
        const std::size_t pair = network.pair_to_root[i];
        rounded_flow[pair] = -excess[i];
        excess[network.pairs[pair].low] += excess[i];
    }
    return convert_flow_to_plan(network, std::move(rounded_flow));
}

Plan convert_flow_to_plan(const RankNetwork& network, std::vector<std::int64_t> flow) {
    remove_flow_cycles(network, flow);
    Plan moves;
    for (std::size_t p = 0; p < flow.size(); ++p) {
        const Rank low{network.pairs[p].low};
        const Rank high{network.pairs[p].high};
        if (flow[p] > 0) moves.push_back({low, high, flow[p]});
        if (flow[p] < 0) moves.push_back({high, low, -flow[p]});
    }
    return make_plan(std::move(moves));
}

}  // namespace topoloom
