// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/near/transport.hpp"

#include <algorithm>

#include "topoloom/balance/near/distances.hpp"
#include "topoloom/base/id.hpp"

namespace topoloom {

namespace {

/// A spanning tree of senders and receivers whose edges are the shipments. The potentials of the two ends of
/// an edge add up to its cost. Nodes are senders first, then receivers.
class SpanningTreeBasis {
   public:
    SpanningTreeBasis(std::size_t senders, std::size_t receivers, std::vector<std::uint32_t> costs,
                      std::span<const Shipment> tree)
        : senders_(static_cast<std::uint32_t>(senders)),
          receivers_(receivers),
          costs_(std::move(costs)),
          parent_(senders + receivers, no_index),
          flow_(parent_.size(), 0),
          depth_(parent_.size(), 0),
          potential_(parent_.size(), 0),
          child_(parent_.size(), no_index),
          next_(parent_.size(), no_index),
          before_(parent_.size(), no_index) {
        build_tree(tree);
    }

    /// Exchanges edges until no exchange makes the transport cheaper. Every exchange reduces the cost because
    /// no edge is empty.
    void run() {
        for (std::uint32_t sender = 0, idle = 0; idle < senders_; sender = (sender + 1) % senders_) {
            const std::int64_t own = potential_[sender];
            const std::uint32_t* const costs = &costs_[sender * receivers_];
            const std::int32_t* const theirs = &potential_[senders_];
            std::int32_t least = 0;
            std::size_t best = receivers_;
            for (std::size_t j = 0; j < receivers_; ++j) {
                const std::int32_t reduced =
                    static_cast<std::int32_t>(costs[j]) - theirs[j] - static_cast<std::int32_t>(own);
                if (reduced < least) {
                    least = reduced;
                    best = j;
                }
            }
            ++idle;
            if (best == receivers_) continue;
            exchange(sender, senders_ + static_cast<std::uint32_t>(best), least);
            idle = 0;
        }
    }

    template <class Visit>
    void visit(const Visit& visit) const {
        for (std::uint32_t node = 0; node < parent_.size(); ++node) {
            if (parent_[node] == no_index) continue;
            const bool gives = node < senders_;
            visit(gives ? node : parent_[node], (gives ? parent_[node] : node) - senders_, flow_[node]);
        }
    }

   private:
    [[nodiscard]] std::int32_t cost(std::uint32_t sender, std::uint32_t receiver) const {
        return static_cast<std::int32_t>(costs_[sender * receivers_ + (receiver - senders_)]);
    }

    void build_tree(std::span<const Shipment> tree) {
        std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> edges(parent_.size());
        for (const auto& [sender, receiver, tasks] : tree) {
            edges[sender].emplace_back(senders_ + receiver, tasks);
            edges[senders_ + receiver].emplace_back(sender, tasks);
        }
        std::vector<std::uint32_t> waiting{0};
        while (!waiting.empty()) {
            const std::uint32_t node = waiting.back();
            waiting.pop_back();
            for (const auto& [other, tasks] : edges[node]) {
                if (other == parent_[node]) continue;
                attach(other, node, tasks);
                depth_[other] = depth_[node] + 1;
                potential_[other] =
                    (node < senders_ ? cost(node, other) : cost(other, node)) - potential_[node];
                waiting.push_back(other);
            }
        }
    }

    void attach(std::uint32_t node, std::uint32_t parent, std::int64_t flow) {
        parent_[node] = parent;
        flow_[node] = flow;
        before_[node] = no_index;
        next_[node] = child_[parent];
        if (next_[node] != no_index) before_[next_[node]] = node;
        child_[parent] = node;
    }

    void detach(std::uint32_t node) {
        if (before_[node] != no_index)
            next_[before_[node]] = next_[node];
        else
            child_[parent_[node]] = next_[node];
        if (next_[node] != no_index) before_[next_[node]] = before_[node];
    }

    /// Calls visit(node, whether the edge above it loses tasks, whether it is on the sender's side) for the
    /// nodes of the cycle that a new edge closes.
    template <class Visit>
    void walk_cycle(std::uint32_t sender, std::uint32_t receiver, const Visit& visit) const {
        std::uint32_t a = sender;
        std::uint32_t b = receiver;
        while (a != b) {
            if (depth_[a] >= depth_[b]) {
                visit(a, a < senders_, true);
                a = parent_[a];
            } else {
                visit(b, b >= senders_, false);
                b = parent_[b];
            }
        }
    }

