// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/exact/placement_search.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "topoloom/base/id.hpp"

namespace topoloom::qap {

namespace {

/// Returns the greatest common divisor of all values.
std::int64_t common_factor(const QuadraticAssignment& p) {
    std::int64_t distances = 0;
    bool symmetric = true;
    for (std::size_t j = 0; j < p.slots; ++j) {
        for (std::size_t l = 0; l < p.slots; ++l) {
            if (j == l) continue;
            distances = std::gcd(distances, p.distances[j * p.slots + l]);
            symmetric = symmetric && p.distances[j * p.slots + l] == p.distances[l * p.slots + j];
        }
    }
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < p.ranks; ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            const std::int64_t there = p.bytes[i * p.ranks + k];
            const std::int64_t back = p.bytes[k * p.ranks + i];
            bytes = symmetric ? std::gcd(bytes, there + back) : std::gcd(bytes, std::gcd(there, back));
        }
    }
    std::int64_t common = bytes * distances;
    for (const std::int64_t cost : p.linear) common = std::gcd(common, cost);
    return std::max<std::int64_t>(1, common);
}

/// Bounds of the branches of a partial placement, row-major by rank. A bound above `most` excludes a branch.
struct BranchBounds {
    std::uint32_t ranks, slots;
    std::int64_t most;
    std::span<const std::int64_t> bound;

    /// The branches of a rank, or to a slot, as indices of `bound`.
    struct Choice {
        std::uint32_t begin, step, count;
        [[nodiscard]] std::uint32_t operator[](std::uint32_t k) const { return begin + k * step; }
    };

    /// Estimates the remaining work of the branches; smaller is better.
    [[nodiscard]] std::int64_t estimate_work(const Choice& choice) const {
        std::int64_t sum = 0;
        for (std::uint32_t k = 0; k < choice.count; ++k)
            sum += std::max<std::int64_t>(0, most + 1 - bound[choice[k]]);
        return sum;
    }
    [[nodiscard]] Choice find_cheapest_choice(bool among_slots) const {
        Choice best{};
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        const auto offer = [&](const Choice& choice) {
            const std::int64_t work = estimate_work(choice);
            if (work >= least) return;
            least = work;
            best = choice;
        };
        for (std::uint32_t i = 0; i < ranks; ++i) offer({i * slots, 1, slots});
        for (std::uint32_t j = 0; among_slots && j < slots; ++j) offer({j, slots, ranks});
        return best;
    }
};

}  // namespace

SearchContext::SearchContext(const QuadraticAssignment& assignment, std::int64_t value_at_start)
    : problem(assignment),
      symmetry(assignment.slots, problem.distances),
      scale(value_at_start, problem.ranks),
      granularity_(common_factor(assignment)) {}

bool SearchContext::has_partners(std::size_t i) const {
    for (std::size_t k = 0; k < problem.ranks; ++k) {
        if (i != k && problem.bytes[i * problem.ranks + k] + problem.bytes[k * problem.ranks + i] > 0)
            return true;
    }
    return !problem.linear.empty();
}

PartialPlacement SearchContext::root() const {
    std::vector<Rank> talking;
    for (const Rank u : ids<Rank>(problem.ranks)) {
        if (has_partners(u.value)) talking.push_back(u);
    }
    const auto count = static_cast<std::uint32_t>(talking.size());
    PartialPlacement all{DualAscent(count, problem.slots, std::size_t{count} * (count - 1) / 2), talking,
                         id_list<Position>(problem.slots),
                         std::vector<Position>(problem.ranks, Position::none), problem.linear.empty()};
    for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint32_t k = i + 1; k < count; ++k) {
            all.costs.add_pair(i, k, [&](std::uint32_t j, std::uint32_t l) {
                return scale.down(problem.pair_cost(talking[i].value, talking[k].value, j, l));
            });
        }
        for (std::uint32_t j = 0; j < problem.slots && !problem.linear.empty(); ++j)
            all.costs.add_rank_cost(
                i, j, scale.down(problem.linear[std::size_t{talking[i].value} * problem.slots + j]));
    }
    return all;
}

void PlacementSearch::search_below(PartialPlacement& partial) {
    for (const Branch& branch : expand(partial)) {
        if (branch.bound > largest_bound_of_better()) continue;
        if (meter_.is_exhausted()) {
            record_open_bound(branch.bound);
            continue;
        }
        PartialPlacement next = apply_branch(partial, branch);
        search_below(next);
    }
}

