// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/experts/replica_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace topoloom {

namespace {

class ReplicaSearch {
   public:
    ReplicaSearch(std::span<const double> loads, const ExpertGpus& gpus,
                  std::vector<std::uint32_t> expert_of_slot, double most)
        : loads_(loads),
          gpus_(gpus),
          nodes_(gpus.nodes()),
          most_(most),
          expert_of_slot_(std::move(expert_of_slot)),
          slots_(loads.size()),
          on_node_(loads.size() * nodes_, 0),
          gpu_load_(gpus.count(), 0) {
        for (std::uint32_t slot = 0; slot < expert_of_slot_.size(); ++slot) {
            slots_[expert_of_slot_[slot]].push_back(slot);
            ++on_node_[expert_of_slot_[slot] * nodes_ + node(slot)];
        }
        for (std::size_t expert = 0; expert < loads.size(); ++expert) {
            for (const std::uint32_t slot : slots_[expert]) gpu_load_[gpu(slot)] += share(expert);
            for (std::size_t at = 0; at < nodes_; ++at) kept_ += local_tokens(expert, at);
            mean_ += loads[expert] / static_cast<double>(gpus.count());
        }
        for (const double load : gpu_load_) over_ += excess_load(load);
        record_best();
    }

    void anneal(std::size_t moves, Rng& rng) {
        const double first = mean_ * 0.2;
        const double last = first * 1e-3;
        const auto slots = static_cast<std::uint32_t>(expert_of_slot_.size());
        for (std::size_t i = 0; i < moves; ++i) {
            const double done = static_cast<double>(i) / static_cast<double>(moves);
            temperature_ = first * std::pow(last / first, done);
            const std::uint32_t a = rng.below(slots);
            const double limit = -temperature_ * std::log(1 - rng.uniform());
            const bool is_swap = rng.below(2) == 0;
            if (is_swap) {
                try_swap(a, rng.below(slots), limit);
            } else {
                try_replace(a, expert_of_slot_[rng.below(slots)], limit);
            }
        }
    }

    [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(best_); }

   private:
    [[nodiscard]] std::uint32_t gpu(std::uint32_t slot) const {
        return slot / static_cast<std::uint32_t>(gpus_.slots_per_gpu());
    }
    [[nodiscard]] std::uint32_t node(std::uint32_t slot) const { return gpus_.node(gpu(slot)); }
    [[nodiscard]] double share(std::size_t expert) const {
        return loads_[expert] / static_cast<double>(slots_[expert].size());
    }
    /// Tokens of an expert that stay on a node.
    [[nodiscard]] double local_tokens(std::size_t expert, std::size_t at) const {
        return on_node_[expert * nodes_ + at] > 0 ? loads_[expert] * gpus_.share(at) : 0;
    }
    [[nodiscard]] double excess_load(double load) const { return std::max(0.0, load - most_); }
    /// The objective that annealing minimizes: ten times the load above the limit, minus the tokens that stay
    /// on their nodes.
    [[nodiscard]] double energy() const { return 10 * over_ - kept_; }

    [[nodiscard]] bool gpu_has_expert(std::uint32_t at, std::uint32_t expert) const {
        return std::any_of(slots_[expert].begin(), slots_[expert].end(),
                           [&](std::uint32_t slot) { return gpu(slot) == at; });
    }

    void add_load(std::uint32_t at, double load) {
        over_ -= excess_load(gpu_load_[at]);
        gpu_load_[at] += load;
        over_ += excess_load(gpu_load_[at]);
    }

    void add_loads(std::uint32_t expert, double sign) {
        for (const std::uint32_t slot : slots_[expert]) add_load(gpu(slot), sign * share(expert));
    }

    void update_replica_count(std::uint32_t expert, std::size_t at, bool more) {
        kept_ -= local_tokens(expert, at);
        on_node_[expert * nodes_ + at] += more ? 1U : -1U;
        kept_ += local_tokens(expert, at);
    }

