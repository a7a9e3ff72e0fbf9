// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/hop_bytes_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topoloom/place/grid/fold.hpp"
#include "topoloom/place/grid/tile.hpp"
#include "topoloom/place/local/anneal.hpp"
#include "topoloom/place/local/resettle.hpp"
#include "topoloom/place/local/tabu.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/portfolio/best_placement.hpp"
#include "topoloom/place/portfolio/hop_bytes_plan.hpp"
#include "topoloom/place/simple/launcher_orders.hpp"
#include "topoloom/place/structure/bricks.hpp"
#include "topoloom/place/structure/structure.hpp"

namespace topoloom::portfolio {

namespace {

/// How hot annealing starts. Structured placements survive only low temperatures. Multisection's are right at
/// large scale on machines of regular shape, so high temperatures would destroy what is good about them; on
/// fragments they are wrong even at large scale.
enum class Heat { structured, cool, hot };

/// Annealing that gains less than this share of the value gains nothing worth a longer search.
constexpr double least_gain = 0.001;

/// Up to this number of ranks, a long annealing takes seconds at most, and gains even where a short one does
/// not.
constexpr std::size_t max_ranks_of_long_tests = 4096;

/// The number of multisections with different seeds. They vary by some percent, and their order survives
/// annealing of many ranks.
std::size_t count_seeds(std::size_t edges, double at_ten_thousand_edges) {
    const double shrink = std::pow(1e4 / static_cast<double>(std::max<std::size_t>(edges, 1)), 0.28);
    return static_cast<std::size_t>(std::clamp(at_ten_thousand_edges * shrink, 0.0, 30.0));
}

/// The sweeps of annealing at the standard effort. Quality needs thousands of sweeps up to a few thousand
/// ranks; beyond that, their number falls so that time grows little faster than multisection's. A proposal
/// takes time in proportion to 9 + degree.
double count_standard_sweeps(const Problem& problem) {
    const auto ranks = static_cast<double>(problem.rank_count());
    const double degree = static_cast<double>(problem.symmetric().edge_count()) / ranks;
    const double few_ranks = 3000 * std::max(1.0, std::sqrt(512 / ranks));
    constexpr double most_proposals_at = 65'536;  // ranks; beyond, multisection takes most of the time
    const double many_ranks = 6e6 * std::pow(std::min(ranks, most_proposals_at) / 4096, 0.6) / ranks;
    return 35 / (9 + degree) * std::min(few_ranks, many_ranks);
}

/// The heat of annealing, see AnnealOptions. Tuned on stencils and Delaunay meshes on whole tori and fragments,
/// 512 to 65,536 ranks: sweeps hardly matter to which heat is better.
std::uint32_t choose_heat(Heat heat, double sweeps) {
    if (heat == Heat::structured) return 30;
    if (heat == Heat::cool) return 200;
    // Few sweeps cannot repair what high temperatures destroy.
    return static_cast<std::uint32_t>(std::clamp(200 * std::log(std::max(sweeps, 1.0)) - 480, 300.0, 900.0));
}

/// A placement that competes to be annealed longer.
struct Contender {
    Placement placement;
    std::int64_t value;
    Heat heat;
    bool gained;  // whether its last annealing gained something
};

/// Runs the steps of all efforts up to one, so that a higher effort never loses to a lower one.
class HopBytesSearch {
   public:
    HopBytesSearch(const Problem& problem, Meter& meter) : problem_(problem), meter_(meter), best_(problem) {}

    Placement run(Effort effort) {
        best_.offer(simple::place_block(problem_, meter_));
        if (place_structured(effort)) return best_.placement();
        for (std::size_t level = 0; level <= static_cast<std::size_t>(effort) && meter_.poll(); ++level)
            search(hop_bytes_plans[level], level == 0);
        if (meter_.is_limited()) anneal_until_budget_ends();
        remap_if_worthwhile();
        return best_.placement();
    }

