// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/exact/generalized_search.hpp"

#include <algorithm>
#include <compare>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "topoloom/base/id.hpp"
#include "topoloom/qap/exact/slot_symmetry.hpp"

namespace topoloom::qap {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// A cost in half units, because bounds count half of a message between two unplaced ranks at each of its
/// ends.
struct HalfUnitCost {
    std::int64_t whole = 0;
    std::int64_t half = 0;
    friend auto operator<=>(const HalfUnitCost&, const HalfUnitCost&) = default;
};

class GeneralizedSearch {
   public:
    GeneralizedSearch(const GeneralizedAssignment& problem, std::span<const Position> start, Meter& meter)
        : problem_(problem),
          meter_(meter),
          cost_(problem.linear),
          left_(problem.capacity),
          ranks_on_(problem.slots, 0),
          position_(problem.ranks, Position::none),
          symmetric_distances_(problem.distances),
          best_{{start.begin(), start.end()}, problem.value(start), never, 0} {
        cost_.resize(std::size_t{problem.ranks} * problem.slots, 0);
        for (const Position s : ids<Position>(problem_.slots))
            symmetric_distances_[pair_index(s, s)] = problem.capacity[s.value];
        list_peers();
        list_nearest();
        order_ranks();
    }

    [[nodiscard]] ExactResult run() {
        place_remaining(0, 0, find_representatives({}));
        best_.lower_bound = std::min(best_.lower_bound, best_.value);
        return std::move(best_);
    }

   private:
    struct Peer {
        Rank rank;
        std::int64_t bytes;  // both ways
    };
    struct SlotChoice {
        HalfUnitCost cost;
        Position slot;
    };

    [[nodiscard]] std::size_t pair_index(Position a, Position b) const {
        return std::size_t{a.value} * problem_.slots + b.value;
    }
    [[nodiscard]] std::int64_t bytes(Rank u, Rank v) const {
        return problem_.bytes[std::size_t{u.value} * problem_.ranks + v.value];
    }
    /// Returns the smaller of the distances in both directions.
    [[nodiscard]] std::int64_t min_distance(Position a, Position b) const {
        return std::min(problem_.distances[pair_index(a, b)], problem_.distances[pair_index(b, a)]);
    }
    [[nodiscard]] std::int64_t& cost(Rank u, Position s) {
        return cost_[std::size_t{u.value} * problem_.slots + s.value];
    }
    [[nodiscard]] bool is_placed(Rank u) const { return position_[u.value] != Position::none; }
    [[nodiscard]] bool fits(Rank u, Position s) const { return problem_.mass[u.value] <= left_[s.value]; }

    void list_peers() {
        peers_.resize(problem_.ranks);
        for (const Rank u : ids<Rank>(problem_.ranks)) {
            for (const Rank v : ids<Rank>(problem_.ranks)) {
                const std::int64_t both = bytes(u, v) + bytes(v, u);
                if (u != v && both > 0) peers_[u.value].push_back({v, both});
            }
            std::ranges::stable_sort(peers_[u.value], std::greater(), &Peer::bytes);
        }
    }

    void list_nearest() {
        for (const Position s : ids<Position>(problem_.slots)) {
            std::vector<Position> others = id_list<Position>(problem_.slots);
            std::ranges::stable_sort(others, {},
                                     [&](Position t) { return t == s ? -1 : min_distance(s, t); });
            nearest_.push_back(std::move(others));
        }
    }

    /// Orders the ranks. The next rank is always the one with the most bytes to the ranks before it, so that
    /// bounds become tight early.
    void order_ranks() {
        std::vector<std::int64_t> to_placed(problem_.ranks, 0);
        std::vector<std::int64_t> to_all(problem_.ranks, 0);
        for (const Rank u : ids<Rank>(problem_.ranks)) {
            for (const Peer& peer : peers_[u.value]) to_all[u.value] += peer.bytes;
        }
        std::vector<Rank> rest = id_list<Rank>(problem_.ranks);
        while (!rest.empty()) {
            const auto next = std::ranges::max_element(rest, {}, [&](Rank u) {
                return std::tuple(to_placed[u.value], problem_.mass[u.value], to_all[u.value]);
            });
            const Rank u = *next;
            rest.erase(next);
            order_.push_back(u);
            for (const Peer& peer : peers_[u.value]) to_placed[peer.rank.value] += peer.bytes;
        }
    }

    /// Returns, for every slot, the equivalent slot to try instead while the slot is empty.
    [[nodiscard]] std::vector<Position> find_representatives(std::span<const Position> used) const {
        if (!problem_.linear.empty()) return id_list<Position>(problem_.slots);
        return SlotSymmetry(problem_.slots, symmetric_distances_).orbits(used);
    }

    /// Lower bound on the cost of u on a slot: costs to placed ranks, and half of the costs to unplaced
    /// ranks.
    [[nodiscard]] HalfUnitCost least_cost(Rank u, Position s, std::int64_t lightest) {
        std::int64_t to_others = 0;
        const std::vector<Position>& near = nearest_[s.value];
        std::size_t at = 0;
        std::int64_t room = ranks_that_fit(left_[s.value] - problem_.mass[u.value], lightest);
        for (const Peer& peer : peers_[u.value]) {
            if (is_placed(peer.rank)) continue;
            while (room == 0) {
                if (++at == near.size()) return {never, 0};
                room = ranks_that_fit(left_[near[at].value], lightest);
            }
            --room;
            to_others += peer.bytes * min_distance(s, near[at]);
        }
        return {cost(u, s) + to_others / 2, to_others % 2};
    }
    [[nodiscard]] static std::int64_t ranks_that_fit(std::int64_t left, std::int64_t lightest) {
        return lightest == 0 ? never : left / lightest;
    }

