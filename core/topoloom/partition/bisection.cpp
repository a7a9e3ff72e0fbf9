// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/partition/bisection.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "topoloom/partition/coarsening.hpp"
#include "topoloom/partition/gain_heap.hpp"

namespace topoloom::partition {

namespace {

using Capacity = std::array<std::int64_t, 2>;

/// The state of one level: a graph, its biases, and the split that is refined.
class RefinedSplit {
   public:
    RefinedSplit(const WeightedGraph& graph, std::span<const std::int64_t> bias, const Capacity& capacity)
        : graph_(graph),
          bias_(bias),
          capacity_(capacity),
          side_(graph.size(), 1),
          gain_(graph.size()),
          locked_(graph.size(), 0),
          heap_{GainHeap(graph.size()), GainHeap(graph.size())} {
        slack_ = graph.size() == 0 ? 0 : *std::ranges::max_element(graph.mass);
    }

    [[nodiscard]] const std::vector<char>& sides() const { return side_; }
    [[nodiscard]] std::int64_t cost() const { return cost_; }
    [[nodiscard]] std::int64_t excess() const {
        return std::max<std::int64_t>(0, mass_[0] - capacity_[0]) +
               std::max<std::int64_t>(0, mass_[1] - capacity_[1]);
    }
    [[nodiscard]] std::uint64_t work() const { return work_; }

    void assign_sides(const std::vector<char>& side) {
        side_ = side;
        recount();
    }

    /// Puts all vertices on side 1, then grows side 0 from a random vertex to the mass `target`.
    void grow_side(std::int64_t target, Rng& rng) {
        std::ranges::fill(side_, char{1});
        recount();
        begin_pass(false);
        while (mass_[0] < target && moved_.size() < side_.size()) {
            if (heap_[1].empty()) push_to_heap(find_unlocked(Vertex{rng.below(graph_.size())}));
            const Vertex v = heap_[1].top();
            if (mass_[0] + graph_.mass[v.value] > std::max(capacity_[0], target) && mass_[0] > 0) break;
            move_vertex(v);
        }
        end_pass(moved_.size());
    }

    void refine(std::uint32_t passes) {
        for (std::uint32_t i = 0; i < passes; ++i) {
            if (!run_pass()) break;
        }
    }

   private:
    static constexpr std::uint32_t worth_a_list = 1000;  // in smaller graphs, all vertices count as border

    void recount() {
        mass_ = {0, 0};
        cost_ = 0;
        border_.clear();
        std::int64_t twice = 0;
        for (const Vertex v : graph_.vertices()) {
            mass_[side(v)] += graph_.mass[v.value];
            const auto peers = graph_.peers(v);
            const auto weights = graph_.weights(v);
            std::int64_t gain = 0;
            bool any_cut = false;
            for (std::size_t i = 0; i < peers.size(); ++i) {
                const bool cut = side_[peers[i].value] != side_[v.value];
                any_cut = any_cut || cut;
                gain += cut ? weights[i] : -weights[i];
                twice += cut ? weights[i] : 0;
            }
            if (!bias_.empty()) {
                gain += side_[v.value] != 0 ? bias_[v.value] : -bias_[v.value];
                cost_ += side_[v.value] != 0 ? bias_[v.value] : 0;
            }
            gain_[v.value] = gain;
            if (any_cut || gain > 0) border_.push_back(v);
        }
        cost_ += twice / 2;
    }

    [[nodiscard]] std::size_t side(Vertex v) const { return static_cast<std::size_t>(side_[v.value]); }

    [[nodiscard]] bool is_at_border(Vertex v) const {
        return gain_[v.value] > 0 || std::ranges::any_of(graph_.peers(v), [&](Vertex u) {
                   return side_[u.value] != side_[v.value];
               });
    }

    void push_to_heap(Vertex v) { heap_[side(v)].set(v, gain_[v.value]); }

    void begin_pass(bool with_border) {
        moved_.clear();
        if (!with_border) return;
        for (const Vertex v : border_) {
            if (is_at_border(v)) push_to_heap(v);
        }
    }

