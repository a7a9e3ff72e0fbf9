// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/near/receive_limit.hpp"

#include <algorithm>

#include "topoloom/base/id.hpp"

namespace topoloom {

namespace {

/// The shipments from and to every rank.
struct IncidentShipments {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> shipments;

    IncidentShipments(std::span<const Shipment> all, std::size_t ranks)
        : first(ranks + 1, 0), shipments(2 * all.size()) {
        for (const Shipment& one : all) {
            ++first[one.sender + 1];
            ++first[one.receiver + 1];
        }
        for (std::size_t i = 0; i < ranks; ++i) first[i + 1] += first[i];
        std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
        for (std::uint32_t i = 0; i < all.size(); ++i) {
            shipments[next[all[i].sender]++] = i;
            shipments[next[all[i].receiver]++] = i;
        }
    }
    [[nodiscard]] std::span<const std::uint32_t> shipments_of(std::uint32_t rank) const {
        return std::span(shipments).subspan(first[rank], first[rank + 1] - first[rank]);
    }
};

}  // namespace

std::vector<Shipment> limit_receives(std::vector<Shipment> shipments, std::size_t ranks, std::uint32_t most) {
    const IncidentShipments incident(shipments, ranks);
    std::vector<char> is_visited(ranks, 0);
    std::vector<std::uint32_t> waiting;
    std::vector<std::uint32_t> sources;
    // Each tree of shipments is traversed from a sender. A receiver rearranges the senders below it first.
    // The sender above it comes last and never receives. A sender is below only one receiver, and so receives
    // on behalf of only that one.
    const auto rearrange = [&](std::uint32_t receiver, std::uint32_t above) {
        sources.clear();
        for (const std::uint32_t i : incident.shipments_of(receiver)) {
            if (shipments[i].sender != above) sources.push_back(i);
        }
        std::ranges::sort(sources, [&](std::uint32_t a, std::uint32_t b) {
            return shipments[a].tasks != shipments[b].tasks ? shipments[a].tasks > shipments[b].tasks : a < b;
        });
        for (const std::uint32_t i : incident.shipments_of(receiver)) {
            if (shipments[i].sender == above) sources.push_back(i);
        }
        for (std::size_t k = sources.size(); k-- > most;) {
            Shipment& behind = shipments[sources[k]];
            Shipment& ahead = shipments[sources[k / most - 1]];
            behind.receiver = ahead.sender;
            ahead.tasks += behind.tasks;
        }
    };
    for (std::uint32_t root = 0; root < ranks; ++root) {
        const bool gives = !is_visited[root] && !incident.shipments_of(root).empty() &&
                           shipments[incident.shipments_of(root).front()].sender == root;
        if (!gives) continue;
        is_visited[root] = 1;
        waiting.assign(1, root);
        while (!waiting.empty()) {
            const std::uint32_t sender = waiting.back();
            waiting.pop_back();
            for (const std::uint32_t i : incident.shipments_of(sender)) {
                if (shipments[i].sender != sender) continue;
                const std::uint32_t receiver = shipments[i].receiver;
                if (is_visited[receiver]) continue;
                is_visited[receiver] = 1;
                for (const std::uint32_t j : incident.shipments_of(receiver)) {
                    const std::uint32_t other = shipments[j].sender;
                    if (is_visited[other]) continue;
                    is_visited[other] = 1;
                    waiting.push_back(other);
                }
                rearrange(receiver, sender);
            }
        }
    }
    return shipments;
}

}  // namespace topoloom
