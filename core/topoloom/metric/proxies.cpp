// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/proxies.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

namespace topoloom {

namespace {

/// A message from or to a proxied rank. After sorting, messages that are combined into one are adjacent.
struct ProxiedMessage {
    Rank proxied;
    bool sent;  // true if the proxied rank is the sender
    Slot slot;
    Rank peer;
    Bytes bytes;
    std::int64_t messages;

    [[nodiscard]] bool can_combine_with(const ProxiedMessage& other) const {
        return proxied == other.proxied && sent == other.sent && slot == other.slot;
    }
    friend auto operator<=>(const ProxiedMessage&, const ProxiedMessage&) = default;
};

}  // namespace

CommGraph apply_proxies(const CommGraph& graph, std::span<const Slot> slot_of_rank) {
    std::vector<Rank> sources;
    std::vector<Rank> peers;
    std::vector<Bytes> bytes;
    std::vector<std::int64_t> messages;
    const auto add = [&](Rank from, const Edge& edge) {
        sources.push_back(from);
        peers.push_back(edge.peer);
        bytes.push_back(edge.bytes);
        messages.push_back(edge.messages);
    };
    std::vector<char> is_proxied(graph.rank_count(), 0);
    for (const Rank u : graph.proxied()) is_proxied[u.value] = 1;
    std::vector<ProxiedMessage> messages_of_proxied;
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            const Rank v = edge.peer;
            if (is_proxied[u.value] != 0) {
                messages_of_proxied.push_back({u, true, slot_of_rank[v.value], v, edge.bytes, edge.messages});
            } else if (is_proxied[v.value] != 0) {
                messages_of_proxied.push_back(
                    {v, false, slot_of_rank[u.value], u, edge.bytes, edge.messages});
            } else {
                add(u, edge);
            }
        }
    }
    std::ranges::sort(messages_of_proxied);
    for (auto first = messages_of_proxied.begin(); first != messages_of_proxied.end();) {
        ProxiedMessage joined = *first;
        while (++first != messages_of_proxied.end() && first->can_combine_with(joined)) {
            joined.bytes = std::max(joined.bytes, first->bytes);
            joined.messages = std::max(joined.messages, first->messages);
        }
        const auto& [proxied, sent, slot, peer, size, count] = joined;
        add(sent ? proxied : peer, {sent ? peer : proxied, size, count});
    }
    const std::span<const double> loads = graph.all_loads();
    return CommGraph::from_edges(graph.rank_count(), sources, peers, bytes, messages,
                                 {loads.begin(), loads.end()});
}

}  // namespace topoloom
