// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/experts/place_experts.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/experts/blocks.hpp"
#include "topoloom/experts/measure.hpp"
#include "topoloom/experts/node_search.hpp"
#include "topoloom/experts/packing.hpp"
#include "topoloom/experts/relief.hpp"
#include "topoloom/experts/replica_search.hpp"
#include "topoloom/experts/replicas.hpp"

namespace topoloom {

namespace {

using Counts = std::vector<std::uint32_t>;

constexpr double rounding = 1e-9;  // relative margin for sums of loads in a different order

/// Offset of the first replica of each expert in the list of replicas.
Counts first_replicas(const Counts& counts) {
    Counts offset(counts.size(), 0);
    std::exclusive_scan(counts.begin(), counts.end(), offset.begin(), 0U);
    return offset;
}

std::vector<std::uint32_t> experts_by_slot(const ExpertGpus& gpus, std::span<const ExpertReplica> replicas,
                                           std::span<const std::uint32_t> gpu_of) {
    std::vector<std::uint32_t> order(replicas.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return gpu_of[a] < gpu_of[b]; });
    std::vector<std::uint32_t> expert_of_slot(gpus.places());
    for (std::size_t slot = 0; slot < expert_of_slot.size(); ++slot)
        expert_of_slot[slot] = replicas[order[slot]].expert;
    return expert_of_slot;
}

class ExpertPlacementSearch {
   public:
    ExpertPlacementSearch(const ExpertLayer& layer, const ExpertGpus& gpus, ExpertDispatch dispatch,
                          double slack, Rng rng)
        : layer_(layer), gpus_(gpus), dispatch_(dispatch), slack_(slack), rng_(rng) {}

    PlacedExperts run() {
        const Counts by_load = count_replicas_by_load(layer_.loads, gpus_);
        const auto replicas = list_replicas(layer_.loads, by_load);
        const auto gpu_of = pack_evenly(replicas, gpus_.count(), gpus_.slots_per_gpu());
        placed_.even = experts_by_slot(gpus_, replicas, gpu_of);
        placed_.best = placed_.even;
        const std::vector<double> loads = bin_loads(replicas, gpu_of, gpus_.count());
        most_ = *std::max_element(loads.begin(), loads.end()) * (1 + slack_) * (1 + rounding);
        // With nearest dispatch, a GPU may get more load than its equal share of each expert.
        const ExpertMeasures even = measure(placed_.even);
        visits_ = satisfies_load_limit(even) ? even.visits : std::numeric_limits<double>::infinity();
        if (gpus_.nodes() == 1 || most_ == 0) return placed_;
        if (dispatch_ == ExpertDispatch::spread) {
            try_start(placed_.even);
        } else {
            // Fewer replicas of other experts allow more replicas of the busiest ones, but make GPUs harder
            // to balance. If tokens are known, a single start in between comes within 1 % of the better of
            // two starts, in half of the time.
            const bool has_tokens = layer_.tokens() > 0;
            for (const double part : has_tokens ? std::vector{0.9} : std::vector{1.0, 0.7})
                try_start(spread_replicas(by_load, part));
        }
        if (layer_.tokens() > 0) try_blocks();
        if (layer_.tokens() > 0 && gpus_.places() > layer_.loads.size()) try_expert_groups();
        return placed_;
    }

   private:
    [[nodiscard]] ExpertMeasures measure(std::span<const std::uint32_t> expert_of_slot) const {
        return measure_experts(layer_, gpus_, dispatch_, expert_of_slot, layer_.tokens() > 1 ? 1 : 0, 2);
    }

    [[nodiscard]] bool satisfies_load_limit(const ExpertMeasures& found) const {
        return found.load_max <= most_ * (1 + rounding);
    }

    void try_start(const std::vector<std::uint32_t>& start) {
        if (start.empty()) return;
        record_if_better(start);
        if (layer_.tokens() > 0) improve_placement(start, hot);
    }