   private:
    /// Returns true if no search can improve the placement that suits the structure.
    bool place_structured(Effort effort) {
        BestPlacement structured(problem_);
        if (auto found = structure::place_by_structure(problem_, meter_)) {
            best_.offer(found->placement);
            structured.offer(std::move(found->placement));
            // For many ranks, further searches would take a minute and gain nothing.
            const bool enough = found->plain && problem_.rank_count() > max_ranks_in_parallel &&
                                effort != Effort::best && !meter_.is_limited();
            if ((found->optimal || enough) && !is_restricted()) return true;
        }
        if (meter_.is_exhausted()) return problem_.migration() == nullptr;
        if (problem_.symmetric().edge_count() == 0) return true;
        if (const auto grid = find_rank_grid(problem_)) {
            structured.offer(grid::place_grid_by_folding(problem_, *grid, meter_));
            // If the grid does not divide into equal boxes for the nodes, strips may be better.
            if (problem_.machine().slots_per_node() > 1 && !meter_.is_exhausted())
                structured.offer(grid::place_grid_in_tiles(problem_, *grid, meter_));
        }
        structured.offer(structure::place_recognized_bricks(problem_, meter_));
        if (structured.is_empty()) return false;
        best_.offer(structured.placement());
        structured_ = structured.placement();
        return false;
    }

    /// Whether the structure of the pattern alone does not determine the optimum.
    [[nodiscard]] bool is_restricted() const {
        return problem_.migration() != nullptr || !problem_.fixed().empty();
    }

    void search(const HopBytesPlan& plan, bool is_first) {
        add_contenders(plan, is_first);
        if (!is_first && !meter_.is_limited()) anneal_winner(plan);
        improve_by_all_exchanges(plan);
    }

    /// Anneals the best new start briefly; at first, also the structured placement, unless it is far worse.
    void add_contenders(const HopBytesPlan& plan, bool is_first) {
        constexpr double far_worse = 1.15;
        const double sweeps = hop_bytes_plans.front().annealing * count_standard_sweeps(problem_);
        BestPlacement starts(problem_);
        const std::vector<std::string> chains = list_starts(plan, is_first);
        try_all(problem_, chains, starts, meter_, next_seed_);
        next_seed_ += chains.size();
        if (!starts.is_empty() && starts.value() < best_start_value_) {
            best_start_value_ = starts.value();
            best_.offer(starts.placement());
            const std::vector<Heat> heats =
                is_first ? std::vector{Heat::cool, Heat::hot} : std::vector{choose_better_heat()};
            for (const Heat heat : select_heats(starts.placement(), sweeps, heats))
                add_contender(starts.placement(), sweeps, heat);
        }
        if (!is_first || !structured_) return;
        const std::int64_t value = problem_.key(structured_->slots()).hop_bytes;
        if (static_cast<double>(value) > far_worse * static_cast<double>(best_start_value_)) return;
        for (const Heat heat : select_heats(*structured_, sweeps, {Heat::structured}))
            add_contender(*structured_, sweeps, heat);
    }

    /// For many ranks, no heat if none gains in a few regions: annealing improves hardly any placement on a
    /// tree.
    [[nodiscard]] std::vector<Heat> select_heats(const Placement& start, double sweeps,
                                                 const std::vector<Heat>& heats) {
        if (problem_.rank_count() <= max_ranks_in_parallel) return heats;
        const bool pays = std::ranges::any_of(heats, [&](Heat heat) {
            return local::estimate_annealing_gain(problem_, start, meter_, make_options(heat, sweeps)) >=
                   least_gain;
        });
        return pays ? heats : std::vector<Heat>{};
    }

    [[nodiscard]] std::vector<std::string> list_starts(const HopBytesPlan& plan, bool is_first) const {
        const bool is_small = problem_.rank_count() <= small_rank_count;
        const std::size_t edges = problem_.symmetric().edge_count();
        const std::string seed = is_small ? "multisection(starts=1)+swap" : "multisection(starts=1)";
        if (is_first) return {is_small ? "multisection+swap" : "multisection(starts=1)"};
        std::vector<std::string> chains(count_seeds(edges, plan.seeds), seed);
        // Where annealing gained nothing, on trees above all, better starts are worth their time.
        const bool anneals = best_contender_gained();
        if (edges > (anneals ? 1 : 20) * plan.edges_of_long_starts) return chains;
        const std::string starts = "multisection(starts=" + std::to_string(plan.long_starts) +
                                   ",cycles=" + std::to_string(plan.long_starts / 4);
        for (int i = 0; i < (anneals ? 1 : 2); ++i)
            chains.insert(chains.end(), {starts + ")+swap", starts + ",rings=rings)+swap"});
        if (is_small) chains.insert(chains.end(), {"mahd+swap", "gge+swap"});  // else slower and far worse
        return chains;
    }

    [[nodiscard]] bool best_contender_gained() const {
        const auto best = std::ranges::min_element(contenders_, {}, &Contender::value);
        return best != contenders_.end() && best->gained;
    }

