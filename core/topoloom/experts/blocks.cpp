// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/experts/blocks.hpp"

#include <cstddef>
#include <numeric>

#include "topoloom/experts/packing.hpp"
#include "topoloom/experts/replicas.hpp"

namespace topoloom {

std::vector<std::uint32_t> place_blocks_on_nodes(std::span<const double> loads, const ExpertGpus& gpus) {
    std::vector<std::uint32_t> order(loads.size());
    std::iota(order.begin(), order.end(), 0U);
    return place_blocks_on_nodes(loads, gpus, order);
}

std::vector<std::uint32_t> place_blocks_on_nodes(std::span<const double> loads, const ExpertGpus& gpus,
                                                 std::span<const std::uint32_t> order) {
    const std::size_t nodes = gpus.nodes();
    const std::size_t block = loads.size() / nodes;
    const std::size_t on_node = gpus.gpus_on(0).size();
    if (block * nodes != loads.size() || gpus.slots_per_gpu() > block) return {};
    for (std::size_t node = 0; node < nodes; ++node) {
        if (gpus.gpus_on(node).size() != on_node) return {};
    }
    const std::vector<std::uint32_t> node_of_gpu(on_node, 0);
    const ExpertGpus one_node(node_of_gpu, gpus.slots_per_gpu());
    std::vector<std::uint32_t> expert_of_slot(gpus.places());
    for (std::size_t node = 0; node < nodes; ++node) {
        const std::span<const std::uint32_t> experts = order.subspan(node * block, block);
        std::vector<double> own;
        for (const std::uint32_t expert : experts) own.push_back(loads[expert]);
        const auto replicas = list_replicas(own, count_replicas_by_load(own, one_node));
        const auto gpu_of = pack_evenly(replicas, on_node, gpus.slots_per_gpu());
        std::vector<std::size_t> slots_used(on_node, 0);
        for (std::size_t i = 0; i < replicas.size(); ++i) {
            const std::uint32_t gpu = gpus.gpus_on(node)[gpu_of[i]];
            expert_of_slot[gpu * gpus.slots_per_gpu() + slots_used[gpu_of[i]]++] =
                experts[replicas[i].expert];
        }
    }
    return expert_of_slot;
}

}  // namespace topoloom