    void exchange(std::uint32_t sender, std::uint32_t receiver, std::int32_t reduced) {
        std::uint32_t cut = no_index;
        bool is_on_sender_side = false;
        walk_cycle(sender, receiver, [&](std::uint32_t node, bool loses, bool side) {
            if (loses && (cut == no_index || flow_[node] < flow_[cut])) {
                cut = node;
                is_on_sender_side = side;
            }
        });
        const std::int64_t tasks = flow_[cut];
        walk_cycle(sender, receiver, [&](std::uint32_t node, bool loses, bool /*side*/) {
            flow_[node] += loses ? -tasks : tasks;
        });
        const std::uint32_t root = is_on_sender_side ? sender : receiver;
        std::uint32_t parent = is_on_sender_side ? receiver : sender;
        std::int64_t flow = tasks;
        for (std::uint32_t node = root;;) {
            const std::uint32_t above = parent_[node];
            const std::int64_t flow_above = flow_[node];
            detach(node);
            attach(node, parent, flow);
            if (node == cut) break;
            parent = node;
            flow = flow_above;
            node = above;
        }
        shift_potentials(root, is_on_sender_side ? reduced : -reduced);
    }

    /// Adds `by` to the potentials of the senders below a node, subtracts it from those of the receivers, and
    /// updates depths.
    void shift_potentials(std::uint32_t root, std::int32_t by) {
        waiting_.assign(1, root);
        while (!waiting_.empty()) {
            const std::uint32_t node = waiting_.back();
            waiting_.pop_back();
            depth_[node] = depth_[parent_[node]] + 1;
            potential_[node] += node < senders_ ? by : -by;
            for (std::uint32_t c = child_[node]; c != no_index; c = next_[c]) waiting_.push_back(c);
        }
    }

    std::uint32_t senders_;
    std::size_t receivers_;
    std::vector<std::uint32_t> costs_;
    std::vector<std::uint32_t> parent_;
    std::vector<std::int64_t> flow_;  // tasks on the edge above
    std::vector<std::uint32_t> depth_;
    std::vector<std::int32_t> potential_;
    std::vector<std::uint32_t> child_, next_, before_;
    std::vector<std::uint32_t> waiting_;
};

}  // namespace

bool is_transport_affordable(const OrderedExcess& near, const Machine& machine) {
    const std::uint64_t ranks = near.ranks.size();
    std::uint64_t giving = 0;
    std::uint64_t tasks = 0;
    for (const std::int64_t excess : near.excess) {
        giving += excess > 0 ? 1 : 0;
        tasks += excess > 0 ? static_cast<std::uint64_t>(excess) : 0;
    }
    return giving * (ranks - giving) <= std::uint64_t{1} << 22 &&
           machine.max_distance() * ranks < std::uint64_t{1} << 30 &&
           tasks < (std::uint64_t{1} << 60) / (2 * giving + 2);
}

std::vector<Shipment> cheapest_transport(const OrderedExcess& near, const Machine& machine,
                                         std::span<const Slot> slots) {
    if (near.ranks.empty()) return {};
    std::vector<std::uint32_t> senders, receivers, number(near.ranks.size());
    std::vector<std::uint32_t> giving, receiving;  // their ranks
    for (std::uint32_t i = 0; i < near.ranks.size(); ++i) {
        std::vector<std::uint32_t>& side = near.excess[i] > 0 ? senders : receivers;
        number[i] = static_cast<std::uint32_t>(side.size());
        side.push_back(i);
        (near.excess[i] > 0 ? giving : receiving).push_back(near.ranks[i]);
    }
    // Perturbation (Orden 1956): each sender gets a small extra amount, and the last receiver needs the sum.
    // No proper subset of senders and receivers balances, so no tree edge is empty and each exchange reduces
    // the cost.
    const auto scale = static_cast<std::int64_t>(2 * senders.size() + 2);
    OrderedExcess enlarged = near;
    for (std::int64_t& excess : enlarged.excess) {
        excess = scale * excess + (excess > 0 ? 1 : 0);
    }
    enlarged.excess[receivers.back()] -= static_cast<std::int64_t>(senders.size());
    std::vector<Shipment> tree = match_near(enlarged);
    for (auto& [sender, receiver, tasks] : tree) {
        sender = number[sender];
        receiver = number[receiver];
    }
    SpanningTreeBasis basis(senders.size(), receivers.size(),
                            distances_between(machine, slots, giving, receiving), tree);
    basis.run();
    std::vector<Shipment> shipments;
    basis.visit([&](std::uint32_t sender, std::uint32_t receiver, std::int64_t tasks) {
        const std::int64_t rounded = (tasks + scale / 2) / scale;
        if (rounded > 0) shipments.push_back({senders[sender], receivers[receiver], rounded});
    });
    return shipments;
}

}  // namespace topoloom
