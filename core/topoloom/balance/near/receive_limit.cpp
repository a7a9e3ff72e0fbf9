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

/// Traverses each tree of shipments from a sender. A receiver rearranges the senders below it, and last the
/// sender above it, which never receives. Each sender is below only one receiver, so it accepts shipments
/// only for that receiver.
class ReceiveLimiter {
   public:
    ReceiveLimiter(std::vector<Shipment>& shipments, std::size_t ranks, std::uint32_t most)
        : shipments_(shipments), incident_(shipments, ranks), most_(most), is_visited_(ranks, 0) {}

    void limit_all() {
        for (std::uint32_t rank = 0; rank < is_visited_.size(); ++rank) {
            const std::span<const std::uint32_t> own = incident_.shipments_of(rank);
            if (!is_visited_[rank] && !own.empty() && shipments_[own.front()].sender == rank)
                limit_tree(rank);
        }
    }

   private:
    void limit_tree(std::uint32_t root) {
        is_visited_[root] = 1;
        waiting_.assign(1, root);
        while (!waiting_.empty()) {
            const std::uint32_t sender = waiting_.back();
            waiting_.pop_back();
            for (const std::uint32_t i : incident_.shipments_of(sender)) {
                const std::uint32_t receiver = shipments_[i].receiver;
                if (shipments_[i].sender != sender || is_visited_[receiver]) continue;
                is_visited_[receiver] = 1;
                visit_senders_to(receiver);
                rearrange(receiver, sender);
            }
        }
    }
    void visit_senders_to(std::uint32_t receiver) {
        for (const std::uint32_t i : incident_.shipments_of(receiver)) {
            const std::uint32_t sender = shipments_[i].sender;
            if (is_visited_[sender]) continue;
            is_visited_[sender] = 1;
            waiting_.push_back(sender);
        }
    }
    void rearrange(std::uint32_t receiver, std::uint32_t above) {
        sources_.clear();
        for (const std::uint32_t i : incident_.shipments_of(receiver)) {
            if (shipments_[i].sender != above) sources_.push_back(i);
        }
        std::ranges::sort(sources_, [&](std::uint32_t a, std::uint32_t b) {
            return shipments_[a].tasks != shipments_[b].tasks ? shipments_[a].tasks > shipments_[b].tasks
                                                              : a < b;
        });
        for (const std::uint32_t i : incident_.shipments_of(receiver)) {
            if (shipments_[i].sender == above) sources_.push_back(i);
        }
        for (std::size_t k = sources_.size(); k-- > most_;) {
            Shipment& behind = shipments_[sources_[k]];
            Shipment& ahead = shipments_[sources_[k / most_ - 1]];
            behind.receiver = ahead.sender;
            ahead.tasks += behind.tasks;
        }
    }

    std::vector<Shipment>& shipments_;
    const IncidentShipments incident_;
    std::uint32_t most_;
    std::vector<char> is_visited_;
    std::vector<std::uint32_t> waiting_, sources_;
};

}  // namespace

std::vector<Shipment> limit_receives(std::vector<Shipment> shipments, std::size_t ranks, std::uint32_t most) {
    ReceiveLimiter(shipments, ranks, most).limit_all();
    return shipments;
}

}  // namespace topoloom