    /// Starts from blocks of consecutive experts.
    void try_blocks() {
        std::vector<std::uint32_t> order(layer_.loads.size());
        std::iota(order.begin(), order.end(), 0U);
        try_blocks_in_order(order);
    }

    /// Starts from groups of experts that tokens choose together, with all replicas of an expert on the same
    /// node. Other starts spread replicas over nodes, which breaks groups.
    void try_expert_groups() {
        const std::size_t experts = layer_.loads.size();
        if (place_blocks_on_nodes(layer_.loads, gpus_).empty()) return;
        const Counts once(experts, 1);
        const auto replicas = list_replicas(layer_.loads, once);
        std::vector<std::uint32_t> order(experts);
        std::iota(order.begin(), order.end(), 0U);
        std::vector<std::uint32_t> node_of;
        for (const std::uint32_t expert : order)
            node_of.push_back(static_cast<std::uint32_t>(expert * gpus_.nodes() / experts));
        const TokenPins tokens = draw_pins(once, node_of);
        NodeSearch search(gpus_, replicas, tokens, node_of, std::vector<bool>(experts, false), once);
        constexpr std::size_t swaps = 200'000;
        search.anneal(swaps, slack_ * 0.9, 1, rng_);
        const auto& group = search.node_of();
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return group[a] < group[b]; });
        try_blocks_in_order(order);
    }

    /// Tries blocks of adjacent experts in this order. If they have fewer visits than the best placement,
    /// regardless of loads, continues from such blocks after relieving overloaded nodes; half of the slack
    /// remains for GPUs.
    void try_blocks_in_order(std::span<const std::uint32_t> order) {
        const auto blocks = place_blocks_on_nodes(layer_.loads, gpus_, order);
        if (blocks.empty()) return;
        record_if_better(blocks);
        const auto start = relieve_blocks(layer_, gpus_, order, slack_ * 0.5);
        if (start.empty() || measure(start).visits >= visits_) return;
        record_if_better(start);
        improve_placement(start, cool);
    }

    /// Places replicas on different nodes, with as many as possible for the busiest experts, while no replica
    /// exceeds a fraction of a GPU's load; returns nothing if no placement satisfies the load limit.
    [[nodiscard]] std::vector<std::uint32_t> spread_replicas(const Counts& by_load, double part) {
        const bool has_tokens = layer_.tokens() > 0 && part < 0.95;  // then GPUs are easy to balance
        for (; part > 0.35; part -= 0.1) {
            const Counts counts = count_replicas_by_node(layer_.loads, gpus_, part * most_);
            if (counts.empty()) continue;
            auto [start, is_packed] = place_on_different_nodes(counts);
            if (has_tokens && is_packed) return start;
            constexpr std::size_t moves = 200'000;
            auto found = search_replicas(layer_.loads, gpus_, start, most_, moves, rng_);
            if (!found.empty()) return found;
        }
        auto [start, is_packed] = place_on_different_nodes(by_load);
        return is_packed ? std::move(start) : std::vector<std::uint32_t>{};
    }

    /// Experts slot by slot, and whether they satisfy the load limit.
    [[nodiscard]] std::pair<std::vector<std::uint32_t>, bool> place_on_different_nodes(const Counts& counts) {
        const auto replicas = list_replicas(layer_.loads, counts);
        const Counts limits = max_replicas_on_node(counts);
        const TokenPins none;
        NodeSearch search(gpus_, replicas, none, initial_nodes(counts, replicas, limits),
                          are_replicated(counts, replicas), limits);
        const bool is_packed = search.pack(most_);
        return {experts_by_slot(gpus_, replicas, search.anneal_packed(most_, 0, 0, rng_)), is_packed};
    }

    /// Maximum number of replicas of each expert on a node.
    [[nodiscard]] Counts max_replicas_on_node(const Counts& counts) const {
        if (dispatch_ == ExpertDispatch::spread) return counts;
        Counts most;
        const auto nodes = static_cast<std::uint32_t>(gpus_.nodes());
        for (const std::uint32_t count : counts) most.push_back((count + nodes - 1) / nodes);
        return most;
    }

    /// For each replica, whether its expert has several replicas; these stay on their nodes under nearest
    /// dispatch.
    [[nodiscard]] std::vector<bool> are_replicated(const Counts& counts,
                                                   std::span<const ExpertReplica> replicas) const {
        std::vector<bool> often;
        for (const ExpertReplica& one : replicas)
            often.push_back(dispatch_ == ExpertDispatch::nearest && counts[one.expert] > 1);
        return often;
    }

    /// Initial nodes of replicas: replicas of the same expert on different nodes, all others by load.
    [[nodiscard]] std::vector<std::uint32_t> initial_nodes(const Counts& counts,
                                                           std::span<const ExpertReplica> replicas,
                                                           const Counts& at_most) const {
        std::vector<std::uint32_t> order(replicas.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            const auto key = [&](std::uint32_t i) {
                return std::pair(-static_cast<double>(counts[replicas[i].expert]), -replicas[i].load);
            };
            return key(a) < key(b);
        });
        std::vector<double> load(gpus_.nodes(), 0);
        std::vector<std::size_t> slots_used(gpus_.nodes(), 0);
        std::vector<std::uint32_t> replica_count(counts.size() * gpus_.nodes(), 0);
        std::vector<std::uint32_t> node_of(replicas.size());
        for (const std::uint32_t i : order) {
            const std::uint32_t expert = replicas[i].expert;
            std::size_t best = gpus_.nodes();
            std::pair<bool, double> least;
            for (std::size_t node = 0; node < gpus_.nodes(); ++node) {
                const std::size_t count = gpus_.gpus_on(node).size();
                if (slots_used[node] == count * gpus_.slots_per_gpu()) continue;
                const std::pair<bool, double> value{
                    replica_count[expert * gpus_.nodes() + node] >= at_most[expert],
                    load[node] / static_cast<double>(count)};
                if (best < gpus_.nodes() && value >= least) continue;
                best = node;
                least = value;
            }
            node_of[i] = static_cast<std::uint32_t>(best);
            load[best] += replicas[i].load;
            ++slots_used[best];
            ++replica_count[expert * gpus_.nodes() + best];
        }
        return node_of;
    }

    /// Draws the replicas that every second token visits. If an expert has replicas on several nodes, one is
    /// drawn at random; tokens with a replica on their own node need none.
    [[nodiscard]] TokenPins draw_pins(const Counts& counts, std::span<const std::uint32_t> node_of) {
        TokenPins tokens;
        const Counts first = first_replicas(counts);
        for (std::size_t token = 0; token < layer_.tokens(); token += 2) {
            const std::uint32_t from = gpus_.node(rng_.below(static_cast<std::uint32_t>(gpus_.count())));
            for (const std::int64_t choice :
                 layer_.choices.subspan(token * layer_.per_token, layer_.per_token)) {
                if (choice < 0) continue;
                const auto expert = static_cast<std::size_t>(choice);
                const auto at = node_of.subspan(first[expert], counts[expert]);
                const bool is_nearest = dispatch_ == ExpertDispatch::nearest && counts[expert] > 1;
                if (is_nearest && std::find(at.begin(), at.end(), from) != at.end()) continue;
                tokens.pins.push_back(first[expert] + rng_.below(counts[expert]));
            }
            tokens.begin.push_back(static_cast<std::uint32_t>(tokens.pins.size()));
        }
        return tokens;
    }

    /// Fractions of the initial temperature: for replicas between nodes, then for packed replicas.
    struct AnnealingParameters {
        double nodes, gpus;
    };
    static constexpr AnnealingParameters hot{1, 0.3};
    static constexpr AnnealingParameters cool{
        0.1, 0.05};  // `hot` would destroy blocks and take four times as long

    /// Improves a placement by moving experts that the same tokens choose to the same nodes.
    void improve_placement(std::span<const std::uint32_t> start, const AnnealingParameters& heat) {
        Counts counts(layer_.loads.size(), 0);
        for (const std::uint32_t expert : start) ++counts[expert];
        const auto replicas = list_replicas(layer_.loads, counts);
        Counts next = first_replicas(counts);
        std::vector<std::uint32_t> gpu_of(replicas.size());
        std::vector<std::uint32_t> node_of(replicas.size());
        for (std::size_t slot = 0; slot < start.size(); ++slot) {
            const std::uint32_t replica = next[start[slot]]++;
            gpu_of[replica] = static_cast<std::uint32_t>(slot / gpus_.slots_per_gpu());
            node_of[replica] = gpus_.node(gpu_of[replica]);
        }
        const TokenPins tokens = draw_pins(counts, node_of);
        constexpr std::size_t swaps = 400'000;
        for (const double part :
             {0.9, 0.3}) {  // fraction of the slack that nodes may use; GPUs need the rest
            NodeSearch search(gpus_, replicas, tokens, node_of, are_replicated(counts, replicas),
                              max_replicas_on_node(counts));
            search.anneal(swaps, slack_ * part, heat.nodes, rng_);
            if (!search.pack(most_)) continue;
            record_if_better(
                experts_by_slot(gpus_, replicas, search.anneal_packed(most_, swaps / 2, heat.gpus, rng_)));
            return;
        }
        NodeSearch search(gpus_, replicas, tokens, node_of, are_replicated(counts, replicas),
                          max_replicas_on_node(counts));
        search.assign_gpus(gpu_of);
        record_if_better(experts_by_slot(gpus_, replicas, search.anneal_packed(most_, 2 * swaps, 1, rng_)));
    }

    /// Records a placement if it satisfies the load limit and is the best so far.
    void record_if_better(std::vector<std::uint32_t> expert_of_slot) {
        const ExpertMeasures found = measure(expert_of_slot);
        if (!satisfies_load_limit(found) || found.visits >= visits_) return;
        visits_ = found.visits;
        placed_.best = std::move(expert_of_slot);
    }

    const ExpertLayer& layer_;
    const ExpertGpus& gpus_;
    ExpertDispatch dispatch_;
    double slack_;
    Rng rng_;
    double most_ = 0;    // maximum load of a GPU
    double visits_ = 0;  // visits of the best placement
    PlacedExperts placed_;
};

}  // namespace