std::vector<Branch> PlacementSearch::expand(PartialPlacement& partial) {
    DualAscent& costs = partial.costs;
    if (costs.bound() > largest_bound_of_better()) return {};
    if (costs.ranks() <= 1) {
        complete_placement(partial);
        return {};
    }
    if (meter_.is_exhausted()) {
        record_open_bound(costs.bound());
        return {};
    }
    ++nodes_;
    // Sweeps continue only if this many sweeps, each with the gain of the last one, would close the gap. At
    // small depth more sweeps pay off, because all extensions inherit their gain.
    const std::uint32_t depth = problem_.slots - costs.slots();
    const std::int64_t further_sweeps = std::max(5, depth < 5 ? 32 >> depth : 0);
    constexpr int max_sweeps = 100;
    for (int i = 0; i < max_sweeps; ++i) {
        const std::int64_t before = costs.bound();
        costs.sweep();
        if (costs.bound() > largest_bound_of_better()) return {};
        rule_out(costs);
        if (!meter_.spend(std::uint64_t{costs.ranks()} * costs.slots())) break;
        const std::int64_t gain = costs.bound() - before;
        if (i > 0 && costs.bound() + further_sweeps * gain < largest_bound_of_better()) break;
    }
    return list_branches(partial);
}

PartialPlacement PlacementSearch::apply_branch(const PartialPlacement& partial, const Branch& branch) {
    PartialPlacement next{partial.costs.fix_rank(branch.rank, branch.slot), partial.ranks, partial.slots,
                          partial.position_of_rank, partial.symmetric};
    next.position_of_rank[partial.ranks[branch.rank].value] = partial.slots[branch.slot];
    next.ranks.erase(next.ranks.begin() + branch.rank);
    next.slots.erase(next.slots.begin() + branch.slot);
    return next;
}

void PlacementSearch::rule_out(DualAscent& costs) const {
    const std::int64_t most = largest_bound_of_better() - costs.bound();
    for (std::uint32_t i = 0; i < costs.ranks(); ++i) {
        for (std::uint32_t j = 0; j < costs.slots(); ++j) {
            if (costs.reduced_cost(i, j) > most) costs.rule_out(i, j);
        }
    }
}

std::vector<Branch> PlacementSearch::list_branches(PartialPlacement& partial) const {
    DualAscent& costs = partial.costs;
    const std::uint32_t ranks = costs.ranks();
    const std::uint32_t slots = costs.slots();
    std::vector<char> only(slots, 1);
    if (partial.symmetric) partial.symmetric = mark_representatives(partial, only);
    const std::int64_t most = largest_bound_of_better();
    std::vector<std::int64_t> bound(std::size_t{ranks} * slots, most + 1);
    for (std::uint32_t i = 0; i < ranks; ++i) {
        for (std::uint32_t j = 0; j < slots; ++j) {
            if (!only[j] || costs.bound() + costs.reduced_cost(i, j) > most) continue;
            bound[i * slots + j] = costs.bound_with_fixed(i, j);
            if (bound[i * slots + j] > most && !partial.symmetric) costs.rule_out(i, j);
        }
    }
    const BranchBounds bounds{ranks, slots, most, bound};
    const auto choice = bounds.find_cheapest_choice(ranks == slots && !partial.symmetric);
    std::vector<Branch> found;
    for (std::uint32_t k = 0; k < choice.count; ++k) {
        const std::uint32_t at = choice[k];
        if (bound[at] <= most) found.push_back({at / slots, at % slots, bound[at]});
    }
    std::ranges::stable_sort(found, {}, &Branch::bound);
    return found;
}

bool PlacementSearch::mark_representatives(const PartialPlacement& partial, std::vector<char>& only) const {
    std::vector<char> is_free(problem_.slots, 0);
    for (const Position slot : partial.slots) is_free[slot.value] = 1;
    std::vector<Position> fixed;
    for (const Position slot : ids<Position>(problem_.slots)) {
        if (!is_free[slot.value]) fixed.push_back(slot);
    }
    const std::vector<Position> orbit = context_.symmetry.orbits(fixed);
    bool some = false;
    for (std::size_t j = 0; j < partial.slots.size(); ++j) {
        only[j] = orbit[partial.slots[j].value] == partial.slots[j];
        some = some || !only[j];
    }
    return some;
}

void PlacementSearch::complete_placement(const PartialPlacement& partial) {
    std::vector<Position> placement = partial.position_of_rank;
    std::optional<Incumbent> found;
    const auto fill = [&] {
        std::vector<Position> is_full = placement;
        std::vector<char> taken(problem_.slots, 0);
        for (const Position slot : is_full) {
            if (slot != Position::none) taken[slot.value] = 1;
        }
        Position next{0};
        for (Position& slot : is_full) {
            if (slot != Position::none) continue;
            while (taken[next.value]) ++next.value;
            slot = next;
            ++next.value;
        }
        const std::int64_t value = problem_.value(is_full);
        if (!found || value < found->value) found = {value, std::move(is_full)};
    };
    if (partial.ranks.empty()) fill();
    for (const Position slot : partial.slots) {
        if (partial.ranks.empty()) break;
        placement[partial.ranks.front().value] = slot;
        fill();
    }
    if (found->value < best_.value) best_ = *std::move(found);
}

}  // namespace topoloom::qap
