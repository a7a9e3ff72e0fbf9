// SPDX-License-Identifier: BSD-3-Clause
// Capacities of slots, and errors when ranks do not fit.
#include <doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/place/capacity.hpp"

using namespace topoloom;

namespace {

CommGraph make_graph_with_loads(std::vector<double> loads) {
    const std::size_t ranks = loads.size();
    return CommGraph::from_rows(ranks, [](Rank, const auto&) {}, std::move(loads));
}

std::vector<std::int64_t> to_vector(std::span<const std::int64_t> values) {
    return {values.begin(), values.end()};
}

/// The error message of a capacity on this number of slots; empty if it is valid.
std::string error_message(const CommGraph& graph, std::uint32_t slots, const Sharing& sharing) {
    const Machine machine = make_machine("torus:" + std::to_string(slots));
    const Allocation allocation = Allocation::whole(machine);
    try {
        const Capacity capacity(graph, allocation, sharing);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

Capacity capacity_of(const CommGraph& graph, std::uint32_t slots, const Sharing& sharing) {
    const Machine machine = make_machine("torus:" + std::to_string(slots));
    return {graph, Allocation::whole(machine), sharing};
}

constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("with no more ranks than slots each slot gets one rank, for any loads and imbalance") {
    for (const Sharing& sharing : {Sharing{}, Sharing{.imbalance = 0.5}}) {
        const Capacity capacity = capacity_of(make_graph_with_loads({0.5, 7, 0}), 5, sharing);
        CHECK(capacity.one_rank_per_slot());
        CHECK(to_vector(capacity.masses()) == std::vector<std::int64_t>{1, 1, 1});
        CHECK(to_vector(capacity.capacities()) == std::vector<std::int64_t>{1, 1, 1, 1, 1});
    }
}

TEST_CASE("given capacities let ranks share slots, even with fewer ranks than slots") {
    const Capacity capacity = capacity_of(make_graph_with_loads({2, 1}), 3, {.capacity = {0, 3.5, 0}});
    CHECK_FALSE(capacity.one_rank_per_slot());
    CHECK(to_vector(capacity.masses()) == std::vector<std::int64_t>{2, 1});
    CHECK(capacity.capacities()[1] == 3);
}

TEST_CASE("zero ranks, and more ranks than unshared slots, are refused") {
    CHECK(error_message(make_graph_with_loads({}), 4, {}) == "there are no ranks to place");
    CHECK(
        error_message(ring(9, Bytes{1}), 4, {}) ==
        "9 ranks do not fit on the 4 slots of 4 nodes; allocate more nodes, start fewer ranks, or let ranks "
        "share slots with an imbalance of 0");
    CHECK(error_message(ring(9, Bytes{1}), 4, {.imbalance = 0}).empty());
}

TEST_CASE("a negative or NaN imbalance is refused, even if it is unused") {
    for (const std::size_t ranks : {2U, 9U}) {
        const CommGraph graph = ring(ranks, Bytes{1});
        CHECK(error_message(graph, 4, {.imbalance = -0.01}) ==
              "the imbalance is -0.01; it must be 0 or more, as in 0.03 for 3 %");
        CHECK(error_message(graph, 4, {.imbalance = std::nan("")})
                  .starts_with("the imbalance is nan; it must be"));
        CHECK(
            error_message(graph, 4, {.imbalance = infinite}).starts_with("the imbalance is inf; it must be"));
    }
}

TEST_CASE("capacities must be one per slot, finite, not negative, and sufficient") {
    const CommGraph graph = make_graph_with_loads({1, 2, 3});
    CHECK(error_message(graph, 2, {.capacity = {3, 3, 3}}) ==
          "there are 3 capacities for 2 slots; give one per slot");
    CHECK(error_message(graph, 2, {.capacity = {3}}) ==
          "there are 1 capacities for 2 slots; give one per slot");
    CHECK(error_message(graph, 2, {.capacity = {7, -1}}) ==
          "capacity 1 is -1; capacities must be finite and not negative");
    CHECK(error_message(graph, 2, {.capacity = {infinite, 1}}).starts_with("capacity 0 is inf"));
    CHECK(error_message(graph, 2, {.capacity = {1, std::nan("")}}).starts_with("capacity 1 is nan"));
    CHECK(error_message(graph, 2, {.capacity = {3, 2}}) ==
          "the ranks have a load of 6 in all, but the capacities add up to 5, rounded down as all loads are "
          "integers");
    CHECK(error_message(graph, 3, {.capacity = {2, 2, 2}}) ==
          "a rank has load 3, but the largest capacity is 2");
    CHECK(error_message(graph, 2, {.capacity = {3, 3}}).empty());
    // Integer loads cannot use the remaining fractions of two slots.
    CHECK(error_message(graph, 2, {.capacity = {3.5, 2.5}}).find("add up to 5, rounded down") !=
          std::string::npos);
    CHECK(error_message(make_graph_with_loads({1.5, 2}), 2, {.capacity = {2, 1}}) ==
          "the ranks have a load of 3.5 in all, but the capacities add up to 3");
}

TEST_CASE("an error for a rank heavier than any slot states a sufficient imbalance") {
    CHECK(error_message(make_graph_with_loads({6, 1, 1}), 2, {.imbalance = 0}) ==
          "a rank has load 6, but with 2 slots each may hold only 4; allow an imbalance of 0.5 or more");
    Rng rng(4);
    for (int i = 0; i < 200; ++i) {
        const std::uint32_t slots = 2 + rng.below(4);
        std::vector<double> loads;
        for (std::uint32_t u = 0; u < 8; ++u)
            loads.push_back(i % 2 == 0 ? rng.below(5) : static_cast<double>(rng.below(1000)) / 128.3);
        loads[rng.below(8)] += 1000;
        const CommGraph graph = make_graph_with_loads(loads);
        const std::string text = error_message(graph, slots, {.imbalance = 0});
        CAPTURE(text);
        const std::size_t at = text.find("allow an imbalance of ");
        REQUIRE(at != std::string::npos);
        const double advice = std::stod(text.substr(at + std::string_view("allow an imbalance of ").size()));
        CHECK(error_message(graph, slots, {.imbalance = advice}).empty());
        CHECK_FALSE(error_message(graph, slots, {.imbalance = advice - 0.02}).empty());
    }
}

TEST_CASE("integer loads are used as masses, and with imbalance 0 each capacity is the mean, rounded up") {
    const Capacity even = capacity_of(ring(10, Bytes{1}), 4, {.imbalance = 0});
    CHECK(to_vector(even.masses()) == std::vector<std::int64_t>(10, 1));
    CHECK(to_vector(even.capacities()) == std::vector<std::int64_t>(4, 3));
    const Capacity loose = capacity_of(ring(1000, Bytes{1}), 10, {.imbalance = 0.03});
    CHECK(to_vector(loose.capacities()) == std::vector<std::int64_t>(10, 103));
    const Capacity heavy = capacity_of(make_graph_with_loads({5, 0, 3, 1e12, 2}), 4, {.imbalance = 4});
    CHECK(to_vector(heavy.masses()) == std::vector<std::int64_t>{5, 0, 3, 1000000000000, 2});
    const Capacity nothing = capacity_of(make_graph_with_loads({0, 0, 0}), 2, {.imbalance = 0});
    CHECK(to_vector(nothing.masses()) == std::vector<std::int64_t>{0, 0, 0});
}

TEST_CASE("a placement whose masses fit overfills no slot, even with fractional loads") {
    Rng rng(8);
    for (int i = 0; i < 500; ++i) {
        const std::uint32_t slots = 1 + rng.below(5);
        std::vector<double> loads;
        for (std::uint32_t u = 0; u < 3 + rng.below(40); ++u)
            loads.push_back(static_cast<double>(rng.below(1000)) / (i % 3 == 0 ? 1.0 : 7.0) * (i % 5 + 1e-3));
        const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
        std::vector<double> limits;
        for (std::uint32_t s = 0; s < slots; ++s) limits.push_back(total * (rng.below(100) + 1) / 50.0);
        const CommGraph graph = make_graph_with_loads(loads);
        const Sharing sharing{.capacity = limits};
        if (!error_message(graph, slots, sharing).empty()) continue;
        const Capacity capacity = capacity_of(graph, slots, sharing);
        for (std::uint32_t s = 0; s < slots; ++s) {  // tries to fill every slot with ranks in a random order
            std::vector<std::size_t> order(loads.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            rng.shuffle(std::span(order));
            std::int64_t mass = 0;
            double load = 0;
            for (const std::size_t u : order) {
                if (mass + capacity.masses()[u] > capacity.capacities()[s]) continue;
                mass += capacity.masses()[u];
                load += loads[u];
            }
            CHECK(load <= limits[s] * (1 + 1e-9));
        }
    }
}

TEST_CASE("fractional loads may fill a capacity completely") {
    const Capacity capacity =
        capacity_of(make_graph_with_loads({0.3, 0.3, 0.1, 0.2}), 3, {.capacity = {0.3, 0.3, 0.3}});
    CHECK(capacity.masses()[0] <= capacity.capacities()[0]);
    CHECK(capacity.masses()[2] + capacity.masses()[3] <= capacity.capacities()[2]);
}

TEST_CASE("infinite capacities suffice for all ranks") {
    const CommGraph graph = ring(5000, Bytes{1});
    for (const Sharing& sharing :
         {Sharing{.imbalance = 1e300}, Sharing{.capacity = std::vector(4096, 1e300)}}) {
        CHECK(error_message(graph, 4096, sharing).empty());
        const Capacity capacity = capacity_of(graph, 4096, sharing);
        const auto all = std::accumulate(capacity.capacities().begin(), capacity.capacities().end(), 0.0L,
                                         [](long double sum, std::int64_t c) { return sum + c; });
        CHECK(capacity.capacities().front() >= 5000);
        CHECK(all < 0x1.0p62L);  // sums of capacities fit into 64 bits
    }
}

TEST_CASE("fractional loads are rounded up to multiples of 2^-40 of their sum") {
    Rng rng(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<double> loads(20 + rng.below(40));
        for (double& load : loads) load = 0.1 + rng.uniform();
        const auto slots = static_cast<std::uint32_t>(4 + rng.below(10));
        const double imbalance = 1 + rng.uniform();  // still no slot has capacity for all ranks
        const Capacity capacity = capacity_of(make_graph_with_loads(loads), slots, {.imbalance = imbalance});
        const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
        const double unit = all / 0x1.0p40;
        double parts = 0;
        for (std::size_t u = 0; u < loads.size(); ++u) {
            CHECK(std::abs(static_cast<double>(capacity.masses()[u]) - std::ceil(loads[u] / unit)) <= 1);
            parts += static_cast<double>(capacity.masses()[u]);
        }
        const double share = std::ceil(parts / slots);
        CHECK(std::abs(static_cast<double>(capacity.capacities()[0]) - std::floor((1 + imbalance) * share)) <=
              1);
        // Equals the unrounded capacity to one part in 10^9.
        const double plain = (1 + imbalance) * all / slots;
        CHECK(std::abs(static_cast<double>(capacity.capacities()[0]) * unit - plain) < 1e-9 * plain);
    }
}
