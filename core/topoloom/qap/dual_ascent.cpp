// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/dual_ascent.hpp"

#include <algorithm>
#include <utility>

#include "topoloom/base/parallel.hpp"

namespace topoloom::qap {

namespace {

/// Wherever a pair cost is used, it saturates at 2 * max_cost. Larger costs would overflow after many sweeps.
DualAscent::Cost saturate(DualAscent::Cost cost) { return std::min(cost, 2 * DualAscent::max_cost); }

}  // namespace

DualAscent::DualAscent(std::uint32_t ranks, std::uint32_t slots, std::size_t pairs)
    : ranks_(ranks), slots_(slots), singles_(std::size_t{ranks} * slots, 0), partners_(ranks) {
    blocks_.reserve(pairs * slots * slots);
}

DualAscent::Cost* DualAscent::add_block(std::uint32_t i, std::uint32_t k) {
    const std::size_t at = blocks_.size();
    blocks_.resize(at + std::size_t{slots_} * slots_);
    const auto number = [&](std::uint32_t rank) {
        return static_cast<std::uint32_t>(partners_[rank].size());
    };
    const std::uint32_t number_of_k = number(i);
    partners_[i].push_back({k, number(k), at, true});
    partners_[k].push_back({i, number_of_k, at, false});
    return blocks_.data() + at;
}

void DualAscent::sweep(int threads) {
    // Processing a rank is three parallel loops. With few slots these are too short to benefit from threads.
    constexpr std::size_t worth_threads = std::size_t{1} << 19;
    const std::size_t costs_of_visit = 2 * blocks_.size() / std::max<std::uint32_t>(1, ranks_);
    const int workers = costs_of_visit < worth_threads ? 1 : thread_count(threads);
    workers_.resize(static_cast<std::size_t>(workers));
    for (std::uint32_t k = 0; k < ranks_; ++k) process_rank(forward_ ? k : ranks_ - 1 - k, forward_, workers);
    forward_ = !forward_;
    assign_singles();
}

/// Moves costs that are guaranteed for the pairs of a rank to the rank itself. Leaves half of them to the
/// partners that are processed later.
void DualAscent::process_rank(std::uint32_t i, bool forward, int workers) {
    const std::size_t count = partners_[i].size();
    if (count == 0) return;
    cube_.resize(count * slots_ * slots_);
    parallel_for(count, workers,
                 [&](std::size_t p, int) { load_costs(i, p, (partners_[i][p].rank > i) == forward); });
    parallel_for(slots_, workers, [&](std::size_t j, int worker) {
        raise_reduced_cost(i, static_cast<std::uint32_t>(j), forward,
                           workers_[static_cast<std::size_t>(worker)]);
    });
    parallel_for(count, workers, [&](std::size_t p, int) { store_costs(i, p); });
}

DualAscent::Cost DualAscent::split_reduced_cost(std::uint32_t i, std::uint32_t j, std::size_t partner) const {
    const Cost single = singles_[i * slots_ + j];
    if (single >= max_cost) return max_cost;
    const auto count = static_cast<Cost>(partners_[i].size());
    return single / count + (static_cast<Cost>(partner) < single % count ? 1 : 0);
}

void DualAscent::load_costs(std::uint32_t i, std::size_t p, bool with_singles) {
    const Partner& partner = partners_[i][p];
    const std::size_t n = slots_;
    const Cost* const block = blocks_.data() + partner.block;
    Cost* const cube = cube_.data() + p * n * n;
    if (partner.first) {
        std::copy(block, block + n * n, cube);
    } else {
        for (std::size_t l = 0; l < n; ++l) {
            for (std::size_t j = 0; j < n; ++j) cube[j * n + l] = block[l * n + j];
        }
    }
    if (!with_singles) return;
    std::vector<Cost> shares(n);
    for (std::uint32_t l = 0; l < slots_; ++l)
        shares[l] = split_reduced_cost(partner.rank, l, partner.number);
    for (std::uint32_t j = 0; j < slots_; ++j) {
        const Cost own = split_reduced_cost(i, j, p);
        for (std::size_t l = 0; l < n; ++l) cube[j * n + l] = saturate(cube[j * n + l] + own + shares[l]);
    }
}

void DualAscent::store_costs(std::uint32_t i, std::size_t p) {
    const Partner& partner = partners_[i][p];
    const std::size_t n = slots_;
    Cost* const block = blocks_.data() + partner.block;
    const Cost* const cube = cube_.data() + p * n * n;
    if (partner.first) {
        std::copy(cube, cube + n * n, block);
    } else {
        for (std::size_t l = 0; l < n; ++l) {
            for (std::size_t j = 0; j < n; ++j) block[l * n + j] = cube[j * n + l];
        }
    }
}

/// With rank i on slot j, its partners are on different other slots. So the minimum assignment of partners to
/// slots is a guaranteed cost.
void DualAscent::raise_reduced_cost(std::uint32_t i, std::uint32_t j, bool forward, Worker& worker) {
    Cost& single = singles_[i * slots_ + j];
    if (single >= max_cost) return;
    const std::vector<Partner>& partners = partners_[i];
    const std::size_t n = slots_;
    worker.costs.resize(partners.size() * n);
    worker.rows.clear();
    for (std::size_t p = 0; p < partners.size(); ++p) {
        const Cost* const row = cube_.data() + (p * n + j) * n;
        Cost* const costs = worker.costs.data() + p * n;
        const int halve = (partners[p].rank > i) == forward ? 1 : 0;
        for (std::size_t l = 0; l < n; ++l) costs[l] = std::min(row[l] >> halve, max_cost);
        costs[j] = max_cost;  // the rank's own slot is taken
        worker.rows.push_back(costs);
    }
    single = std::min(worker.assignment.solve(worker.rows, n), max_cost);
    const Cost* const by_column = worker.assignment.column_prices().data();
    for (std::size_t p = 0; p < partners.size(); ++p) {
        Cost* const row = cube_.data() + (p * n + j) * n;
        const Cost price = worker.assignment.row_prices()[p];
        for (std::size_t l = 0; l < n; ++l) row[l] = saturate(row[l]) - (price + by_column[l]);
        row[j] = 0;
    }
}

void DualAscent::assign_singles() {
    workers_.resize(std::max<std::size_t>(workers_.size(), 1));
    LinearAssignment<Cost>& assignment = workers_.front().assignment;
    bound_ += assignment.solve(singles_, slots_);
    for (std::uint32_t i = 0; i < ranks_; ++i) {
        for (std::uint32_t j = 0; j < slots_; ++j) {
            Cost& single = singles_[i * slots_ + j];
            if (single < max_cost) single -= assignment.row_prices()[i] + assignment.column_prices()[j];
        }
    }
}

void DualAscent::compute_reduced_costs_with(std::uint32_t i, std::uint32_t j,
                                            std::vector<Cost>& costs) const {
    const std::size_t slots = slots_ - 1;
    costs.resize((ranks_ - 1) * slots);
    const auto without = [](auto index, auto gone) { return index > gone ? index - 1 : index; };
    for (std::uint32_t k = 0; k < ranks_; ++k) {
        if (k == i) continue;
        const Cost* const row = singles_.data() + std::size_t{k} * slots_;
        Cost* const out = costs.data() + without(k, i) * slots;
        std::copy(row, row + j, out);
        std::copy(row + j + 1, row + slots_, out + j);
    }
    for (const Partner& partner : partners_[i]) {
        const Cost* const pair =
            blocks_.data() + partner.block + std::size_t{j} * (partner.first ? slots_ : 1);
        const std::size_t step = partner.first ? 1 : slots_;
        Cost* const out = costs.data() + without(partner.rank, i) * slots;
        for (std::uint32_t l = 0; l < slots_; ++l) {
            if (l == j) continue;
            Cost& cost = out[without(l, j)];
            cost = std::min(cost + pair[l * step], max_cost);
        }
    }
}

std::int64_t DualAscent::bound_with_fixed(std::uint32_t i, std::uint32_t j) {
    if (ranks_ == 1) return bound_ + reduced_cost(i, j);
    compute_reduced_costs_with(i, j, scratch_);
    workers_.resize(std::max<std::size_t>(workers_.size(), 1));
    return bound_ + reduced_cost(i, j) + workers_.front().assignment.solve(scratch_, slots_ - 1);
}

DualAscent DualAscent::fix_rank(std::uint32_t i, std::uint32_t j) const {
    std::size_t ordered_pairs = 0;
    for (const auto& partners : partners_) ordered_pairs += partners.size();
    DualAscent left(ranks_ - 1, slots_ - 1, ordered_pairs / 2 - partners_[i].size());
    left.bound_ = bound_ + reduced_cost(i, j);
    compute_reduced_costs_with(i, j, left.singles_);
    const auto copy = [&](const Cost* from, Cost* to) {
        for (std::uint32_t l = 0; l < slots_; ++l, from += slots_) {
            if (l == j) continue;
            to = std::copy(from, from + j, to);
            to = std::copy(from + j + 1, from + slots_, to);
        }
    };
    for (std::uint32_t k = 0; k < ranks_; ++k) {
        for (const Partner& partner : partners_[k]) {
            if (k == i || partner.rank == i || !partner.first) continue;
            copy(blocks_.data() + partner.block,
                 left.add_block(k - (k > i ? 1 : 0), partner.rank - (partner.rank > i ? 1 : 0)));
        }
    }
    left.assign_singles();
    return left;
}

CostScale::CostScale(std::int64_t total, std::size_t partners) {
    const auto most = std::min<std::int64_t>(
        DualAscent::max_cost, (1 << 30) / static_cast<std::int64_t>(std::max<std::size_t>(partners, 1)));
    if (total <= 0) return;
    factor = std::max<std::int64_t>(1, most / total);
    divisor = (total * factor + most - 1) / most;
}

}  // namespace topoloom::qap
