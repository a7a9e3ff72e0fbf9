// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/experts/measure.hpp"

#include <algorithm>
#include <vector>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// Replicas of each expert on each node.
class NodeReplicas {
   public:
    NodeReplicas(const ExpertGpus& gpus, ExpertDispatch dispatch,
                 std::span<const std::uint32_t> expert_of_slot, std::size_t experts)
        : gpus_(gpus), dispatch_(dispatch), nodes_(gpus.nodes()), on_(experts * nodes_, 0), all_(experts, 0) {
        if (expert_of_slot.size() != gpus.places())
            fail("a placement has ", expert_of_slot.size(), " experts; there are ", gpus.places(), " slots");
        for (std::size_t slot = 0; slot < expert_of_slot.size(); ++slot) {
            if (expert_of_slot[slot] >= experts)
                fail("slot ", slot, " holds expert ", expert_of_slot[slot], "; there are 0 to ", experts - 1);
            ++on_[expert_of_slot[slot] * nodes_ + gpus.node(slot / gpus.slots_per_gpu())];
            ++all_[expert_of_slot[slot]];
        }
        for (std::size_t expert = 0; expert < experts; ++expert) {
            if (all_[expert] == 0) fail("expert ", expert, " is on no GPU");
        }
        absent_.resize(nodes_);
    }

    /// The fraction of an expert's tokens that a replica on a node receives.
    [[nodiscard]] double token_fraction(std::size_t expert, std::size_t node) const {
        if (dispatch_ == ExpertDispatch::spread) return 1.0 / all_[expert];
        double elsewhere = 0;
        for (std::size_t from = 0; from < nodes_; ++from) {
            if (replicas_on(expert, from) == 0) elsewhere += gpus_.share(from);
        }
        return gpus_.share(node) / replicas_on(expert, node) + elsewhere / all_[expert];
    }

    /// Expected number of remote nodes that a token visits.
    [[nodiscard]] double count_visits(std::span<const std::int64_t> choices) {
        if (dispatch_ == ExpertDispatch::spread || !has_replicated_expert(choices)) {
            compute_absence(choices, nodes_);
            double sum = 0;
            for (std::size_t node = 0; node < nodes_; ++node)
                sum += (1 - absent_[node]) * (1 - gpus_.share(node));
            return sum;
        }
        double sum = 0;
        for (std::size_t from = 0; from < nodes_; ++from) {
            compute_absence(choices, from);
            double other = 0;
            for (std::size_t node = 0; node < nodes_; ++node) {
                if (node != from) other += 1 - absent_[node];
            }
            sum += gpus_.share(from) * other;
        }
        return sum;
    }

    [[nodiscard]] double count_visits_of_one(std::int64_t expert) { return count_visits({&expert, 1}); }

   private:
    [[nodiscard]] std::uint32_t replicas_on(std::size_t expert, std::size_t node) const {
        return on_[expert * nodes_ + node];
    }

    [[nodiscard]] bool has_replicated_expert(std::span<const std::int64_t> choices) const {
        return std::any_of(choices.begin(), choices.end(), [&](std::int64_t expert) {
            return expert >= 0 && all_[static_cast<std::size_t>(expert)] > 1;
        });
    }

    /// For every node but `from`, the probability that a token from node `from` does not visit it. `from` is
    /// `nodes_` if the token comes from none of the nodes.
    void compute_absence(std::span<const std::int64_t> choices, std::size_t from) {
        std::fill(absent_.begin(), absent_.end(), 1.0);
        for (const std::int64_t choice : choices) {
            if (choice < 0) continue;
            const auto expert = static_cast<std::size_t>(choice);
            if (from < nodes_ && replicas_on(expert, from) > 0) continue;
            for (std::size_t node = 0; node < nodes_; ++node) {
                if (const std::uint32_t here = replicas_on(expert, node); here > 0)
                    absent_[node] *= 1 - static_cast<double>(here) / all_[expert];
            }
        }
    }

    const ExpertGpus& gpus_;
    ExpertDispatch dispatch_;
    std::size_t nodes_;
    std::vector<std::uint32_t> on_;   // number of replicas by expert, then node
    std::vector<std::uint32_t> all_;  // by expert
    std::vector<double> absent_;
};

}  // namespace

ExpertMeasures measure_experts(const ExpertLayer& layer, const ExpertGpus& gpus, ExpertDispatch dispatch,
                               std::span<const std::uint32_t> expert_of_slot, std::size_t first,
                               std::size_t step) {
    NodeReplicas replicas(gpus, dispatch, expert_of_slot, layer.loads.size());
    ExpertMeasures found;
    std::vector<double> loads(gpus.count(), 0);
    for (std::size_t slot = 0; slot < expert_of_slot.size(); ++slot) {
        const std::size_t gpu = slot / gpus.slots_per_gpu();
        loads[gpu] +=
            layer.loads[expert_of_slot[slot]] * replicas.token_fraction(expert_of_slot[slot], gpus.node(gpu));
    }
    for (const double load : loads) {
        found.load_max = std::max(found.load_max, load);
        found.load_mean += load / static_cast<double>(loads.size());
    }
    double sum = 0;
    double weight = 0;
    if (layer.per_token == 0) {
        for (std::size_t expert = 0; expert < layer.loads.size(); ++expert) {
            sum += layer.loads[expert] * replicas.count_visits_of_one(static_cast<std::int64_t>(expert));
            weight += layer.loads[expert];
        }
    }
    for (std::size_t token = first; token < layer.tokens(); token += step) {
        sum += replicas.count_visits(layer.choices.subspan(token * layer.per_token, layer.per_token));
        ++weight;
    }
    found.visits = weight > 0 ? sum / weight : 0;
    return found;
}

}  // namespace topoloom
