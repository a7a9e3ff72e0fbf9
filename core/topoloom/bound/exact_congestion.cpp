// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/exact_congestion.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom::bound {

namespace {

/// Relative difference between sums of the same loads in a different order.
constexpr double tolerance = 1e-12;

struct LinkShare {
    Link link;
    double share;
};

class CongestionSearch {
   public:
    CongestionSearch(const BoundProblem& problem, Meter& meter)
        : graph_(problem.graph()), meter_(meter), slots_(problem.allocation().slot_count()) {
        const NetworkView network(problem.machine().topology());
        if (network.is_adaptive())
            fail("an exact search for congestion needs routes that do not depend on the load");
        load_.assign(network.link_count(), 0);
        for (const LinkRun& run : network.bandwidth_runs())
            per_byte_.resize(per_byte_.size() + run.count, 1 / run.bandwidth.value);
        std::vector<char> used(network.link_count(), 0);
        for (const Slot a : problem.allocation().slots()) {
            for (const Slot b : problem.allocation().slots()) {
                auto& route = routes_.emplace_back();
                const Node from = problem.machine().node(a);
                const Node to = problem.machine().node(b);
                if (from != to)
                    network.route(from, to, [&](Link link, double share) { route.push_back({link, share}); });
                double hops = 0;
                for (const LinkShare& part : route) {
                    hops += part.share;
                    used[part.link.value] = 1;
                }
                if (a != b) min_hops_ = std::min(min_hops_, hops);
            }
        }
        for (std::size_t l = 0; l < used.size(); ++l) bandwidth_ += used[l] ? 1 / per_byte_[l] : 0;
        taken_.assign(slots_, 0);
        position_.assign(graph_.rank_count(), Position::none);
        sort_ranks(problem.symmetric());
    }

    ExactCongestion run(std::span<const Position> start, std::span<const Rank> fixed, double known) {
        given_.assign(graph_.rank_count(), Position::none);
        for (const Rank u : fixed) given_[u.value] = start[u.value];
        std::ranges::stable_partition(order_, [&](Rank u) { return given_[u.value] != Position::none; });
        for (const Rank u : ids<Rank>(graph_.rank_count())) {
            for (const Edge edge : graph_.sends(u)) add(start[u.value], start[edge.peer.value], edge.bytes);
            ahead_ += messages_of(u);
        }
        best_ = {{start.begin(), start.end()}, max_link_seconds(), 0, 0};
        std::ranges::fill(load_, 0.0);
        undo_.clear();
        carried_ = 0;
        known_ = known;
        search_placements(0, 0);
        best_.lower_bound = complete_ ? best_.value : std::min(best_.value, known);
        return best_;
    }

   private:
    [[nodiscard]] double messages_of(Rank u) const {
        double sum = 0;
        for (const Bytes bytes : graph_.bytes(u)) sum += static_cast<double>(bytes.value);
        return sum;
    }

    void sort_ranks(const CommGraph& symmetric) {
        std::vector<std::int64_t> joined(symmetric.rank_count(), 0);
        std::vector<char> done(symmetric.rank_count(), 0);
        while (order_.size() < symmetric.rank_count()) {
            Rank next = Rank::none;
            for (const Rank u : ids<Rank>(symmetric.rank_count())) {
                if (!done[u.value] && (next == Rank::none || joined[u.value] > joined[next.value])) next = u;
            }
            done[next.value] = 1;
            order_.push_back(next);
            for (const Edge edge : symmetric.sends(next)) joined[edge.peer.value] += edge.bytes.value;
        }
    }

    void add(Position from, Position to, Bytes bytes) {
        for (const LinkShare& part : routes_[from.value * slots_ + to.value]) {
            undo_.push_back({part.link, load_[part.link.value]});
            load_[part.link.value] += part.share * static_cast<double>(bytes.value);
            carried_ += part.share * static_cast<double>(bytes.value);
        }
    }
    [[nodiscard]] double max_link_seconds() const {
        double most = 0;
        for (std::size_t l = 0; l < load_.size(); ++l) most = std::max(most, load_[l] * per_byte_[l]);
        return most;
    }