    /// Adds the first `kept` of the moved vertices, and their peers, to the border.
    void widen_border(std::size_t kept) {
        if (graph_.size() < worth_a_list) {
            border_ = id_list<Vertex>(graph_.size());
            return;
        }
        for (const Vertex v : std::span(moved_).first(kept)) {
            border_.push_back(v);
            border_.insert(border_.end(), graph_.peers(v).begin(), graph_.peers(v).end());
        }
        std::ranges::sort(border_);
        border_.erase(std::ranges::unique(border_).begin(), border_.end());
    }

    /// Keeps the first `kept` moves and undoes the others.
    void end_pass(std::size_t kept) {
        heap_[0].clear();
        heap_[1].clear();
        for (std::size_t i = moved_.size(); i-- > kept;) flip(moved_[i], false);
        for (const Vertex v : moved_) locked_[v.value] = 0;
        for (const Vertex v : passed_over_) locked_[v.value] = 0;
        passed_over_.clear();
        if (kept > 0) widen_border(kept);
    }

    void move_vertex(Vertex v) {
        heap_[side(v)].erase(v);
        locked_[v.value] = 1;
        moved_.push_back(v);
        flip(v, true);
    }

    void flip(Vertex v, bool queue_peers) {
        ++work_;
        cost_ -= gain_[v.value];
        mass_[side(v)] -= graph_.mass[v.value];
        side_[v.value] = static_cast<char>(1 - side_[v.value]);
        mass_[side(v)] += graph_.mass[v.value];
        gain_[v.value] = -gain_[v.value];
        const auto peers = graph_.peers(v);
        const auto weights = graph_.weights(v);
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const Vertex u = peers[i];
            gain_[u.value] += side_[u.value] == side_[v.value] ? -2 * weights[i] : 2 * weights[i];
            if (queue_peers && locked_[u.value] == 0) push_to_heap(u);
        }
    }

    /// The first unlocked vertex on side `wanted`, searching from `from` on and wrapping around.
    [[nodiscard]] Vertex find_unlocked(Vertex from, std::size_t wanted = 1) const {
        for (std::uint32_t i = from.value; i < from.value + graph_.size(); ++i) {
            const Vertex v{i < graph_.size() ? i : i - graph_.size()};
            if (locked_[v.value] == 0 && side(v) == wanted) return v;
        }
        return Vertex::none;
    }

    /// The vertex to move next, or none.
    Vertex choose_next_vertex() {
        const bool overfull[2] = {mass_[0] > capacity_[0], mass_[1] > capacity_[1]};
        for (const std::size_t s : {0U, 1U}) {
            if (!overfull[s]) continue;
            if (heap_[s].empty()) {
                const Vertex v = find_unlocked(Vertex{0}, s);
                if (v == Vertex::none) return v;
                push_to_heap(v);
            }
            return heap_[s].top();
        }
        Vertex best = Vertex::none;
        for (const std::size_t s : {0U, 1U}) {
            GainHeap& heap = heap_[s];
            while (!heap.empty() &&
                   mass_[1 - s] + graph_.mass[heap.top().value] > capacity_[1 - s] + slack_) {
                const Vertex v = heap.top();
                heap.erase(v);
                locked_[v.value] = 1;
                passed_over_.push_back(v);
            }
            if (heap.empty()) continue;
            // Ties go to the fuller side.
            if (best == Vertex::none || heap.top_gain() > gain_[best.value] ||
                (heap.top_gain() == gain_[best.value] &&
                 mass_[s] - capacity_[s] > mass_[1 - s] - capacity_[1 - s])) {
                best = heap.top();
            }
        }
        return best;
    }

    /// Moves each vertex at most once and returns to the best state visited. Returns true if the split
    /// improved.
    bool run_pass() {
        begin_pass(true);
        const auto before = std::tuple(excess(), cost_);
        auto best = before;
        std::size_t best_at = 0;
        const std::size_t max_idle_moves = 60 + graph_.size() / 40;
        while (moved_.size() - best_at < max_idle_moves) {
            const Vertex v = choose_next_vertex();
            if (v == Vertex::none) break;
            move_vertex(v);
            if (std::tuple(excess(), cost_) < best) {
                best = {excess(), cost_};
                best_at = moved_.size();
            }
        }
        end_pass(best_at);
        return best < before;
    }

