// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/greedy/growth.hpp"

#include <algorithm>
#include <functional>

namespace topoloom::greedy {

namespace {

/// Limit of candidates for a random choice, because they are popped and pushed back one by one.
constexpr std::size_t max_candidates = 16;

std::vector<Position> sort_by_centrality(const Allocation& allocation) {
    std::vector<std::uint64_t> total(allocation.slot_count());
    with_space(allocation.machine(), [&]<class Space>(const Space& space) {
        std::vector<typename Space::Network::Point> points;
        for (const Node node : allocation.nodes()) points.push_back(space.network().point(node));
        const std::vector<std::uint64_t> totals = space.network().total_distances(points);
        for (std::size_t i = 0; i < total.size(); ++i) {
            const std::uint64_t port = space.port_distance(space.point(allocation.slots()[i]));
            total[i] = space.hop_weight() * totals[allocation.node_of_slot()[i]] + (points.size() - 1) * port;
        }
    });
    std::vector<Position> order = id_list<Position>(total.size());
    std::ranges::stable_sort(order, {}, [&](Position position) { return total[position.value]; });
    return order;
}

}  // namespace

GrowthContext::GrowthContext(const Problem& problem)
    : allocation(problem.allocation()),
      graph(problem.symmetric()),
      fixed(list_fixed_positions(problem)),
      free(problem.allocation()),
      central(sort_by_centrality(problem.allocation())),
      by_degree(id_list<Rank>(graph.rank_count())) {
    std::ranges::stable_sort(by_degree, std::greater<>{}, [&](Rank u) { return graph.degree(u); });
}

GreedyGrowth::GreedyGrowth(const GrowthContext& context, const GrowthRule& rule,
                           const CandidateRandomization* chance)
    : context_(context),
      rule_(rule),
      chance_(chance),
      rng_(chance != nullptr ? chance->rng : Rng(0)),
      free_(context.free),
      position_(context.graph.rank_count(), Position::none),
      key_of_rank_(context.graph.rank_count(), 0),
      latest_(rule.latest_only ? context.graph.rank_count() : 0) {}

std::vector<Slot> GreedyGrowth::run(Rank first, const std::function<bool(std::uint64_t)>& spend) {
    for (const FixedPosition& fixed : context_.fixed) place_rank(fixed.rank, fixed.position);
    if (context_.fixed.empty()) place_rank(first, choose_start_position());
    std::size_t next_start = 0;
    for (bool go_on = true; go_on;) {
        while (go_on) {
            const Rank s = pop_next_rank();
            if (s == Rank::none) break;
            const FreeSlots::Found found = find_best_slot(s);
            place_rank(s, found.position);
            go_on = spend(found.evaluated);
        }
        while (next_start < context_.by_degree.size() && is_placed(context_.by_degree[next_start]))
            ++next_start;
        if (next_start == context_.by_degree.size()) break;
        if (go_on) place_rank(context_.by_degree[next_start], choose_start_position());
    }
    return place_remaining_ranks();
}

Position GreedyGrowth::choose_start_position() {
    const std::vector<Position>& central = context_.central;
    if (chance_ == nullptr) {
        while (!free_.is_free(central[next_central_])) ++next_central_;
        return central[next_central_];
    }
    const std::size_t choice = std::max<std::size_t>(1, central.size() * chance_->centers / 1000);
    std::size_t at = rng_.below(static_cast<std::uint32_t>(choice));
    while (!free_.is_free(central[at])) at = (at + 1) % central.size();
    return central[at];
}

void GreedyGrowth::place_rank(Rank u, Position position) {
    free_.take(position);
    position_[u.value] = position;
    for (const Edge edge : context_.graph.sends(u)) {
        const Rank v = edge.peer;
        if (is_placed(v)) continue;
        if (rule_.latest_only) latest_[v.value] = u;
        if (raise_key(v, edge.bytes)) queue_.push({key_of_rank_[v.value], v});
    }
}

/// Adds a placed partner to the key of v. Returns whether the key grew; if so, older queue entries of v are
/// stale.
bool GreedyGrowth::raise_key(Rank v, Bytes bytes) {
    const std::uint64_t before = key_of_rank_[v.value];
    switch (rule_.key) {
        case RankKey::degree:
            key_of_rank_[v.value] = context_.graph.degree(v);
            break;
        case RankKey::neighbors:
            ++key_of_rank_[v.value];
            break;
        case RankKey::bytes:
            // A partner counts even if its messages have no bytes.
            key_of_rank_[v.value] += static_cast<std::uint64_t>(bytes.value) + (before == 0 ? 1 : 0);
            break;
    }
    return key_of_rank_[v.value] > before;
}

/// Removes stale entries (those of placed ranks, and those with old keys) from the head of the queue; returns
/// the rank that is then at the head.
Rank GreedyGrowth::drop_stale_entries() {
    while (!queue_.empty()) {
        const QueuedRank& top = queue_.top();
        if (!is_placed(top.rank) && top.key == key_of_rank_[top.rank.value]) return top.rank;
        queue_.pop();
    }
    return Rank::none;
}

/// Removes and returns the best candidate, or at random one of the best; none if the queue is empty.
Rank GreedyGrowth::pop_next_rank() {
    Rank found = drop_stale_entries();
    if (found == Rank::none) return found;
    const std::size_t more = chance_ == nullptr ? 0 : queue_.size() * chance_->ranks / 1000;
    std::size_t skipped =
        more == 0 ? 0 : rng_.below(static_cast<std::uint32_t>(std::min(more + 1, max_candidates)));
    for (; skipped > 0 && found != Rank::none; --skipped) {
        passed_over_.push_back(queue_.top());
        queue_.pop();
        found = drop_stale_entries();
    }
    if (found == Rank::none) {  // fewer candidates remained than stale entries suggested
        found = passed_over_.back().rank;
        passed_over_.pop_back();
    } else {
        queue_.pop();
    }
    for (const QueuedRank& waiting : passed_over_) queue_.push(waiting);
    passed_over_.clear();
    return found;
}

FreeSlots::Found GreedyGrowth::find_best_slot(Rank s) {
    near_.clear();
    weights_.clear();
    if (rule_.latest_only) {
        near_.push_back(position_[latest_[s.value].value]);
        weights_.push_back(1);
    } else {
        const auto peers = context_.graph.peers(s);
        const auto bytes = context_.graph.bytes(s);
        for (std::size_t i = 0; i < peers.size(); ++i) {
            if (!is_placed(peers[i])) continue;
            near_.push_back(position_[peers[i].value]);
            weights_.push_back(rule_.weighted ? static_cast<std::uint64_t>(bytes[i].value) : 1);
        }
    }
    const FreeSlots::WeightedPartners partners{near_, weights_};
    return rule_.nearest ? rule_.nearest(free_, partners) : free_.find_nearest(partners);
}

std::vector<Slot> GreedyGrowth::place_remaining_ranks() {
    std::vector<Slot> slots;
    Position next{0};
    for (Position& position : position_) {
        if (position == Position::none) {
            while (!free_.is_free(next)) ++next.value;
            position = next;
            free_.take(next);
        }
        slots.push_back(context_.allocation.slots()[position.value]);
    }
    return slots;
}

}  // namespace topoloom::greedy
