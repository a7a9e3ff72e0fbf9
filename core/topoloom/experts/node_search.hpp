// SPDX-License-Identifier: BSD-3-Clause
// Partitions replicas among nodes to minimize node visits: a hypergraph partition whose edges are tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/experts/expert_layer.hpp"
#include "topoloom/experts/replicas.hpp"

namespace topoloom {

/// The replicas that tokens go to: those of token t are pins[begin[t]] to pins[begin[t + 1]].
struct TokenPins {
    std::vector<std::uint32_t> begin{0};
    std::vector<std::uint32_t> pins;

    [[nodiscard]] std::size_t tokens() const { return begin.size() - 1; }
};

/// Replicas on nodes, with what each would cost on every node: the tokens that would visit the node for it alone.
/// These counts are kept up to date move by move, so that a swap is priced in O(1), and O(its tokens) if taken.
class NodeSearch {
   public:
    /// `node_of`: of each replica. Replicas that are `fixed` stay. No node holds an expert more often than now or
    /// `at_most(expert)` times.
    NodeSearch(const ExpertGpus& gpus, std::span<const ExpertReplica> replicas, const TokenPins& tokens,
               std::vector<std::uint32_t> node_of, std::vector<bool> fixed,
               std::vector<std::uint32_t> at_most);

    /// Simulated annealing by swaps (Kirkpatrick, Gelatt, Vecchi 1983). The load of a node may exceed the mean by 5 % at
    /// first and by `over` at last. `heat`: of the temperature at which half of an average loss is taken often.
    void anneal(std::size_t swaps, double over, double heat, Rng& rng);

    /// The node of each replica.
    [[nodiscard]] const std::vector<std::uint32_t>& node_of() const { return node_of_; }

    /// Puts replicas on GPUs of their nodes, and swaps them between nodes until no GPU has more than `most`; false if one
    /// keeps more.
    [[nodiscard]] bool pack(double most);
    /// In place of packing: replicas are on these GPUs of their nodes.
    void put_on(std::span<const std::uint32_t> gpus);

    /// Anneals packed replicas by swaps that leave no GPU with more than `most`, from this share of the temperature that
    /// annealing begins with, and takes what swaps are left that save visits. Returns the GPU of each replica.
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
    /// Without what tokens of both change, which is never less.
    [[nodiscard]] double rough_change(std::uint32_t a, std::uint32_t b);
    [[nodiscard]] double shared_change(std::uint32_t a, std::uint32_t b);
    [[nodiscard]] double over_limit(std::size_t node, double load, double over) const;
    [[nodiscard]] double first_temperature(Rng& rng);
    void move(std::uint32_t replica, std::uint32_t to);
    void swap(std::uint32_t a, std::uint32_t b);
    void anneal_gpus(double most, std::size_t swaps, double heat, Rng& rng);
    [[nodiscard]] bool fits(std::uint32_t a, std::uint32_t b, double most) const;
    [[nodiscard]] bool on_gpu(std::uint32_t gpu, std::uint32_t expert) const;
    [[nodiscard]] bool unload_fullest(double most);
    bool reduce_visits(double most);
    void swap_gpus(std::uint32_t a, std::uint32_t b);

    const ExpertGpus& gpus_;
    std::span<const ExpertReplica> replicas_;
    const TokenPins& tokens_;
    std::size_t nodes_;
    double mean_ = 0;  // load of a GPU
    std::vector<std::uint32_t> node_of_;
    std::vector<std::uint32_t> movable_;
    std::vector<bool> fixed_;
    std::vector<std::uint32_t> at_most_;
    std::vector<std::uint32_t> held_;  // by expert, then node
    std::vector<double> load_;         // of nodes
    std::vector<double> cost_;         // of a visit to a node: the share of tokens that are not there already
    std::vector<std::uint16_t> visits_;  // small: the loops over tokens wait for it
    std::vector<std::int32_t> sole_visits_;
    std::vector<std::uint32_t> token_list_;
    std::vector<std::uint32_t> list_begin_;
    std::vector<std::uint32_t> gpu_of_;
    std::vector<double> gpu_load_;
    std::vector<std::vector<std::uint32_t>> on_gpu_;
};

}  // namespace topoloom