    /// The heat of the best contender that started from a multisection.
    [[nodiscard]] Heat choose_better_heat() const {
        const Contender* best = nullptr;
        for (const Contender& contender : contenders_) {
            if (contender.heat != Heat::structured && (best == nullptr || contender.value < best->value))
                best = &contender;
        }
        return best == nullptr ? Heat::cool : best->heat;
    }

    void add_contender(const Placement& start, double sweeps, Heat heat) {
        contenders_.push_back({start, problem_.key(start.slots()).hop_bytes, heat, false});
        anneal(contenders_.back(), sweeps);
    }

    [[nodiscard]] static local::AnnealOptions make_options(Heat heat, double sweeps) {
        return {.sweeps = static_cast<std::uint32_t>(std::max(16.0, sweeps)),
                .heat = choose_heat(heat, sweeps),
                .chains = 1};
    }

    void anneal(Contender& contender, double sweeps) {
        if (meter_.is_exhausted()) return;
        Placement found = local::improve_by_annealing(problem_, contender.placement, meter_,
                                                      make_options(contender.heat, sweeps));
        const std::int64_t value = problem_.key(found.slots()).hop_bytes;
        const auto gain = static_cast<double>(contender.value - value);
        contender.gained = gain > least_gain * static_cast<double>(contender.value);
        if (value < contender.value) {
            contender.placement = std::move(found);
            contender.value = value;
        }
        best_.offer(contender.placement);
    }

    /// Whether a longer annealing can be expected to gain something. It cannot improve some structured
    /// placements, of hypercubes for instance, nor those of many ranks on trees.
    [[nodiscard]] bool is_promising(const Contender& contender) const {
        constexpr double can_catch_up = 1.03;
        const bool trusts_short_annealing = problem_.rank_count() > max_ranks_of_long_tests;
        return (contender.gained || (contender.heat != Heat::structured && !trusts_short_annealing)) &&
               static_cast<double>(contender.value) <= can_catch_up * static_cast<double>(best_.value());
    }

    /// Anneals the best promising contender.
    void anneal_winner(const HopBytesPlan& plan) {
        Contender* winner = nullptr;
        for (Contender& contender : contenders_) {
            if (is_promising(contender) && (winner == nullptr || contender.value < winner->value))
                winner = &contender;
        }
        if (winner == nullptr) return;
        anneal(*winner, plan.annealing * count_standard_sweeps(problem_));
    }

    void anneal_until_budget_ends() {
        if (meter_.is_exhausted()) return;
        constexpr std::uint32_t heat = 300;
        best_.offer(local::improve_by_annealing(problem_, best_.placement(), meter_,
                                                {.sweeps = 0, .heat = heat, .chains = 2}));
    }

    /// On few slots, runs tabu search with all pair exchanges on the best placement and on annealed ones from
    /// other seeds. Several short searches find better placements than one long one, which stays near its start.
    void improve_by_all_exchanges(const HopBytesPlan& plan) {
        const std::size_t slots = problem_.allocation().slot_count();
        if (slots > plan.max_tabu_slots || slots < 2 || meter_.is_exhausted()) return;
        const std::size_t all = plan.tabu_exchanges / (slots * (slots - 1) / 2);
        const auto iterations =
            static_cast<std::uint32_t>(std::min(all, plan.max_tabu_iterations) / plan.tabu_runs);
        best_.offer(local::improve_by_tabu(problem_, best_.placement(), meter_, {.iterations = iterations}));
        const std::vector<std::string> chains(
            plan.tabu_runs - 1, "multisection(starts=1)+swap+anneal(sweeps=3000)+tabu(iterations=" +
                                    std::to_string(iterations) + ")");
        try_all(problem_, chains, best_, meter_, next_seed_);
        next_seed_ += chains.size();
    }

    /// If there is an earlier placement, improves both it and the best new placement by changes that gain
    /// more than they cost to migrate.
    void remap_if_worthwhile() {
        if (problem_.migration() == nullptr) return;
        Placement renewed = best_.placement();
        best_.offer(local::improve_by_resettling(problem_, std::move(renewed), meter_));
        best_.offer(local::improve_by_resettling(problem_, local::place_previous(problem_, meter_), meter_));
    }

    const Problem& problem_;
    Meter& meter_;
    BestPlacement best_;
    std::optional<Placement> structured_;
    std::vector<Contender> contenders_;
    std::uint64_t next_seed_ = 0;  // added to the problem's seed
    std::int64_t best_start_value_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

Placement minimize_hop_bytes(const Problem& problem, Meter& meter, Effort effort) {
    return HopBytesSearch(problem, meter).run(effort);
}

}  // namespace topoloom::portfolio