    const WeightedGraph& graph_;
    std::span<const std::int64_t> bias_;
    Capacity capacity_;
    std::vector<char> side_;
    std::vector<std::int64_t> gain_;
    std::vector<char> locked_;
    std::vector<Vertex> border_;  // all border vertices and possibly others, ascending
    std::array<GainHeap, 2> heap_;
    std::vector<Vertex> moved_;
    std::vector<Vertex> passed_over_;
    Capacity mass_{};
    std::int64_t cost_ = 0;
    std::int64_t slack_ = 0;  // mass by which a side may temporarily overflow
    std::uint64_t work_ = 0;
};

/// Data common to all levels.
struct BisectionContext {
    const BisectionOptions& options;
    Meter* clock;
    int threads;
    [[nodiscard]] bool is_out_of_time() const { return clock != nullptr && !clock->poll(); }
};

struct CoarseLevel {
    WeightedGraph graph;
    std::vector<std::int64_t> bias;
    std::vector<Vertex> coarse_of;  // by vertex of the next finer level: its coarse vertex
};

constexpr std::uint32_t small_enough = 60;  // largest number of vertices of the coarsest graph

/// Builds successively coarser graphs; the coarsest is last. If `side` is given, only vertices on the same
/// side are joined, and `side` is replaced by the sides of the coarsest vertices.
std::vector<CoarseLevel> build_levels(const WeightedGraph& graph, std::span<const std::int64_t> bias,
                                      Rng& rng, std::vector<char>* side, const BisectionContext& context) {
    const std::int64_t mass = std::accumulate(graph.mass.begin(), graph.mass.end(), std::int64_t{0});
    const std::int64_t max_mass = std::max<std::int64_t>(1, mass / small_enough * 3 / 2);
    std::vector<CoarseLevel> levels;
    const WeightedGraph* fine = &graph;
    while (fine->size() > small_enough && !context.is_out_of_time()) {
        std::vector<Part> label;
        if (side) label = parts_of_sides(*side);
        Coarsening step = coarsen(*fine, max_mass, Rng(rng.next(), rng.next()), label, context.options.window,
                                  context.threads);
        if (step.graph.size() >= fine->size() - fine->size() / 20) break;
        std::vector<std::int64_t> coarse_bias;
        if (!bias.empty()) {
            coarse_bias.assign(step.graph.size(), 0);
            for (std::uint32_t v = 0; v < fine->size(); ++v) coarse_bias[step.coarse_of[v].value] += bias[v];
        }
        if (side) {
            std::vector<char> coarse_side(step.graph.size());
            for (std::uint32_t v = 0; v < fine->size(); ++v)
                coarse_side[step.coarse_of[v].value] = (*side)[v];
            *side = std::move(coarse_side);
        }
        levels.push_back({std::move(step.graph), std::move(coarse_bias), std::move(step.coarse_of)});
        fine = &levels.back().graph;
        bias = levels.back().bias;
    }
    return levels;
}

/// Returns the best of several random splits.
std::vector<char> split_from_random_starts(const WeightedGraph& graph, std::span<const std::int64_t> bias,
                                           const Capacity& capacity, const BisectionOptions& options,
                                           Rng& rng, std::uint64_t& work) {
    const std::int64_t mass = std::accumulate(graph.mass.begin(), graph.mass.end(), std::int64_t{0});
    const std::int64_t both = capacity[0] + capacity[1];
    // With spare capacity, tries sides in proportion to their capacities, and each side filled to capacity.
    const double share =
        static_cast<double>(capacity[0]) / static_cast<double>(std::max<std::int64_t>(1, both));
    const std::array targets{static_cast<std::int64_t>(static_cast<double>(mass) * share + 0.5),
                             std::min(mass, capacity[0]), std::max<std::int64_t>(0, mass - capacity[1])};
    std::vector<char> best;
    std::tuple<std::int64_t, std::int64_t> best_value;
    for (std::uint32_t start = 0; start < std::max(1U, options.starts); ++start) {
        RefinedSplit split(graph, bias, capacity);
        split.grow_side(both > mass ? targets[start % targets.size()] : targets[0], rng);
        split.refine(std::max(options.passes, 4U));
        work += split.work();
        const auto value = std::tuple(split.excess(), split.cost());
        if (best.empty() || value < best_value) {
            best = split.sides();
            best_value = value;
        }
    }
    return best;
}

/// Puts the vertices with the lowest numbers on side 0. If vertex numbers follow the structure of the graph,
/// as rank numbers mostly do, this split is hard to beat.
std::vector<char> split_in_order(const WeightedGraph& graph, const Capacity& capacity) {
    const std::int64_t mass = std::accumulate(graph.mass.begin(), graph.mass.end(), std::int64_t{0});
    const double share = static_cast<double>(capacity[0]) /
                         static_cast<double>(std::max<std::int64_t>(1, capacity[0] + capacity[1]));
    const auto proportional = static_cast<std::int64_t>(static_cast<double>(mass) * share + 0.5);
    // If loads do not fit, respects the capacity of side 0 and lets side 1 exceed its capacity.
    const std::int64_t target = std::min(std::max(proportional, mass - capacity[1]), capacity[0]);
    std::vector<char> side(graph.size(), 1);
    std::int64_t filled = 0;
    for (std::uint32_t v = 0; v < graph.size() && filled + graph.mass[v] <= target; ++v) {
        side[v] = 0;
        filled += graph.mass[v];
    }
    return side;
}

/// Returns the sides of the vertices of the next finer level.
std::vector<char> project_sides(std::span<const Vertex> coarse_of, std::span<const char> side) {
    std::vector<char> finer(coarse_of.size());
    for (std::size_t v = 0; v < finer.size(); ++v) finer[v] = side[coarse_of[v].value];
    return finer;
}

}  // namespace