    /// Whether a node may have another replica of an expert after `leaving` replicas have left.
    [[nodiscard]] bool has_room(std::uint32_t expert, std::size_t at, std::uint32_t leaving) const {
        const std::size_t most = (slots_[expert].size() + nodes_ - 1) / nodes_;
        return on_node_[expert * nodes_ + at] - leaving < std::max<std::size_t>(1, most);
    }

    void exchange(std::uint32_t a, std::uint32_t b) {
        const std::uint32_t x = expert_of_slot_[a];
        const std::uint32_t y = expert_of_slot_[b];
        const double more = share(y) - share(x);
        add_load(gpu(a), more);
        add_load(gpu(b), -more);
        if (node(a) != node(b)) {
            update_replica_count(x, node(a), false);
            update_replica_count(x, node(b), true);
            update_replica_count(y, node(b), false);
            update_replica_count(y, node(a), true);
        }
        *std::find(slots_[x].begin(), slots_[x].end(), a) = b;
        *std::find(slots_[y].begin(), slots_[y].end(), b) = a;
        std::swap(expert_of_slot_[a], expert_of_slot_[b]);
    }

    void try_swap(std::uint32_t a, std::uint32_t b, double limit) {
        const std::uint32_t x = expert_of_slot_[a];
        const std::uint32_t y = expert_of_slot_[b];
        if (x == y || gpu(a) == gpu(b) || gpu_has_expert(gpu(b), x) || gpu_has_expert(gpu(a), y)) return;
        if (node(a) != node(b) && !(has_room(x, node(b), 0) && has_room(y, node(a), 0))) return;
        const double before = energy();
        exchange(a, b);
        if (energy() - before > limit) {
            exchange(a, b);
        } else {
            record_best();
        }
    }

    void replace(std::uint32_t slot, std::uint32_t by) {
        const std::uint32_t x = expert_of_slot_[slot];
        add_loads(x, -1);
        add_loads(by, -1);
        slots_[x].erase(std::find(slots_[x].begin(), slots_[x].end(), slot));
        slots_[by].push_back(slot);
        update_replica_count(x, node(slot), false);
        update_replica_count(by, node(slot), true);
        expert_of_slot_[slot] = by;
        add_loads(x, 1);
        add_loads(by, 1);
    }

    void try_replace(std::uint32_t slot, std::uint32_t by, double limit) {
        const std::uint32_t x = expert_of_slot_[slot];
        if (x == by || slots_[x].size() == 1 || slots_[x].size() > nodes_ || slots_[by].size() >= nodes_)
            return;
        if (on_node_[by * nodes_ + node(slot)] > 0) return;
        const double before = energy();
        replace(slot, by);
        if (energy() - before > limit) {
            replace(slot, x);
        } else {
            record_best();
        }
    }

    void record_best() {
        if (over_ > 1e-9 * mean_ || kept_ <= best_kept_ * (1 + 1e-12)) return;
        best_kept_ = kept_;
        best_ = expert_of_slot_;
    }

    std::span<const double> loads_;
    const ExpertGpus& gpus_;
    std::size_t nodes_;
    double most_;
    double mean_ = 0;
    std::vector<std::uint32_t> expert_of_slot_;
    std::vector<std::vector<std::uint32_t>> slots_;  // by expert
    std::vector<std::uint32_t> on_node_;             // number of replicas by expert, then node
    std::vector<double> gpu_load_;
    double over_ = 0;  // sum of loads above the limit
    double kept_ = 0;  // sum of tokens that stay on their nodes
    double temperature_ = 0;
    double best_kept_ = -1;
    std::vector<std::uint32_t> best_;
};

}  // namespace

std::vector<std::uint32_t> search_replicas(std::span<const double> loads, const ExpertGpus& gpus,
                                           std::vector<std::uint32_t> expert_of_slot, double most,
                                           std::size_t moves, Rng& rng) {
    ReplicaSearch search(loads, gpus, std::move(expert_of_slot), most);
    search.anneal(moves, rng);
    return search.take();
}

}  // namespace topoloom
