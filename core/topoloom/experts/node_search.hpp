// SPDX-License-Identifier: BSD-3-Clause
// Partitions replicas among nodes to minimize node visits: hypergraph partitioning with tokens as hyperedges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/experts/expert_layer.hpp"
#include "topoloom/experts/replicas.hpp"

namespace topoloom {

/// The replicas that tokens visit; token t visits pins[begin[t]] to pins[begin[t + 1] - 1].
struct TokenPins {
    std::vector<std::uint32_t> begin{0};
    std::vector<std::uint32_t> pins;

    [[nodiscard]] std::size_t tokens() const { return begin.size() - 1; }
};

/// Replicas on nodes, with the cost of each replica on every node: the number of tokens that would visit the
/// node only for this replica. Counts are updated with every move, so that evaluating a swap is O(1) and
/// applying it is O(tokens of its replicas).
class NodeSearch {
   public:
    /// `node_of`: node of each replica. Replicas that are `fixed` stay. A node may have at most
    /// `at_most(expert)` replicas of an expert, or as many as it has now.
    NodeSearch(const ExpertGpus& gpus, std::span<const ExpertReplica> replicas, const TokenPins& tokens,
               std::vector<std::uint32_t> node_of, std::vector<bool> fixed,
               std::vector<std::uint32_t> at_most);

    /// Simulated annealing by swaps (Kirkpatrick, Gelatt, Vecchi 1983). The load of a node may exceed the
    /// mean by 5 % at first and by `over` at the end. `heat`: initial temperature, as a fraction of the one
    /// at which a loss of half the average is often accepted.
    void anneal(std::size_t swaps, double over, double heat, Rng& rng);

    /// The node of each replica.
    [[nodiscard]] const std::vector<std::uint32_t>& node_of() const { return node_of_; }

    /// Packs replicas onto GPUs of their nodes, and swaps them between nodes until no GPU exceeds `most`;
    /// returns false if one still does.
    [[nodiscard]] bool pack(double most);
    /// Alternative to pack(): assigns replicas to these GPUs of their nodes.
    void assign_gpus(std::span<const std::uint32_t> gpus);

    /// Anneals packed replicas by swaps that leave no GPU above `most`, starting at this fraction of the
    /// initial temperature, then applies all remaining swaps that reduce visits. Returns the GPU of each
    /// replica.
    [[nodiscard]] std::vector<std::uint32_t> anneal_packed(double most, std::size_t swaps, double heat,
                                                           Rng& rng);

   private:
    struct Swap {
        std::uint32_t a, b;
    };

    [[nodiscard]] std::span<const std::uint32_t> pins(std::uint32_t token) const {
        return std::span(tokens_.pins)
            .subspan(tokens_.begin[token], tokens_.begin[token + 1] - tokens_.begin[token]);
    }
    [[nodiscard]] std::span<const std::uint32_t> tokens_of(std::uint32_t replica) const {
        return std::span(token_list_)
            .subspan(list_begin_[replica], list_begin_[replica + 1] - list_begin_[replica]);
    }
    [[nodiscard]] std::uint16_t& visits(std::uint32_t token, std::size_t node) {
        return visits_[token * nodes_ + node];
    }
    [[nodiscard]] std::int32_t& sole_visits(std::uint32_t replica, std::size_t node) {
        return sole_visits_[replica * nodes_ + node];
    }
    [[nodiscard]] double visit_cost(std::uint32_t replica, std::size_t node) {
        return cost_[node] * sole_visits(replica, node);
    }
    [[nodiscard]] bool may_swap(std::uint32_t a, std::uint32_t b);
    /// Change of visits if tokens that visit both replicas are ignored; a lower bound.
    [[nodiscard]] double unshared_visit_change(std::uint32_t a, std::uint32_t b);
    [[nodiscard]] double shared_visit_change(std::uint32_t a, std::uint32_t b);
    [[nodiscard]] double relative_excess(std::size_t node, double load, double over) const;
    [[nodiscard]] double first_temperature(Rng& rng);
    void move(std::uint32_t replica, std::uint32_t to);
    void swap(std::uint32_t a, std::uint32_t b);
    void anneal_gpus(double most, std::size_t swaps, double heat, Rng& rng);
    [[nodiscard]] bool fits_after_swap(std::uint32_t a, std::uint32_t b, double most) const;
    [[nodiscard]] bool has_expert(std::uint32_t gpu, std::uint32_t expert) const;
    [[nodiscard]] bool unload_fullest_gpu(double most);
    bool reduce_visits(double most);
    void swap_gpus(std::uint32_t a, std::uint32_t b);

    const ExpertGpus& gpus_;
    std::span<const ExpertReplica> replicas_;
    const TokenPins& tokens_;
    std::size_t nodes_;
    double mean_ = 0;  // mean load of a GPU
    std::vector<std::uint32_t> node_of_;
    std::vector<std::uint32_t> movable_;
    std::vector<bool> fixed_;
    std::vector<std::uint32_t> at_most_;
    std::vector<std::uint32_t> replica_count_;  // number of replicas by expert, then node
    std::vector<double> load_;                  // of nodes
    std::vector<double> cost_;           // cost of a visit to a node: the fraction of tokens from other nodes
    std::vector<std::uint16_t> visits_;  // 16 bits to save memory bandwidth in loops over tokens
    std::vector<std::int32_t> sole_visits_;
    std::vector<std::uint32_t> token_list_;
    std::vector<std::uint32_t> list_begin_;
    std::vector<std::uint32_t> gpu_of_;
    std::vector<double> gpu_load_;
    std::vector<std::vector<std::uint32_t>> on_gpu_;
};

}  // namespace topoloom