    /// Returns a lower bound on the cost of all placements that extend the current partial placement.
    [[nodiscard]] std::int64_t lower_bound(std::size_t placed, std::int64_t value) {
        std::int64_t lightest = never;
        for (std::size_t i = placed; i < order_.size(); ++i)
            lightest = std::min(lightest, problem_.mass[order_[i].value]);
        std::int64_t sum = value;
        std::int64_t halves = 0;
        for (std::size_t i = placed; i < order_.size(); ++i) {
            HalfUnitCost least{never, 0};
            for (const Position s : ids<Position>(problem_.slots)) {
                if (fits(order_[i], s)) least = std::min(least, least_cost(order_[i], s, lightest));
            }
            if (least.whole == never) return never;
            sum += least.whole;
            halves += least.half;
            if (sum + halves / 2 >= best_.value) return never;
        }
        return sum + (halves + 1) / 2;
    }

    void place_remaining(std::size_t placed, std::int64_t value,
                         const std::vector<Position>& representative) {
        if (placed == order_.size()) {
            if (value >= best_.value) return;
            best_.value = value;
            best_.position_of_rank = position_;
            return;
        }
        ++best_.nodes;
        const std::int64_t bound = lower_bound(placed, value);
        if (bound >= best_.value) return;
        const auto skip = [&] { best_.lower_bound = std::min(best_.lower_bound, bound); };
        if (!meter_.spend((order_.size() - placed) * problem_.slots)) return skip();
        const Rank u = order_[placed];
        for (const SlotChoice& child : list_slot_choices(u, representative)) {
            if (meter_.is_exhausted()) return skip();
            const bool opens = ranks_on_[child.slot.value] == 0;
            const std::int64_t paid = cost(u, child.slot);
            place_rank(u, child.slot);
            place_remaining(placed + 1, value + paid, opens ? find_representatives(used_) : representative);
            unplace_rank(u);
        }
    }

    /// Returns the possible slots of u, sorted by ascending bound.
    [[nodiscard]] std::vector<SlotChoice> list_slot_choices(Rank u,
                                                            const std::vector<Position>& representative) {
        std::vector<SlotChoice> found;
        for (const Position s : ids<Position>(problem_.slots)) {
            if (!fits(u, s) || (ranks_on_[s.value] == 0 && representative[s.value] != s)) continue;
            found.push_back({least_cost(u, s, 0), s});
        }
        std::ranges::stable_sort(found, {}, &SlotChoice::cost);
        return found;
    }

    void place_rank(Rank u, Position s) {
        if (ranks_on_[s.value]++ == 0) used_.push_back(s);
        position_[u.value] = s;
        left_[s.value] -= problem_.mass[u.value];
        add_costs(u, s, 1);
    }
    void unplace_rank(Rank u) {
        const Position s = position_[u.value];
        add_costs(u, s, -1);
        left_[s.value] += problem_.mass[u.value];
        position_[u.value] = Position::none;
        if (--ranks_on_[s.value] == 0) used_.pop_back();
    }
    /// Adds the costs to u, multiplied by `sign`, to the costs of u's unplaced peers on every slot.
    void add_costs(Rank u, Position s, std::int64_t sign) {
        for (const Peer& peer : peers_[u.value]) {
            if (is_placed(peer.rank)) continue;
            const std::int64_t out = sign * bytes(peer.rank, u);
            const std::int64_t in = sign * bytes(u, peer.rank);
            for (const Position t : ids<Position>(problem_.slots))
                cost(peer.rank, t) +=
                    out * problem_.distances[pair_index(t, s)] + in * problem_.distances[pair_index(s, t)];
        }
    }

    const GeneralizedAssignment& problem_;
    Meter& meter_;
    std::vector<std::vector<Peer>> peers_;        // [rank]: its peers, heaviest first
    std::vector<std::vector<Position>> nearest_;  // [slot]: all slots by distance, the slot itself first
    std::vector<Rank> order_;
    std::vector<std::int64_t> cost_;  // [rank][slot]: linear cost plus costs to placed ranks
    std::vector<std::int64_t> left_;  // remaining capacity of each slot
    std::vector<std::uint32_t> ranks_on_;
    std::vector<Position> used_;  // slots in the order of their first rank
    std::vector<Position> position_;
    std::vector<std::int64_t> symmetric_distances_;  // capacities on the diagonal
    ExactResult best_;
};

}  // namespace

std::int64_t GeneralizedAssignment::value(std::span<const Position> position_of_rank) const {
    std::int64_t sum = 0;
    for (std::size_t u = 0; u < ranks; ++u) {
        const std::size_t s = position_of_rank[u].value;
        if (!linear.empty()) sum += linear[u * slots + s];
        for (std::size_t v = 0; v < ranks; ++v)
            sum += bytes[u * ranks + v] * distances[s * slots + position_of_rank[v].value];
    }
    return sum;
}

ExactResult branch_and_bound(const GeneralizedAssignment& problem, std::span<const Position> start,
                             Meter& meter) {
    return GeneralizedSearch(problem, start, meter).run();
}

}  // namespace topoloom::qap
