// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/experts/blocks.hpp"
#include "topoloom/experts/measure.hpp"
#include "topoloom/experts/packing.hpp"
#include "topoloom/experts/place_experts.hpp"
#include "topoloom/experts/relief.hpp"
#include "topoloom/experts/replicas.hpp"

using namespace topoloom;

namespace {

using Ids = std::vector<std::uint32_t>;

constexpr std::uint32_t experts = 32;
const Ids nodes{0, 0, 1, 1, 2, 2, 3, 3};  // of GPUs

/// Tokens choose 4 of the 8 experts of a topic; expert e belongs to topic e mod 4.
std::vector<std::int64_t> make_topical_tokens(std::uint64_t seed) {
    Rng rng(seed, 0);
    std::vector<std::int64_t> choices;
    for (int token = 0; token < 200; ++token) {
        const std::uint32_t topic = rng.below(4);
        const std::uint32_t first = rng.below(8);
        for (std::uint32_t i = 0; i < 4; ++i) choices.push_back(4 * ((first + i) % 8) + topic);
    }
    return choices;
}

std::vector<double> count_choices(const std::vector<std::int64_t>& choices) {
    std::vector<double> loads(experts, 0);
    for (const std::int64_t choice : choices) ++loads[static_cast<std::size_t>(choice)];
    return loads;
}

bool has_distinct_experts_per_gpu(const Ids& held, std::size_t slots) {
    for (std::size_t begin = 0; begin < held.size(); begin += slots) {
        const std::set<std::uint32_t> gpu(held.begin() + static_cast<std::ptrdiff_t>(begin),
                                          held.begin() + static_cast<std::ptrdiff_t>(begin + slots));
        if (gpu.size() != slots) return false;
    }
    return std::set<std::uint32_t>(held.begin(), held.end()).size() == experts;
}

}  // namespace

TEST_CASE("experts of one topic are placed on one node, within the allowed imbalance") {
    const auto choices = make_topical_tokens(1);
    const auto loads = count_choices(choices);
    const ExpertLayer layer{loads, choices, 4};
    for (const std::size_t slots : {4U, 5U}) {
        const ExpertGpus gpus(nodes, slots);
        for (const auto dispatch : {ExpertDispatch::spread, ExpertDispatch::nearest}) {
            const PlacedExperts placed = place_experts(layer, gpus, dispatch, 0.5, Rng(2, 0));
            CHECK(has_distinct_experts_per_gpu(placed.best, slots));
            const ExpertMeasures even = measure_experts(layer, gpus, ExpertDispatch::spread, placed.even);
            const ExpertMeasures best = measure_experts(layer, gpus, dispatch, placed.best);
            CHECK(best.load_max <= even.load_max * 1.5 * (1 + 1e-6));
            CHECK(best.visits < even.visits);
            // The experts of a token are on one node, where a quarter of the tokens already are.
            CHECK(best.visits == doctest::Approx(0.75));
        }
    }
}

TEST_CASE("threads do not change the placement of experts" * doctest::test_suite("threads")) {
    const auto choices = make_topical_tokens(3);
    const auto loads = count_choices(choices);
    const std::vector<ExpertLayer> layers(3, ExpertLayer{loads, choices, 4});
    const ExpertGpus gpus(nodes, 5);
    const auto one = place_layers(layers, gpus, ExpertDispatch::nearest, 0.01, 7, 1);
    const auto three = place_layers(layers, gpus, ExpertDispatch::nearest, 0.01, 7, 3);
    for (std::size_t i = 0; i < layers.size(); ++i) CHECK(one[i].best == three[i].best);
}

TEST_CASE("every block of experts is placed on its own node") {
    std::vector<double> loads(experts, 1.0);
    loads[9] = 4;
    const ExpertGpus gpus(nodes, 5);
    const Ids held = place_blocks_on_nodes(loads, gpus);
    CHECK(has_distinct_experts_per_gpu(held, 5));
    for (std::size_t slot = 0; slot < held.size(); ++slot) CHECK(held[slot] / 8 == gpus.node(slot / 5));
    CHECK(std::count(held.begin(), held.end(), 9U) == 2);  // a replica on each of the two GPUs of its node
    CHECK(place_blocks_on_nodes(std::vector<double>(30, 1.0), gpus).empty());
    CHECK(place_blocks_on_nodes(loads, ExpertGpus(Ids{0, 0, 1}, 16)).empty());
}

