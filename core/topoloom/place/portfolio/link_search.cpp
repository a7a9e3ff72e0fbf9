// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/link_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "topoloom/machine/network_view.hpp"
#include "topoloom/place/links/congestion.hpp"
#include "topoloom/place/links/local_opt.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/portfolio/best_placement.hpp"
#include "topoloom/place/portfolio/hop_bytes_search.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"

namespace topoloom::portfolio {

namespace {

/// The number of evaluations of local-opt after annealing, about half a second by default. An evaluation
/// takes time in proportion to the messages of a rank.
std::uint64_t compute_descent_work(const CommGraph& graph, const EffortLimits& limits) {
    const double degree = static_cast<double>(graph.edge_count()) / static_cast<double>(graph.rank_count());
    return static_cast<std::uint64_t>(limits.descent_messages / (1 + degree));
}

/// Whether `near` takes at most 1 % longer than `other` and has fewer hop-bytes, which means less
/// interference with other jobs.
bool is_nearer_and_as_fast(const Problem& problem, const Placement& near, const Placement& other) {
    constexpr double hardly = 1.01;
    if (!problem.link_objective().mix.is(ObjectiveKind::time) || problem.migration() != nullptr) return false;
    const CongestionKey key = problem.key(near.slots());
    const CongestionKey of_other = problem.key(other.slots());
    return key.congestion <= hardly * of_other.congestion && key.hop_bytes < of_other.hop_bytes;
}

/// Offers placements with few hop-bytes, found with a share of the budget. Returns the last one.
Placement offer_nearest(const Problem& near, BestPlacement& best, Meter& meter, const EffortLimits& limits) {
    constexpr double share_for_hop_bytes = 0.3;
    const Budget part = meter.sub_budget(share_for_hop_bytes);
    Meter part_meter(part);
    if (near.rank_count() <= small_rank_count && limits.tries_greedy) {
        try_all(near, {"round-robin", "hilbert", "gge", "mahd", "mahd+swap", "emahd", "multisection+swap"},
                best, part_meter);
    }
    Placement nearest = minimize_hop_bytes(near, part_meter, limits.near);
    best.offer(nearest);
    meter.spend(part_meter.work_done());
    return nearest;
}

/// Bounds local-opt by `most` work: a descent from plateau to plateau would take seconds and gain little.
Placement run_short_local_opt(const Problem& problem, Placement placement, std::uint64_t most, Meter& meter) {
    Budget budget = meter.sub_budget(1);
    budget.work = std::min(budget.work, most);
    Meter brief(budget);
    placement = links::improve_by_local_opt(problem, std::move(placement), brief);
    meter.spend(brief.work_done());
    return placement;
}

}  // namespace

double estimate_route_length(const Allocation& allocation) {
    constexpr double usual = 12;
    constexpr std::size_t samples = 64;
    const std::span<const Node> nodes = allocation.nodes();
    double visits = 0;
    const NetworkView network(allocation.machine().topology());
    for (std::size_t i = 0; i < samples; ++i) {
        const Node from = nodes[i * nodes.size() / samples];
        const Node to = nodes[(i * 37 + nodes.size() / 2) % nodes.size()];
        if (from != to) network.route(from, to, [&](Link, double) { visits += 1; });
    }
    return std::max(1.0, visits / samples / usual);
}

std::uint32_t choose_annealing_sweeps(const Problem& problem, double length, std::uint64_t tenths) {
    const double standard = links::annealing_sweeps(problem.graph()) / length;
    const auto sweeps = static_cast<std::uint64_t>(std::max(1.0, standard)) * tenths / 10;
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, sweeps));
}

Placement minimize_link_objective(const Problem& problem, Meter& meter, const EffortLimits& limits) {
    // With few ranks, results vary randomly, and all starts together take no longer than one start on many
    // ranks.
    constexpr std::size_t starts_on_links = 8;
    const double length = estimate_route_length(problem.allocation());
    // If the user set a budget, searches until it is used up, whatever the effort.
    links::CongestionOptions annealing{
        .sweeps = meter.is_limited() ? 1'000'000'000
                                     : choose_annealing_sweeps(problem, length, limits.link_tenths)};
    BestPlacement best(problem);
    const Placement block = simple::place_block(problem, meter);
    best.offer(block);
    const Problem near = problem.for_hop_bytes();
    if (near.symmetric().edge_count() == 0) return best.placement();
    const Placement nearest = offer_nearest(near, best, meter, limits);
    // Block order may keep most messages off the links, as with balanced columns of a triangular grid. It
    // then beats placements with few hop-bytes, but is a local optimum, so annealing also starts from such a
    // placement.
    const bool trapped = std::ranges::equal(best.placement().slots(), block.slots());
    const bool is_small = problem.rank_count() <= small_rank_count;
    const bool in_pairs = !is_small && problem.rank_count() <= max_ranks_in_parallel && !meter.is_limited();
    const std::size_t starts = is_small   ? std::clamp<std::size_t>(annealing.sweeps, 2, starts_on_links)
                               : in_pairs ? 2
                                          : 1;
    if (is_small) annealing.sweeps = std::max(1U, annealing.sweeps / static_cast<std::uint32_t>(starts));
    // The better of two walks of 3/5 length is as good as one full walk, and the two run in parallel.
    if (in_pairs) annealing.sweeps = std::max(1U, annealing.sweeps * 3 / 5);
    const auto start = [&](std::size_t i, const Problem& seeded, Meter& own) {
        if (i == 0) return best.placement();
        if (i == 1 && trapped) return nearest;
        if (in_pairs) return best.placement();
        return place(seeded.for_hop_bytes(), "multisection", own);
    };
    std::vector<std::optional<Placement>> found(starts);
    std::vector<CongestionKey> keys(starts);
    search_in_parallel(starts, problem.threads(), meter, [&](std::size_t i, Meter& own) {
        const Problem seeded = starts == 1 ? problem : problem.with_seed(problem.seed() + i);
        found[i] = links::anneal_links(seeded, start(i, seeded, own), own, annealing);
        keys[i] = problem.key(found[i]->slots());
    });
    std::vector<std::size_t> order(starts);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return keys[i]; });
    // Runs local-opt only on the best results. With long routes, a single local-opt takes as long as three
    // usually do.
    order.resize(is_small && length < 2 ? std::min<std::size_t>(3, starts) : 1);
    const double most = static_cast<double>(compute_descent_work(problem.graph(), limits)) / length;
    const std::uint64_t most_work =
        meter.is_limited() ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(most);
    search_in_parallel(order.size(), problem.threads(), meter, [&](std::size_t k, Meter& own) {
        std::optional<Placement>& placement = found[order[k]];
        placement = run_short_local_opt(problem, *std::move(placement), most_work, own);
    });
    for (const std::size_t i : order) best.offer(std::move(found[i]));
    return is_nearer_and_as_fast(problem, nearest, best.placement()) ? nearest : best.placement();
}

}  // namespace topoloom::portfolio