    void search_placements(std::size_t depth, double busiest_so_far) {
        if (depth == order_.size()) {
            best_.value = busiest_so_far;
            best_.position_of_rank = position_;
            return;
        }
        const Rank u = order_[depth];
        for (const Position position : ids<Position>(slots_)) {
            if (taken_[position.value] || !may_be_on(u, position)) continue;
            if (best_.value <= known_ * (1 + tolerance)) return;
            if (!meter_.spend(graph_.rank_count())) {
                complete_ = false;
                return;
            }
            ++best_.nodes;
            const std::size_t mark = undo_.size();
            const double carried = carried_;
            const double ahead = ahead_;
            position_[u.value] = position;
            taken_[position.value] = 1;
            route_messages(u);
            double most = busiest_so_far;
            for (std::size_t k = mark; k < undo_.size(); ++k)
                most = std::max(most, load_[undo_[k].first.value] * per_byte_[undo_[k].first.value]);
            const double average = bandwidth_ > 0 ? (carried_ + ahead_ * min_hops_) / bandwidth_ : 0;
            if (std::max(most, average * (1 - tolerance)) < best_.value * (1 - tolerance))
                search_placements(depth + 1, most);
            while (undo_.size() > mark) {
                load_[undo_.back().first.value] = undo_.back().second;
                undo_.pop_back();
            }
            carried_ = carried;
            ahead_ = ahead;
            taken_[position.value] = 0;
            position_[u.value] = Position::none;
        }
    }

    [[nodiscard]] bool may_be_on(Rank u, Position position) const {
        return given_[u.value] == Position::none || given_[u.value] == position;
    }

    /// Routes the messages between a rank and those placed before it.
    void route_messages(Rank u) {
        for (const Edge edge : graph_.sends(u)) {
            if (position_[edge.peer.value] == Position::none) continue;
            add(position_[u.value], position_[edge.peer.value], edge.bytes);
            ahead_ -= static_cast<double>(edge.bytes.value);
        }
        for (const Rank v : order_) {
            if (v == u || position_[v.value] == Position::none) continue;
            const std::span<const Rank> peers = graph_.peers(v);
            const auto at = std::ranges::lower_bound(peers, u);
            if (at == peers.end() || *at != u) continue;
            const Bytes bytes = graph_.bytes(v)[static_cast<std::size_t>(at - peers.begin())];
            add(position_[v.value], position_[u.value], bytes);
            ahead_ -= static_cast<double>(bytes.value);
        }
    }

    const CommGraph& graph_;
    Meter& meter_;
    std::size_t slots_;
    std::vector<std::vector<LinkShare>> routes_;  // routes of ordered pairs of slots
    std::vector<double> per_byte_;                // seconds per byte of each link
    std::vector<double> load_;
    std::vector<std::pair<Link, double>> undo_;  // changed links and their previous loads
    std::vector<Rank> order_;
    std::vector<Position> position_;  // by rank
    std::vector<Position> given_;     // by rank: the position of a fixed rank
    std::vector<char> taken_;
    double min_hops_ = std::numeric_limits<double>::infinity();
    double bandwidth_ = 0;
    double carried_ = 0;  // bytes times hops of messages between placed ranks
    double ahead_ = 0;    // bytes of all other messages
    double known_ = 0;
    bool complete_ = true;
    ExactCongestion best_;
};

}  // namespace

ExactCongestion min_congestion(const BoundProblem& problem, std::span<const Position> start,
                               std::span<const Rank> fixed, double known, Meter& meter) {
    if (start.size() != problem.rank_count())
        fail("the placement to start from has ", start.size(), " ranks, but the pattern has ",
             problem.rank_count());
    std::vector<char> is_taken(problem.allocation().slot_count(), 0);
    for (const Position slot : start) {
        if (slot.value >= is_taken.size() || std::exchange(is_taken[slot.value], 1))
            fail("the placement to start from uses slot ", slot.value, " twice, or there are only ",
                 is_taken.size());
    }
    return CongestionSearch(problem, meter).run(start, fixed, known);
}

}  // namespace topoloom::bound
