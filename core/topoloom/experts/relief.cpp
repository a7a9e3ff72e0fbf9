// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/experts/relief.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "topoloom/experts/blocks.hpp"
#include "topoloom/experts/packing.hpp"
#include "topoloom/experts/replicas.hpp"

namespace topoloom {

namespace {

class BlockRelief {
   public:
    BlockRelief(const ExpertLayer& layer, const ExpertGpus& gpus, std::span<const std::uint32_t> order)
        : layer_(layer),
          gpus_(gpus),
          nodes_(gpus.nodes()),
          home_(order.size()),
          count_(order.size(), 1),
          away_(order.size(), none),
          left_(nodes_, gpus.gpus_on(0).size() * gpus.slots_per_gpu() - order.size() / nodes_),
          load_(nodes_, 0) {
        for (std::size_t i = 0; i < order.size(); ++i) home_[order[i]] = i * nodes_ / order.size();
        for (std::size_t expert = 0; expert < order.size(); ++expert)
            load_[home_[expert]] += layer.loads[expert];
        mean_ = std::accumulate(load_.begin(), load_.end(), 0.0) / static_cast<double>(nodes_);
        count_sole_visits();
    }

    std::vector<std::uint32_t> run(double over) {
        split_large(over);
        while (relieve(mean_ * (1 + over))) {
        }
        for (std::size_t node = 0; node < nodes_; ++node) fill_free_slots(node);
        return pack();
    }

   private:
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    [[nodiscard]] double share(std::size_t expert) const {
        return layer_.loads[expert] / static_cast<double>(count_[expert] + (away_[expert] == none ? 0U : 1U));
    }

    /// Counts, by expert and node, the tokens that choose no other expert of the node.
    void count_sole_visits() {
        sole_visits_.assign(home_.size() * nodes_, 0);
        std::vector<std::size_t> on(nodes_);
        for (std::size_t token = 0; token < layer_.tokens(); token += 2) {
            const auto choices = layer_.choices.subspan(token * layer_.per_token, layer_.per_token);
            std::fill(on.begin(), on.end(), std::size_t{0});
            for (const std::int64_t choice : choices) {
                if (choice >= 0) ++on[home_[static_cast<std::size_t>(choice)]];
            }
            for (const std::int64_t choice : choices) {
                if (choice < 0) continue;
                const auto expert = static_cast<std::size_t>(choice);
                for (std::size_t node = 0; node < nodes_; ++node)
                    sole_visits_[expert * nodes_ + node] +=
                        on[node] == (node == home_[expert] ? 1U : 0U) ? 1 : 0;
            }
        }
    }

    /// Adds replicas within the same node until no replica has more load than a GPU may have.
    void split_large(double over) {
        const double most = mean_ / static_cast<double>(gpus_.gpus_on(0).size()) * (1 + over);
        for (std::size_t expert = 0; expert < home_.size(); ++expert) {
            while (share(expert) > most && left_[home_[expert]] > 0 &&
                   count_[expert] < gpus_.gpus_on(home_[expert]).size()) {
                ++count_[expert];
                --left_[home_[expert]];
            }
        }
    }

    /// Adds the cheapest replica of an expert of the fullest node; false if the node is within the limit, or
    /// if no replica fits.
    bool relieve(double limit) {
        const auto full =
            static_cast<std::size_t>(std::max_element(load_.begin(), load_.end()) - load_.begin());
        if (load_[full] <= limit) return false;
        double least = std::numeric_limits<double>::infinity();
        std::size_t best = none;
        std::size_t to = none;
        for (std::size_t expert = 0; expert < home_.size(); ++expert) {
            if (home_[expert] != full || away_[expert] != none || layer_.loads[expert] == 0) continue;
            const double moved = layer_.loads[expert] / (count_[expert] + 1);
            for (std::size_t node = 0; node < nodes_; ++node) {
                if (node == full || left_[node] == 0 || load_[node] + moved > limit) continue;
                const double more =
                    sole_visits_[expert * nodes_ + node] - sole_visits_[expert * nodes_ + full];
                const double cost = more / layer_.loads[expert];
                if (cost >= least) continue;
                least = cost;
                best = expert;
                to = node;
            }
        }
        if (best == none) return false;
        away_[best] = to;
        --left_[to];
        load_[to] += share(best);
        load_[full] -= share(best);
        return true;
    }

    /// Adds replicas of the experts with the largest load per replica, each on the expert's own node, which
    /// changes no visits. Experts with a replica on another node come last.
    void fill_free_slots(std::size_t node) {
        const auto key = [&](std::size_t expert) { return std::pair(away_[expert] == none, share(expert)); };
        while (left_[node] > 0) {
            std::size_t best = none;
            for (std::size_t expert = 0; expert < home_.size(); ++expert) {
                if (home_[expert] != node || count_[expert] >= gpus_.gpus_on(node).size()) continue;
                if (best == none || key(expert) > key(best)) best = expert;
            }
            ++count_[best];
            --left_[node];
        }
    }

    [[nodiscard]] std::vector<std::uint32_t> pack() const {
        std::vector<std::uint32_t> expert_of_slot(gpus_.places());
        for (std::size_t node = 0; node < nodes_; ++node) {
            std::vector<ExpertReplica> replicas;
            for (std::uint32_t expert = 0; expert < home_.size(); ++expert) {
                const std::size_t here = home_[expert] == node ? count_[expert] : 0;
                replicas.insert(replicas.end(), here + (away_[expert] == node ? 1U : 0U),
                                {expert, share(expert)});
            }
            const auto bins = pack_evenly(replicas, gpus_.gpus_on(node).size(), gpus_.slots_per_gpu());
            std::vector<std::size_t> slots_used(gpus_.gpus_on(node).size(), 0);
            for (std::size_t i = 0; i < replicas.size(); ++i)
                expert_of_slot[gpus_.gpus_on(node)[bins[i]] * gpus_.slots_per_gpu() + slots_used[bins[i]]++] =
                    replicas[i].expert;
        }
        return expert_of_slot;
    }

    const ExpertLayer& layer_;
    const ExpertGpus& gpus_;
    std::size_t nodes_;
    double mean_ = 0;                   // mean load of a node
    std::vector<std::size_t> home_;     // of experts
    std::vector<std::uint32_t> count_;  // replicas on the home node
    std::vector<std::size_t> away_;     // the other node with a replica
    std::vector<std::size_t> left_;     // free slots of nodes
    std::vector<double> load_;
    std::vector<std::int32_t> sole_visits_;
};

}  // namespace

std::vector<std::uint32_t> relieve_blocks(const ExpertLayer& layer, const ExpertGpus& gpus,
                                          std::span<const std::uint32_t> order, double over) {
    if (place_blocks_on_nodes(layer.loads, gpus, order).empty()) return {};
    return BlockRelief(layer, gpus, order).run(over);
}

}  // namespace topoloom
