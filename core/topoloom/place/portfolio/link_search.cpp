// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/link_search.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/pattern/rounds.hpp"
#include "topoloom/place/grid/fold.hpp"
#include "topoloom/place/grid/tile.hpp"
#include "topoloom/place/links/congestion.hpp"
#include "topoloom/place/links/local_opt.hpp"
#include "topoloom/place/links/node_exchange.hpp"
#include "topoloom/place/links/peer_exchange.hpp"
#include "topoloom/place/multilevel/multisection.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/portfolio/best_placement.hpp"
#include "topoloom/place/portfolio/hop_bytes_search.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"
#include "topoloom/place/structure/bricks.hpp"
#include "topoloom/place/structure/structure.hpp"

namespace topoloom::portfolio {

double estimate_route_length(const Allocation& allocation) {
    constexpr double usual = 12;
    return std::max(1.0, estimate_links_per_route(allocation) / usual);
}

std::uint32_t choose_annealing_sweeps(const Problem& problem, double length, std::uint64_t tenths) {
    const double standard = links::annealing_sweeps(problem.graph()) / length;
    const auto sweeps = static_cast<std::uint64_t>(std::max(1.0, standard)) * tenths / 10;
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, sweeps));
}

namespace {

/// The number of messages that an evaluation updates, relative to one phase in which all pairs send equally
/// often. Each round of each phase has loads of its own.
double estimate_updates_per_edge(const Problem& problem) {
    const PhasedObjective objective = problem.link_objective();
    std::size_t updates = 0;
    for (const CommGraph* const phase : objective.phases) {
        const std::vector<CommGraph> rounds =
            objective.mix.of(ObjectiveKind::time) > 0 ? split_into_rounds(*phase) : std::vector<CommGraph>();
        if (rounds.empty()) updates += phase->edge_count();
        for (const CommGraph& round : rounds) updates += round.edge_count();
    }
    const auto edges = static_cast<double>(std::max<std::size_t>(1, problem.graph().edge_count()));
    return std::max(1.0, static_cast<double>(updates) / edges);
}

/// The number of evaluations of local-opt after annealing, about half a second by default. An evaluation
/// takes time in proportion to the messages of a rank.
std::uint64_t compute_descent_work(const CommGraph& graph, const EffortLimits& limits) {
    const double degree = static_cast<double>(graph.edge_count()) / static_cast<double>(graph.rank_count());
    return static_cast<std::uint64_t>(limits.descent_messages / (1 + degree));
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

/// A placement and its key.
struct Candidate {
    Placement placement;
    CongestionKey key;
};

/// Searches for one problem. A higher effort first runs the lower ones, so it never returns a worse placement.
class LinkSearch {
   public:
    LinkSearch(const Problem& problem, Meter& meter)
        : problem_(problem),
          near_(problem.for_hop_bytes()),
          meter_(meter),
          cost_(estimate_route_length(problem.allocation()) * estimate_updates_per_edge(problem)),
          block_(evaluate(simple::place_block(problem, meter))),
          nearest_(block_),
          best_(block_),
          result_(block_) {}

    void run(const EffortLimits& limits) {
        if (!meter_.poll()) return;
        if (is_small()) {
            offer_nearest(limits);
            offer(evaluate(links::exchange_nodes(problem_, best_.placement, meter_, limits.node_sweeps)));
            walk_from_several_starts(limits);
        } else {
            // If nodes can be exchanged, further starts are worth more than a search for few hop-bytes.
            const bool exchanges = links::can_exchange_nodes(problem_.allocation());
            if (!exchanges && tried_ == 0 && problem_.rank_count() <= max_ranks_in_parallel)
                offer_nearest(limits_of(Effort::fast));
            if (meter_.poll()) exchange_from_several_starts(limits);
            if (meter_.is_limited() || !exchanges) walk_from_best(limits);
        }
        choose_result();
    }
    [[nodiscard]] const Placement& result() const { return result_.placement; }

   private:
    [[nodiscard]] bool is_small() const { return problem_.rank_count() <= small_rank_count; }
    [[nodiscard]] Candidate evaluate(Placement placement) const {
        const CongestionKey key = problem_.key(placement.slots());
        return {std::move(placement), key};
    }
    void offer(Candidate candidate) {
        if (candidate.key < best_.key) best_ = std::move(candidate);
    }
    /// If the user set a budget, searches until it is used up, whatever the effort.
    [[nodiscard]] std::uint32_t count_sweeps(const EffortLimits& limits) const {
        return meter_.is_limited() ? 1'000'000'000
                                   : choose_annealing_sweeps(problem_, cost_, limits.link_tenths);
    }
    [[nodiscard]] std::uint64_t count_descent_work(const EffortLimits& limits) const {
        return meter_.is_limited() ? std::numeric_limits<std::uint64_t>::max()
                                   : count_short_descent_work(limits);
    }
    [[nodiscard]] std::uint64_t count_short_descent_work(const EffortLimits& limits) const {
        const double most = static_cast<double>(compute_descent_work(problem_.graph(), limits)) / cost_;
        return static_cast<std::uint64_t>(most);
    }
    /// One thread for large graphs, because each search needs memory for all messages.
    [[nodiscard]] int threads() const {
        constexpr std::size_t max_edges_in_parallel = 4'000'000;
        return problem_.graph().edge_count() > max_edges_in_parallel ? 1 : problem_.threads();
    }

    void offer_nearest(const EffortLimits& limits);
    [[nodiscard]] std::vector<Candidate> list_structured_starts();
    [[nodiscard]] std::vector<Candidate> list_starts(std::size_t multisections);
    /// Replaces each placement by one with exchanged nodes, if that is better.
    void exchange_nodes_in_parallel(std::vector<Candidate>& from, std::uint32_t sweeps);
    void exchange_ranks_in_parallel(std::vector<Candidate>& from, std::uint32_t sweeps);
    void exchange_from_several_starts(const EffortLimits& limits);
    void walk_from_several_starts(const EffortLimits& limits);
    void walk_from_best(const EffortLimits& limits);
    /// Anneals from start(i, problem, meter) for every i below `starts`; returns the results, best first.
    template <class Start>
    [[nodiscard]] std::vector<Candidate> walk(std::size_t starts, std::uint32_t sweeps, const Start& start);
    /// Offers the results of short runs of local-opt.
    void descend(std::span<const Candidate> from, std::uint64_t most);
    void choose_result();

    const Problem& problem_;
    Problem near_;
    Meter& meter_;
    double cost_;  // of an evaluation, relative to usual routes and to one round
    Candidate block_;
    Candidate nearest_;  // of the last search for few hop-bytes
    Candidate best_;
    Candidate result_;
    std::size_t tried_ = 0;  // starts of multisection
};

/// Offers placements with few hop-bytes, found with a share of the budget.
void LinkSearch::offer_nearest(const EffortLimits& limits) {
    constexpr double share_for_hop_bytes = 0.3;
    Meter part_meter(meter_.sub_budget(share_for_hop_bytes));
    if (is_small() && limits.tries_greedy) {
        BestPlacement best(problem_);
        try_all(near_, {"round-robin", "hilbert", "gge", "mahd", "mahd+swap", "emahd", "multisection+swap"},
                best, part_meter);
        offer(evaluate(best.placement()));
    }
    nearest_ = evaluate(minimize_hop_bytes(near_, part_meter, limits.near));
    offer(nearest_);
    meter_.spend(part_meter.work_done());
}

/// Placements that suit a recognized structure of the graph.
std::vector<Candidate> LinkSearch::list_structured_starts() {
    std::vector<Candidate> starts;
    const auto add = [&](std::optional<Placement> placement) {
        if (!placement) return;
        if (auto restored = restore_fixed_ranks(near_, *std::move(placement)))
            starts.push_back(evaluate(*std::move(restored)));
    };
    if (auto found = structure::place_by_structure(near_, meter_)) add(std::move(found->placement));
    if (const auto grid = find_rank_grid(near_)) {
        add(grid::place_grid_by_folding(near_, *grid, meter_));
        add(grid::place_grid_in_tiles(near_, *grid, meter_));
    }
    add(structure::place_recognized_bricks(near_, meter_));
    return starts;
}

/// At first block order and structured placements, later the best placement so far; and multisections.
std::vector<Candidate> LinkSearch::list_starts(std::size_t multisections) {
    std::vector<Candidate> starts{best_};
    if (tried_ == 0) std::ranges::move(list_structured_starts(), std::back_inserter(starts));
    const std::size_t known = starts.size();
    starts.resize(known + multisections, block_);
    search_in_parallel(multisections, threads(), meter_, [&](std::size_t i, Meter& own) {
        if (own.is_exhausted()) return;
        const Problem seeded = near_.with_seed(problem_.seed() + tried_ + i);
        starts[known + i] = evaluate(multilevel::place_multisection(seeded, own, {.starts = 1}));
    });
    tried_ += multisections;
    for (const Candidate& start : starts) {
        if (start.key.hop_bytes < nearest_.key.hop_bytes) nearest_ = start;
    }
    return starts;
}

void LinkSearch::exchange_nodes_in_parallel(std::vector<Candidate>& from, std::uint32_t sweeps) {
    search_in_parallel(from.size(), threads(), meter_, [&](std::size_t i, Meter& own) {
        if (own.is_exhausted()) return;
        const Problem seeded = problem_.with_seed(problem_.seed() + i);
        Candidate exchanged = evaluate(links::exchange_nodes(seeded, from[i].placement, own, sweeps));
        if (exchanged.key < from[i].key) from[i] = std::move(exchanged);
    });
}

void LinkSearch::exchange_ranks_in_parallel(std::vector<Candidate>& from, std::uint32_t sweeps) {
    search_in_parallel(from.size(), threads(), meter_, [&](std::size_t i, Meter& own) {
        if (own.is_exhausted()) return;
        const Problem seeded = problem_.with_seed(problem_.seed() + i);
        from[i] = evaluate(links::exchange_toward_peers(seeded, from[i].placement, own, {.sweeps = sweeps}));
    });
}

/// Exchanges nodes from several starts for a short time. The best two starts continue, with several seeds,
/// because results vary by a tenth; ranks are exchanged in the best two results. On large jobs, all of this is
/// shorter.
void LinkSearch::exchange_from_several_starts(const EffortLimits& limits) {
    constexpr std::size_t finalists = 2;
    const auto nodes = static_cast<double>(problem_.allocation().nodes().size());
    const auto edges = static_cast<double>(problem_.graph().edge_count());
    const auto short_sweeps = static_cast<std::uint32_t>(std::clamp(40 * 256 / nodes, 10.0, 40.0));
    const double share = std::min(1.0, 60'000 / edges);
    const auto repetitions = static_cast<std::size_t>(3 * share);
    const auto rank_sweeps = static_cast<std::uint32_t>(std::max(2.0, limits.rank_sweeps * share));
    std::vector<Candidate> starts = list_starts(limits.multisections);
    std::vector<Candidate> exchanged = starts;
    exchange_nodes_in_parallel(exchanged, short_sweeps);
    std::vector<std::size_t> order(starts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return exchanged[i].key; });
    order.resize(std::min(order.size(), finalists));
    std::vector<Candidate> candidates;
    for (const std::size_t i : order) {
        candidates.push_back(exchanged[i]);
        candidates.insert(candidates.end(), repetitions, starts[i]);
    }
    exchange_nodes_in_parallel(candidates, limits.node_sweeps);
    std::ranges::stable_sort(candidates, {}, &Candidate::key);
    candidates.resize(finalists, block_);
    exchange_ranks_in_parallel(candidates, rank_sweeps);
    std::ranges::stable_sort(candidates, {}, &Candidate::key);
    offer(candidates.front());
    if (meter_.is_exhausted()) return;
    // More evaluations gain less than further starts.
    constexpr std::uint64_t most_per_rank = 32;
    descend(std::span(candidates).first(1),
            std::min(count_short_descent_work(limits) / 2, most_per_rank * problem_.rank_count()));
}

template <class Start>
std::vector<Candidate> LinkSearch::walk(std::size_t starts, std::uint32_t sweeps, const Start& start) {
    std::vector<Candidate> found(starts, block_);
    search_in_parallel(starts, problem_.threads(), meter_, [&](std::size_t i, Meter& own) {
        if (own.is_exhausted()) return;
        const Problem seeded = starts == 1 ? problem_ : problem_.with_seed(problem_.seed() + i);
        found[i] = evaluate(links::anneal_links(seeded, start(i, seeded, own), own, {.sweeps = sweeps}));
    });
    std::ranges::stable_sort(found, {}, &Candidate::key);
    return found;
}

void LinkSearch::descend(std::span<const Candidate> from, std::uint64_t most) {
    std::vector<Candidate> found(from.begin(), from.end());
    search_in_parallel(found.size(), threads(), meter_, [&](std::size_t i, Meter& own) {
        if (own.is_exhausted()) return;
        found[i] = evaluate(run_short_local_opt(problem_, std::move(found[i].placement), most, own));
    });
    for (Candidate& candidate : found) offer(std::move(candidate));
}

/// With few ranks, results vary randomly, and all starts together take no longer than one start on many
/// ranks.
void LinkSearch::walk_from_several_starts(const EffortLimits& limits) {
    constexpr std::size_t starts_on_links = 8;
    const std::uint32_t sweeps = count_sweeps(limits);
    const std::size_t starts = std::clamp<std::size_t>(sweeps, 2, starts_on_links);
    const bool is_trapped = std::ranges::equal(best_.placement.slots(), block_.placement.slots());
    const std::vector<Candidate> found =
        walk(starts, std::max(1U, sweeps / static_cast<std::uint32_t>(starts)),
             [&](std::size_t i, const Problem& seeded, Meter& own) {
                 if (i == 0) return best_.placement;
                 if (i == 1 && is_trapped) return nearest_.placement;
                 return place(seeded.for_hop_bytes(), "multisection", own);
             });
    // Runs local-opt only on the best results. If an evaluation is expensive, a single
    // local-opt takes as long as three usually do.
    const std::size_t descents = cost_ < 2 ? std::min<std::size_t>(3, starts) : 1;
    descend(std::span(found).first(descents), count_descent_work(limits));
}

/// Block order may keep most messages off the links, as with balanced columns of a triangular grid. It then
/// beats placements with few hop-bytes, but is a local optimum, so annealing also starts from such a placement.
void LinkSearch::walk_from_best(const EffortLimits& limits) {
    const bool in_pairs = problem_.rank_count() <= max_ranks_in_parallel && !meter_.is_limited();
    const bool is_trapped = std::ranges::equal(best_.placement.slots(), block_.placement.slots());
    // The better of two walks of 3/5 length is as good as one full walk, and the two run in parallel.
    const std::uint32_t sweeps = in_pairs ? std::max(1U, count_sweeps(limits) * 3 / 5) : count_sweeps(limits);
    const std::vector<Candidate> found =
        walk(in_pairs ? 2 : 1, sweeps, [&](std::size_t i, const Problem&, Meter&) {
            return i == 1 && is_trapped ? nearest_.placement : best_.placement;
        });
    descend(std::span(found).first(1), count_descent_work(limits));
}

/// Prefers the nearest placement if it takes at most 1 % longer than the best, and so do its links, NICs and
/// memory: fewer hop-bytes mean less interference with other jobs. Never chooses a slower placement than that
/// of a lower effort.
void LinkSearch::choose_result() {
    constexpr double hardly = 1.01;
    const PhasedObjective objective = problem_.link_objective();
    const auto busy_time = [&](const Candidate& candidate) {
        return total_and_busiest_times(problem_.machine(), objective, candidate.placement.slots()).busy;
    };
    const bool prefers_nearest =
        objective.mix.is(ObjectiveKind::time) && nearest_.key.congestion <= hardly * best_.key.congestion &&
        nearest_.key.hop_bytes < best_.key.hop_bytes && busy_time(nearest_) <= hardly * busy_time(best_);
    const Candidate& chosen = prefers_nearest ? nearest_ : best_;
    if (chosen.key.congestion <= result_.key.congestion) result_ = chosen;
}

}  // namespace

Placement minimize_link_objective(const Problem& problem, Meter& meter, const EffortLimits& limits) {
    if (!charge_link_loads(meter, problem)) return simple::place_block(problem, meter);
    LinkSearch search(problem, meter);
    if (problem.symmetric().edge_count() == 0) return search.result();
    if (meter.is_limited()) {
        search.run(limits);
    } else {
        for (const EffortLimits& stage : std::span(effort_limits.data(), &limits + 1)) search.run(stage);
    }
    return search.result();
}

}  // namespace topoloom::portfolio
