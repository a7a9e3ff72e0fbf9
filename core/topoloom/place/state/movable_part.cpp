// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/movable_part.hpp"

#include <algorithm>

#include "topoloom/machine/slot_space.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/migration_cost.hpp"

namespace topoloom {

std::vector<std::int64_t> dense_distances(const Allocation& allocation) {
    const std::size_t slots = allocation.slot_count();
    std::vector<std::int64_t> distance(slots * slots);
    const auto space = make_slot_space(allocation.machine(), allocation.slots());
    std::vector<std::uint32_t> row(slots);
    for (std::size_t x = 0; x < slots; ++x) {
        space->measure_distances(static_cast<std::uint32_t>(x), 0, row);
        row[x] = 0;
        std::ranges::copy(row, distance.begin() + static_cast<std::ptrdiff_t>(x * slots));
    }
    return distance;
}

MovablePart::MovablePart(const Problem& problem) : problem_(problem), index_(problem.rank_count(), no_index) {
    for (const Rank u : ids<Rank>(problem.rank_count())) {
        if (problem.fixed().contains(u)) continue;
        index_[u.value] = static_cast<std::uint32_t>(ranks_.size());
        ranks_.push_back(u);
    }
    const std::size_t slots = problem.allocation().slot_count();
    std::vector<char> is_taken(slots, 0);
    if (problem.capacity().one_rank_per_slot()) {
        for (const FixedPosition& fixed : list_fixed_positions(problem)) is_taken[fixed.position.value] = 1;
    }
    for (const Position p : ids<Position>(slots)) {
        if (is_taken[p.value] == 0) positions_.push_back(p);
    }
    std::vector<std::int64_t> all = dense_distances(problem.allocation());
    if (!problem.fixed().empty() || problem.migration() != nullptr)
        linear_.assign(ranks_.size() * positions_.size(), 0);
    if (problem.migration() != nullptr) add_migration();
    if (problem.fixed().empty()) {
        distances_ = std::move(all);
        return;
    }
    add_messages_of_fixed_ranks(all);
    for (const Position x : positions_) {
        for (const Position y : positions_) distances_.push_back(all[x.value * slots + y.value]);
    }
}

void MovablePart::add_migration() {
    const MigrationCost cost(problem_, 1);
    for (std::size_t u = 0; u < ranks_.size(); ++u) {
        for (std::size_t x = 0; x < positions_.size(); ++x)
            linear_[u * positions_.size() + x] += cost.at(ranks_[u], positions_[x]);
    }
    for (const FixedPosition& fixed : list_fixed_positions(problem_))
        fixed_cost_ += cost.at(fixed.rank, fixed.position);
}

void MovablePart::add_messages_of_fixed_ranks(std::span<const std::int64_t> all_distances) {
    const std::size_t slots = problem_.allocation().slot_count();
    std::vector<Position> home(problem_.rank_count(), Position::none);
    for (const FixedPosition& fixed : list_fixed_positions(problem_)) home[fixed.rank.value] = fixed.position;
    const auto distance = [&](Position a, Position b) { return all_distances[a.value * slots + b.value]; };
    for (const Rank u : ids<Rank>(problem_.rank_count())) {
        const Position from = home[u.value];
        for (const Edge edge : problem_.graph().sends(u)) {
            const Position to = home[edge.peer.value];
            if (from == Position::none && to == Position::none) continue;
            if (from != Position::none && to != Position::none) {
                fixed_cost_ += edge.bytes.value * distance(from, to);
                continue;
            }
            const std::size_t mover = index_[from == Position::none ? u.value : edge.peer.value];
            for (std::size_t x = 0; x < positions_.size(); ++x) {
                const std::int64_t hops =
                    from == Position::none ? distance(positions_[x], to) : distance(from, positions_[x]);
                linear_[mover * positions_.size() + x] += edge.bytes.value * hops;
            }
        }
    }
}

std::vector<std::int64_t> MovablePart::bytes(std::size_t order) const {
    std::vector<std::int64_t> bytes(order * order);
    for (std::size_t u = 0; u < ranks_.size(); ++u) {
        for (const Edge edge : problem_.graph().sends(ranks_[u])) {
            const std::uint32_t v = index_[edge.peer.value];
            if (v != no_index) bytes[u * order + v] = edge.bytes.value;
        }
    }
    return bytes;
}

std::vector<Position> MovablePart::extract(const Placement& placement) const {
    std::vector<Position> index(problem_.allocation().slot_count());
    for (std::size_t x = 0; x < positions_.size(); ++x) index[positions_[x].value] = Position{x};
    const std::vector<Position> all = rank_positions(problem_.allocation(), placement.slots());
    std::vector<Position> restricted;
    for (const Rank u : ranks_) restricted.push_back(index[all[u.value].value]);
    return restricted;
}

Placement MovablePart::complete(std::span<const Position> slot_of_rank) const {
    std::vector<Position> all(problem_.rank_count());
    for (const FixedPosition& fixed : list_fixed_positions(problem_)) all[fixed.rank.value] = fixed.position;
    for (std::size_t u = 0; u < ranks_.size(); ++u) all[ranks_[u].value] = positions_[slot_of_rank[u].value];
    return placement_at(problem_.allocation(), all,
                        problem_.capacity().one_rank_per_slot() ? SlotUse::one_rank : SlotUse::shared);
}

}  // namespace topoloom
