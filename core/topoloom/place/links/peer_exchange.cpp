// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/links/peer_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/place/local/cooling.hpp"
#include "topoloom/place/state/keep_better.hpp"

namespace topoloom::links {

namespace {

/// Lists the positions of an allocation by node.
class NodePositions {
   public:
    explicit NodePositions(const Allocation& allocation)
        : first_(allocation.nodes().size() + 1, 0), positions_(allocation.slot_count()) {
        const std::span<const std::uint32_t> node_of = allocation.node_of_slot();
        for (const std::uint32_t node : node_of) ++first_[node + 1];
        for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        std::vector<std::uint32_t> next = first_;
        for (const Position position : ids<Position>(node_of.size()))
            positions_[next[node_of[position.value]]++] = position;
    }
    [[nodiscard]] std::span<const Position> of(std::uint32_t node) const {
        return std::span(positions_).subspan(first_[node], first_[node + 1] - first_[node]);
    }

   private:
    std::vector<std::uint32_t> first_;  // by node
    std::vector<Position> positions_;
};

class PeerExchange {
   public:
    PeerExchange(LoadTracker& loads, const Problem& problem)
        : loads_(loads),
          allocation_(problem.allocation()),
          partners_(problem.symmetric()),
          positions_(allocation_),
          rank_on_(allocation_.slot_count(), Rank::none),
          rng_(problem.seed()),
          best_key_(loads.key()),
          best_(loads.slots()) {
        std::vector<Position> position(allocation_.machine().slot_count());
        for (const Position i : ids<Position>(allocation_.slot_count()))
            position[allocation_.slots()[i.value].value] = i;
        for (const Rank u : ids<Rank>(loads.rank_count())) {
            at_.push_back(position[loads.slot(u).value]);
            rank_on_[at_.back().value] = u;
        }
    }
    [[nodiscard]] const std::vector<Slot>& best() const { return best_; }

    void run(Meter& meter, const PeerExchangeOptions& options) {
        constexpr double last = 0.2;  // temperature, relative to the first
        const local::Cooling cooling{options.heat * soft_unit, last * options.heat * soft_unit};
        for (std::uint32_t sweep = 0; sweep < options.sweeps && meter.poll_clock(); ++sweep) {
            if (loads_.key().links_at_maximum == 0) return;
            loads_.set_soft_scale();
            const double temperature = cooling.at(static_cast<double>(sweep) / options.sweeps);
            for (const Rank u : ids<Rank>(at_.size())) {
                propose(u, temperature);
                // On large machines, one sweep can exceed the budget.
                if (u.value % 64 == 0 && !meter.poll_clock()) break;
            }
            if (loads_.key() < best_key_) {
                best_key_ = loads_.key();
                best_ = loads_.slots();
            }
            if (!meter.spend(at_.size())) return;
        }
    }

   private:
    /// Draws a slot on the node of a random peer. Returns the position of u if it already is on that node.
    [[nodiscard]] Position draw_position(Rank u) {
        const Position from = at_[u.value];
        const std::span<const Rank> peers = partners_.peers(u);
        if (peers.empty()) return from;
        const Rank peer = peers[rng_.below(static_cast<std::uint32_t>(peers.size()))];
        const std::uint32_t node = allocation_.node_of_slot()[at_[peer.value].value];
        if (node == allocation_.node_of_slot()[from.value]) return from;
        const std::span<const Position> there = positions_.of(node);
        return there[rng_.below(static_cast<std::uint32_t>(there.size()))];
    }
    void propose(Rank u, double temperature) {
        const Position from = at_[u.value];
        const Position to = draw_position(u);
        if (to == from) return;
        const double loss = -temperature * std::log(1 - rng_.uniform());
        const std::int64_t now = loads_.soft_value();
        const SoftLimit limit{.nearer = now + static_cast<std::int64_t>(loss), .farther = now - 1};
        const Rank v = rank_on_[to.value];
        if (v == Rank::none ? loads_.move_if_soft_at_most(u, allocation_.slots()[to.value], limit)
                            : loads_.exchange_if_soft_at_most(u, v, limit)) {
            std::swap(rank_on_[from.value], rank_on_[to.value]);
            at_[u.value] = to;
            if (v != Rank::none) at_[v.value] = from;
        }
    }

    LoadTracker& loads_;
    const Allocation& allocation_;
    const CommGraph& partners_;
    NodePositions positions_;
    std::vector<Rank> rank_on_;  // by position
    std::vector<Position> at_;   // by rank
    Rng rng_;
    CongestionKey best_key_;
    std::vector<Slot> best_;
};

}  // namespace

Placement exchange_toward_peers(const Problem& problem, Placement start, Meter& meter,
                                const PeerExchangeOptions& options) {
    const PhasedObjective objective = problem.link_objective();
    return keep_better(problem, std::move(start), [&](const Placement& from) {
        const std::unique_ptr<LoadTracker> loads =
            make_search_tracker(problem.machine(), objective, from.slots());
        PeerExchange search(*loads, problem);
        search.run(meter, options);
        return Placement(problem.allocation(), search.best());
    });
}

}  // namespace topoloom::links
