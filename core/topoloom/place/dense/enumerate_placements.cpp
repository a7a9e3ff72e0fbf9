// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/dense/enumerate_placements.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "topoloom/machine/network_view.hpp"
#include "topoloom/place/dense/partial_placement_bound.hpp"
#include "topoloom/place/dense/route_table.hpp"
#include "topoloom/place/dense/slot_classes.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/movable_part.hpp"

namespace topoloom::dense {

namespace {

constexpr double tolerance = 1e-9;

/// The objective, then hop-bytes.
struct Score {
    double value;
    double hop_bytes;
};

Score score_of(const Problem& problem, std::span<const Slot> slots) {
    const CongestionKey key = problem.key(slots);
    const auto hop_bytes = static_cast<double>(key.hop_bytes);
    return {problem.is_for_hop_bytes() ? hop_bytes : key.congestion, hop_bytes};
}

double objective_weight(const Problem& problem, ObjectiveKind kind) {
    if (problem.is_for_hop_bytes()) return kind == ObjectiveKind::hop_bytes ? 1 : 0;
    return problem.link_objective().mix.of(kind);
}

/// A problem with its routes, distances and symmetries.
struct SmallProblem {
    const Problem& problem;
    RouteTable routes;
    std::vector<std::int64_t> distances;
    SlotClasses slots;

    std::vector<FixedPosition> fixed;

    explicit SmallProblem(const Problem& all)
        : problem(all),
          routes(all.allocation()),
          distances(dense_distances(all.allocation())),
          slots(find_slot_classes(all.allocation(), routes, distances, all.link_objective().background,
                                  objective_weight(all, ObjectiveKind::hop_bytes) > 0 ? SlotDetail::distances
                                                                                      : SlotDetail::nodes)),
          fixed(list_fixed_positions(all)) {
        // The remaining slots of a class are still interchangeable: exchanging them moves no other slot.
        for (SlotClass& one : slots.classes)
            std::erase_if(one.members, [&](Position p) { return is_taken(p); });
    }

    /// Whether a fixed rank is on the slot.
    [[nodiscard]] bool is_taken(Position p) const {
        return std::ranges::find(fixed, p, &FixedPosition::position) != fixed.end();
    }
    /// Whether a fixed rank is on the node, which is then interchangeable with none.
    [[nodiscard]] bool has_fixed_rank(std::uint32_t node) const {
        const auto nodes = problem.allocation().node_of_slot();
        return std::ranges::any_of(
            fixed, [&](const FixedPosition& one) { return nodes[one.position.value] == node; });
    }
};

/// A lower bound on the number of placements up to symmetry: those up to exchanges of slots, divided by the
/// number of exchanges of nodes.
double count_placements(const SmallProblem& small) {
    const std::size_t ranks = small.problem.rank_count() - small.fixed.size();
    // Placements of k ranks on the classes so far, divided by k!.
    std::vector<double> count(ranks + 1, 0);
    count[0] = 1;
    for (const SlotClass& one : small.slots.classes) {
        for (std::size_t k = ranks; k > 0; --k) {
            double orders = 1;
            for (std::size_t here = 1; here <= std::min(k, one.members.size()); ++here) {
                orders *= static_cast<double>(here);
                count[k] += count[k - here] / orders;
            }
        }
    }
    double all = count[ranks] * std::tgamma(static_cast<double>(ranks) + 1);
    for (std::uint32_t node = 0; node < small.slots.first_twin.size(); ++node) {
        std::size_t twins = 0;
        for (std::uint32_t other = 0; other < small.slots.first_twin.size(); ++other)
            twins += small.slots.first_twin[other] == node && !small.has_fixed_rank(other) ? 1 : 0;
        for (std::size_t i = 0; i < std::min(twins, ranks); ++i) all /= static_cast<double>(twins - i);
    }
    return all;
}

class PlacementEnumeration {
   public:
    PlacementEnumeration(const SmallProblem& small, const Placement& start, Meter& meter)
        : small_(small),
          problem_(small.problem),
          meter_(meter),
          partial_(small.problem, small.routes, small.distances),
          used_(small.slots.classes.size(), 0),
          ranks_on_(small.routes.node_count(), 0),
          best_(rank_positions(small.problem.allocation(), start.slots())),
          score_(score_of(small.problem, start.slots())) {
        place_fixed_ranks();
        order_ranks();
    }