Bisection bisect(const WeightedGraph& graph, std::span<const std::int64_t> bias,
                 std::array<std::int64_t, 2> capacity, const BisectionOptions& options, Rng rng, Meter* clock,
                 int threads) {
    const BisectionContext context{options, clock, threads};
    Bisection result;
    for (std::uint32_t cycle = 0; cycle <= options.cycles; ++cycle) {
        if (cycle > 0 && context.is_out_of_time()) return result;
        std::vector<char> side = result.side;
        const std::vector<CoarseLevel> levels =
            build_levels(graph, bias, rng, cycle > 0 ? &side : nullptr, context);
        if (cycle == 0 && context.is_out_of_time())
            return refine_bisection(graph, bias, capacity, split_in_order(graph, capacity), 0);
        for (std::size_t i = levels.size() + 1; i-- > 0;) {
            const WeightedGraph& level = i == 0 ? graph : levels[i - 1].graph;
            const std::span<const std::int64_t> level_bias = i == 0 ? bias : levels[i - 1].bias;
            if (i == levels.size() && cycle == 0)
                side = split_from_random_starts(level, level_bias, capacity, options, rng, result.work);
            // Refines the finest level even if time is up, because only there capacities can be met exactly.
            if (i == 0 || !context.is_out_of_time()) {
                RefinedSplit split(level, level_bias, capacity);
                split.assign_sides(side);
                split.refine(options.passes);
                result.work += split.work();
                side = split.sides();
                result.cost = split.cost();
                result.excess = split.excess();
            }
            if (i > 0) side = project_sides(levels[i - 1].coarse_of, side);
        }
        result.side = std::move(side);
    }
    if (context.is_out_of_time()) return result;
    const std::vector<char> order = split_in_order(graph, capacity);
    if (options.order_limit > 0) {
        RefinedSplit split(graph, bias, capacity);
        split.assign_sides(order);
        if (split.cost() / options.order_limit > result.cost) return result;
    }
    Bisection in_order = refine_bisection(graph, bias, capacity, order, options.passes);
    in_order.work += result.work;
    if (std::tie(in_order.excess, in_order.cost) < std::tie(result.excess, result.cost)) return in_order;
    result.work = in_order.work;
    return result;
}

Bisection refine_bisection(const WeightedGraph& graph, std::span<const std::int64_t> bias,
                           std::array<std::int64_t, 2> capacity, const std::vector<char>& side,
                           std::uint32_t passes) {
    RefinedSplit split(graph, bias, capacity);
    split.assign_sides(side);
    split.refine(passes);
    return {split.sides(), split.cost(), split.excess(), split.work()};
}

std::vector<Part> parts_of_sides(std::span<const char> side) {
    std::vector<Part> parts;
    parts.reserve(side.size());
    for (const char s : side) parts.emplace_back(static_cast<std::uint32_t>(s));
    return parts;
}

}  // namespace topoloom::partition