TEST_CASE("a busy block gets replicas on other nodes, and other blocks stay") {
    Rng rng(8, 0);
    std::vector<std::int64_t> choices;
    for (int token = 0; token < 2000; ++token) {
        const std::uint32_t group = rng.below(5) % 4;  // the first group is twice as likely
        const std::uint32_t first = rng.below(8);
        for (std::uint32_t i = 0; i < 3; ++i) choices.push_back(8 * group + (first + i) % 8);
    }
    const auto loads = count_choices(choices);
    const ExpertLayer layer{loads, choices, 3};
    const ExpertGpus gpus(nodes, 6);
    Ids order(experts);
    std::iota(order.begin(), order.end(), 0U);
    for (const double over : {0.0, 0.1, 0.3}) {
        const Ids held = relieve_blocks(layer, gpus, order, over);
        CHECK(has_distinct_experts_per_gpu(held, 6));
        Ids away(4, 0);
        for (std::size_t slot = 0; slot < held.size(); ++slot) {
            const std::uint32_t block = held[slot] / 8;
            if (block != gpus.node(slot / 6)) ++away[block];
        }
        CHECK(away[0] > 0);
        CHECK(away[1] + away[2] + away[3] == 0);
        const double load = measure_experts(layer, gpus, ExpertDispatch::spread, held).load_max;
        const double before =
            measure_experts(layer, gpus, ExpertDispatch::spread, place_blocks_on_nodes(loads, gpus)).load_max;
        CHECK(load < before);
    }
    CHECK(relieve_blocks(layer, gpus, order, 1) ==
          place_blocks_on_nodes(loads, gpus));  // no node is overloaded
    // No free slots for replicas.
    CHECK(relieve_blocks(layer, ExpertGpus(nodes, 4), order, 0) ==
          place_blocks_on_nodes(loads, ExpertGpus(nodes, 4)));
    CHECK(relieve_blocks(layer, ExpertGpus(Ids{0, 0, 1}, 16), order, 0).empty());
}

TEST_CASE("tokens that choose experts of two groups visit at most two nodes") {
    Rng rng(5, 0);
    std::vector<std::int64_t> choices;
    for (int token = 0; token < 300; ++token) {
        const std::uint32_t group = rng.below(4);
        const std::uint32_t other = (group + 1 + rng.below(3)) % 4;
        for (const std::uint32_t one : {group, group, other, other})
            choices.push_back(8 * one + rng.below(8));
    }
    const auto loads = count_choices(choices);
    const ExpertLayer layer{loads, choices, 4};
    const ExpertGpus gpus(nodes, 5);
    const PlacedExperts placed = place_experts(layer, gpus, ExpertDispatch::spread, 1, Rng(6, 0));
    CHECK(measure_experts(layer, gpus, ExpertDispatch::spread, placed.best).visits <= 2 * 0.75 + 1e-9);
}

TEST_CASE("replicas go to the busiest experts, and packing balances the loads of GPUs") {
    std::vector<double> loads(experts, 1.0);
    loads[3] = 8;
    const ExpertGpus gpus(nodes, 5);
    const Ids counts = count_replicas_by_load(loads, gpus);
    CHECK(std::accumulate(counts.begin(), counts.end(), 0U) == 40);
    CHECK(*std::max_element(counts.begin(), counts.end()) == counts[3]);
    const auto replicas = list_replicas(loads, counts);
    const auto sums = bin_loads(replicas, pack_evenly(replicas, 8, 5), 8);
    CHECK(std::accumulate(sums.begin(), sums.end(), 0.0) == doctest::Approx(39));
    CHECK(*std::max_element(sums.begin(), sums.end()) <= 39.0 / 8 + 1);
}

TEST_CASE("impossible loads and numbers of slots are refused") {
    std::vector<double> loads(experts, 1e308);
    const ExpertGpus gpus(nodes, 4);
    const auto place = [&](const ExpertGpus& on) {
        return place_experts({loads, {}, 0}, on, ExpertDispatch::spread, 0.01, Rng(1, 0));
    };
    CHECK_THROWS_WITH_AS(place(gpus), doctest::Contains("exceeds the range of a double"), Error);
    loads.assign(experts, 1);
    loads[2] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH_AS(place(gpus), doctest::Contains("the load of expert 2"), Error);
    loads[2] = 1;
    CHECK_THROWS_WITH_AS(place(ExpertGpus(nodes, 3)), doctest::Contains("hold 24 experts, not 32"), Error);
    CHECK_THROWS_WITH_AS(place(ExpertGpus(nodes, 33)), doctest::Contains("each once on a GPU"), Error);
    CHECK_THROWS_WITH_AS(ExpertGpus(Ids{}, 1), doctest::Contains("no GPUs"), Error);
}