    EnumerationResult run() {
        place_remaining(0);
        const bool is_optimal = !stopped_;
        if (is_optimal) reduce_hop_bytes();
        return {placement_at(problem_.allocation(), best_), is_optimal};
    }

   private:
    void place_fixed_ranks() {
        for (const FixedPosition& fixed : small_.fixed) {
            partial_.place(fixed.rank, fixed.position);
            ++ranks_on_[problem_.allocation().node_of_slot()[fixed.position.value]];
        }
    }

    /// Orders the ranks that are not fixed.
    void order_ranks() {
        const CommGraph& partners = problem_.symmetric();
        std::vector<std::int64_t> bytes(partners.rank_count(), 0);
        std::vector<char> is_placed(partners.rank_count(), 0);
        for (const FixedPosition& fixed : small_.fixed) {
            is_placed[fixed.rank.value] = 1;
            for (const Edge edge : partners.sends(fixed.rank)) bytes[edge.peer.value] += edge.bytes.value;
        }
        while (order_.size() + small_.fixed.size() < partners.rank_count()) {
            Rank next = Rank::none;
            for (const Rank u : ids<Rank>(partners.rank_count())) {
                if (!is_placed[u.value] && (next == Rank::none || bytes[u.value] > bytes[next.value]))
                    next = u;
            }
            is_placed[next.value] = 1;
            order_.push_back(next);
            for (const Edge edge : partners.sends(next)) bytes[edge.peer.value] += edge.bytes.value;
        }
    }

    /// Searches briefly for optimal placements with fewer hop-bytes. There are often many.
    void reduce_hop_bytes() {
        constexpr std::uint64_t brief = 100'000;
        max_work_ = meter_.work_done() + brief;
        reduces_hop_bytes_ = true;
        place_remaining(0);
    }

    /// Whether placements with these lower bounds can be better than the best one.
    [[nodiscard]] bool can_improve(double value, double hop_bytes) const {
        if (value < score_.value * (1 - tolerance)) return true;
        return reduces_hop_bytes_ && value <= score_.value * (1 + tolerance) && hop_bytes < score_.hop_bytes;
    }

    void place_remaining(std::size_t depth) {
        if (depth == order_.size()) return offer();
        const Rank u = order_[depth];
        for (std::size_t c = 0; c < used_.size() && !stopped_; ++c) {
            const SlotClass& slots = small_.slots.classes[c];
            if (used_[c] == slots.members.size() || is_behind_empty_twin(slots.node)) continue;
            stopped_ = !meter_.spend(1 + partial_.message_count(u)) || meter_.work_done() > max_work_;
            partial_.place(u, slots.members[used_[c]]);
            ++used_[c];
            ++ranks_on_[slots.node];
            if (can_improve(partial_.lower_bound(), partial_.hop_bytes())) place_remaining(depth + 1);
            --ranks_on_[slots.node];
            --used_[c];
            partial_.unplace();
        }
    }
    /// Whether a node is empty, as is another one that it is interchangeable with.
    [[nodiscard]] bool is_behind_empty_twin(std::uint32_t node) const {
        if (ranks_on_[node] > 0) return false;
        for (std::uint32_t before = small_.slots.first_twin[node]; before < node; ++before) {
            if (ranks_on_[before] == 0 && small_.slots.first_twin[before] == small_.slots.first_twin[node])
                return true;
        }
        return false;
    }