PlacedExperts place_experts(const ExpertLayer& layer, const ExpertGpus& gpus, ExpertDispatch dispatch,
                            double slack, Rng rng) {
    layer.check();
    const std::size_t experts = layer.loads.size();
    if (gpus.places() < experts)
        fail(gpus.count(), " GPUs with ", gpus.slots_per_gpu(), " slots hold ", gpus.places(),
             " experts, not ", experts);
    if (gpus.slots_per_gpu() > experts)
        fail("a GPU has ", gpus.slots_per_gpu(), " slots, but there are ", experts,
             " experts, each once on a GPU");
    if (!(slack >= 0 && slack <= 1)) fail("the slack is ", slack, "; it is 0 to 1, such as 0.01");
    return ExpertPlacementSearch(layer, gpus, dispatch, slack, rng).run();
}

std::vector<PlacedExperts> place_layers(std::span<const ExpertLayer> layers, const ExpertGpus& gpus,
                                        ExpertDispatch dispatch, double slack, std::uint64_t seed,
                                        int threads) {
    std::vector<PlacedExperts> placements(layers.size());
    parallel_for(layers.size(), threads, [&](std::size_t i, int) {
        placements[i] = place_experts(layers[i], gpus, dispatch, slack, Rng(seed, i));
    });
    return placements;
}

}  // namespace topoloom
