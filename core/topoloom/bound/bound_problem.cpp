// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/bound_problem.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/step_budget.hpp"
#include "topoloom/bound/cuts/flow_cuts.hpp"
#include "topoloom/bound/cuts/grid_cuts.hpp"
#include "topoloom/bound/cuts/rank_cuts.hpp"
#include "topoloom/metric/background.hpp"
#include "topoloom/metric/hop_bytes.hpp"

namespace topoloom {

std::vector<std::uint32_t> max_ranks_on_slots(std::span<const std::int64_t> masses,
                                              std::span<const std::int64_t> capacities) {
    std::vector<std::int64_t> prefix_mass(masses.begin(), masses.end());
    std::ranges::sort(prefix_mass);
    for (std::size_t i = 1; i < prefix_mass.size(); ++i) prefix_mass[i] += prefix_mass[i - 1];
    std::vector<std::uint32_t> most;
    for (const std::int64_t capacity : capacities) {
        const auto too_many = std::ranges::upper_bound(prefix_mass, capacity);
        most.push_back(static_cast<std::uint32_t>(too_many - prefix_mass.begin()));
    }
    return most;
}

namespace {

void require_exact_bounds(const CommGraph& graph, const Machine& machine) {
    require_exact_hop_bytes(graph, machine);
    const auto farthest = std::int64_t{machine.max_distance()};
    if (farthest > 0 && graph.total_bytes().value > (std::int64_t{1} << 61) / farthest)
        fail("the pattern moves ", graph.total_bytes().value, " bytes over distances of up to ", farthest,
             "; bounds add up twice the hop-bytes, which would exceed 2^62. Scale the bytes down");
}

/// [s]: minimum of cuts[k] over all numbers k of ranks in a part of capacity s, if `spare` slots are empty.
std::vector<std::int64_t> minimize_over_rank_counts(std::span<const std::int64_t> cuts, std::uint64_t spare) {
    std::vector<std::int64_t> least;
    std::deque<std::pair<std::uint64_t, std::int64_t>> window;  // numbers of ranks, with ascending bytes
    for (std::uint64_t capacity = 0; capacity < cuts.size() + spare; ++capacity) {
        if (capacity < cuts.size()) {
            while (!window.empty() && window.back().second >= cuts[capacity]) window.pop_back();
            window.emplace_back(capacity, cuts[capacity]);
        }
        while (window.front().first + spare < capacity) window.pop_front();
        least.push_back(window.front().second);
    }
    return least;
}

}  // namespace

BoundProblem::BoundProblem(const CommGraph& graph, const Allocation& allocation,
                           std::vector<std::uint32_t> capacity, int threads)
    : graph_(graph), allocation_(allocation), capacity_(std::move(capacity)), threads_(threads) {
    if (graph.rank_count() == 0) fail("a pattern without ranks has no placement to bound");
    if (capacity_.empty()) capacity_.assign(allocation.slot_count(), 1);
    if (capacity_.size() != allocation.slot_count())
        fail("the allocation has ", allocation.slot_count(), " slots, but there are ", capacity_.size(),
             " capacities");
    const auto ranks = static_cast<std::uint32_t>(graph.rank_count());
    for (std::uint32_t& most : capacity_) total_capacity_ += most = std::min(most, ranks);
    if (total_capacity_ < ranks)
        fail("the pattern has ", ranks, " ranks, but the allocation has a capacity of ", total_capacity_);
    require_exact_bounds(graph, allocation.machine());
    symmetric_ = graph.symmetric();
}

BoundProblem::BoundProblem(const BoundProblem& other, const Allocation& allocation)
    : graph_(other.graph_),
      allocation_(allocation),
      symmetric_(other.symmetric_),
      capacity_(other.capacity_),
      total_capacity_(other.total_capacity_),
      threads_(other.threads_),
      background_(other.background_),
      raised_cuts_(other.raised_cuts_),
      min_leaving_bytes_(other.min_leaving_bytes_) {
    require_exact_bounds(graph_, allocation.machine());
}

BoundProblem BoundProblem::with_background(std::span<const double> background) const {
    max_background(machine(), background);
    BoundProblem copy(*this);
    copy.background_ = background;
    return copy;
}

void BoundProblem::raise_cuts(Meter& meter) {
    constexpr std::size_t max_spectral_ranks = 1024;
    if (!meter.poll() || bound::grid_cuts(symmetric_, threads_).is_sharp) return;
    raised_cuts_.assign(rank_count() + 1, 0);
    const auto raise = [&](std::span<const std::int64_t> cuts) {
        for (std::size_t k = 0; k < cuts.size(); ++k) raised_cuts_[k] = std::max(raised_cuts_[k], cuts[k]);
    };
    const auto ranks = static_cast<double>(rank_count());
    if (rank_count() <= max_spectral_ranks && spend_step(meter, ranks * ranks * ranks / 4))
        raise(bound::spectral_cuts(symmetric_));
    Meter share(meter.sub_budget(0.3));
    raise(bound::flow_cuts(symmetric_, threads_, share));
    meter.spend(share.work_done());
    min_leaving_bytes_ = nullptr;
}

std::span<const std::int64_t> BoundProblem::min_leaving_bytes() const {
    if (!min_leaving_bytes_) {
        std::vector<std::int64_t> cuts = bound::min_cut_bytes(symmetric_, threads_);
        for (std::size_t k = 0; k < raised_cuts_.size(); ++k) cuts[k] = std::max(cuts[k], raised_cuts_[k]);
        min_leaving_bytes_ = std::make_shared<const std::vector<std::int64_t>>(
            minimize_over_rank_counts(cuts, total_capacity_ - rank_count()));
    }
    return *min_leaving_bytes_;
}

}  // namespace topoloom