    void offer() {
        if (!can_improve(partial_.value(), partial_.hop_bytes())) return;
        constexpr std::uint64_t evaluation_work = 100;
        meter_.spend(evaluation_work);
        std::vector<Position> positions;
        for (const Rank u : ids<Rank>(problem_.rank_count())) positions.push_back(partial_.position(u));
        const Score found = score_of(problem_, placement_at(problem_.allocation(), positions).slots());
        if (!can_improve(found.value, found.hop_bytes)) return;
        best_ = std::move(positions);
        score_ = found;
    }

    const SmallProblem& small_;
    const Problem& problem_;
    Meter& meter_;
    PartialObjective partial_;
    std::vector<Rank> order_;
    std::vector<std::size_t> used_;        // by class: occupied slots
    std::vector<std::uint32_t> ranks_on_;  // by node
    std::vector<Position> best_;           // by rank
    Score score_;                          // of best_
    std::uint64_t max_work_ = std::numeric_limits<std::uint64_t>::max();
    bool reduces_hop_bytes_ = false;
    bool stopped_ = false;
};

bool is_fixed_slot(const Problem& problem, Slot slot) {
    const FixedRanks& fixed = problem.fixed();
    return std::ranges::any_of(fixed.ranks(), [&](Rank u) { return fixed.slot(u) == slot; });
}

/// Exchanges slots within nodes as long as that saves hop-bytes.
Placement improve_inside_nodes(const Problem& problem, const Placement& start) {
    const Problem near = problem.for_hop_bytes();
    const Allocation& allocation = problem.allocation();
    std::vector<Slot> slots(start.slots().begin(), start.slots().end());
    std::int64_t value = near.value(slots);
    const auto keep_if_better = [&](const auto& undo) {
        const std::int64_t now = near.value(slots);
        if (now < value) {
            value = now;
            return true;
        }
        undo();
        return false;
    };
    bool improves = true;
    while (std::exchange(improves, false)) {
        for (std::size_t u = 0; u < slots.size(); ++u) {
            if (problem.fixed().contains(Rank{u})) continue;
            for (const Slot to : allocation.slots()) {
                if (to == slots[u] || is_fixed_slot(problem, to) ||
                    problem.machine().node(to) != problem.machine().node(slots[u]))
                    continue;
                const Slot from = slots[u];
                const auto other = std::ranges::find(slots, to);
                const auto exchange = [&](Slot one, Slot another) {
                    slots[u] = one;
                    if (other != slots.end()) *other = another;
                };
                exchange(to, from);
                if (keep_if_better([&] { exchange(from, to); })) improves = true;
            }
        }
    }
    return {allocation, std::move(slots)};
}

}  // namespace

bool is_enumerable(const Problem& problem) {
    const Allocation& allocation = problem.allocation();
    if (!problem.capacity().one_rank_per_slot() || problem.migration() != nullptr) return false;
    if (allocation.nodes().size() > max_enumerated_nodes ||
        allocation.slot_count() > 4 * max_enumerated_nodes)
        return false;
    // judge() splits the traffic of adaptive routing by load, unlike the objective.
    const bool is_split = NetworkView(problem.machine().topology()).is_adaptive();
    if (is_split && objective_weight(problem, ObjectiveKind::congestion) +
                            objective_weight(problem, ObjectiveKind::soft) >
                        0)
        return false;
    return count_placements(SmallProblem(problem)) <= max_enumerated_placements;
}

EnumerationResult enumerate_placements(const Problem& problem, const Placement& start, Meter& meter) {
    const SmallProblem small(problem);
    EnumerationResult found = PlacementEnumeration(small, start, meter).run();
    Placement improved = improve_inside_nodes(problem, found.placement);
    if (problem.key(improved.slots()) < problem.key(found.placement.slots()))
        found.placement = std::move(improved);
    if (problem.key(start.slots()) < problem.key(found.placement.slots())) found.placement = start;
    return found;
}

}  // namespace topoloom::dense
