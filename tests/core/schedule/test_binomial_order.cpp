// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/schedule/orders/binomial_order.hpp"

using namespace topoloom;

namespace {

using enum BinomialOrder;

/// Message costs within and between groups, plus random deviations of up to `spread`.
CostMatrix make_group_costs(const std::vector<std::uint32_t>& group, double inside, double between,
                            double spread = 0) {
    Rng rng(3);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < group.size(); ++i) {
        for (std::size_t j = 0; j < group.size(); ++j)
            seconds.push_back(i == j ? 0
                                     : (group[i] == group[j] ? inside : between) + spread * rng.uniform());
    }
    return {group.size(), seconds};
}

/// Nodes of the processes on two quad-core nodes, numbered as on the cluster RA, and consecutively.
const std::vector<std::uint32_t> mixed{0, 1, 0, 0, 1, 0, 1, 1};
const std::vector<std::uint32_t> halves{0, 0, 0, 0, 1, 1, 1, 1};

std::vector<std::uint32_t> order_of(const CostMatrix& costs, BinomialOrder order, std::uint32_t channels = 2,
                                    Rank root = Rank{0}) {
    std::vector<std::uint32_t> found;
    for (const Rank process : binomial_order(costs, order, root, channels, 1)) found.push_back(process.value);
    return found;
}

double scatter_time(const CostMatrix& costs, BinomialOrder order, std::uint32_t channels,
                    ChannelSharing sharing = ChannelSharing::printed) {
    const auto placed = binomial_order(costs, order, Rank{0}, channels, 1);
    const auto steps = binomial_scatter_steps(costs, find_cost_groups(costs), placed, channels, sharing);
    return std::accumulate(steps.begin(), steps.end(), 0.0);
}

}  // namespace

TEST_CASE("binomial orders equal the published vectors") {
    const CostMatrix costs = make_group_costs(mixed, 1, 2);
    CHECK(order_of(costs, fastest_edge_first) == std::vector{0U, 1U, 3U, 4U, 2U, 6U, 5U, 7U});
    CHECK(order_of(costs, channel_aware) == std::vector{0U, 3U, 1U, 6U, 2U, 5U, 4U, 7U});
    CHECK(order_of(costs, standard, 2, Rank{6}) == std::vector{6U, 7U, 0U, 1U, 2U, 3U, 4U, 5U});
}

TEST_CASE(
    "measured costs are replaced by group means, and if there are no groups, the standard order is used") {
    const CostMatrix alike = make_group_costs({0, 0, 0, 0, 0, 0, 0, 0}, 1, 1, 0.1);
    const CostMatrix noisy = make_group_costs(mixed, 1, 2, 0.1), plain = make_group_costs(mixed, 1, 2);
    for (const BinomialOrder order : {fastest_edge_first, channel_aware}) {
        CHECK(measured_binomial_order(alike, order, Rank{3}, 2, 1) ==
              cost_independent_order(8, standard, Rank{3}, 1));
        CHECK(measured_binomial_order(noisy, order, Rank{3}, 2, 1) ==
              binomial_order(plain, order, Rank{3}, 2, 1));
        CHECK_THROWS_AS(static_cast<void>(cost_independent_order(8, order, Rank{0}, 1)), Error);
    }
    CHECK(parse_binomial_order("channel-aware") == channel_aware);
    CHECK_THROWS_AS(static_cast<void>(parse_binomial_order("fastest")), Error);
}

TEST_CASE("every order lists every process once, with the root first, for any number of processes") {
    for (std::uint32_t size = 1; size <= 40; ++size) {
        std::vector<std::uint32_t> group(size), all(size);
        for (std::uint32_t i = 0; i < size; ++i) group[i] = i % 3;
        std::iota(all.begin(), all.end(), 0);
        const CostMatrix costs = make_group_costs(group, 1, 2, 0.5);
        for (const BinomialOrder order :
             {standard, fastest_edge_first, channel_aware, BinomialOrder::random}) {
            for (const std::uint32_t channels : {1U, 3U, 64U}) {
                std::vector<std::uint32_t> found = order_of(costs, order, channels, Rank{size / 2});
                CHECK(found[0] == size / 2);
                std::sort(found.begin(), found.end());
                CHECK(found == all);
            }
        }
    }
}

TEST_CASE("each message beyond the number of channels adds half the bandwidth of one message") {
    using enum ChannelSharing;
    // A last step of 16 messages on 2 channels has the bandwidth of 2 + 14 / 2 messages.
    const CostMatrix equal = make_group_costs(std::vector<std::uint32_t>(32, 0), 1, 1);
    CHECK(scatter_time(equal, standard, 2, growing) ==
          doctest::Approx(16 + 8 + 4 * 4 / 3. + 2 * 8 / 5. + 16 / 9.));
    CHECK(scatter_time(equal, standard, 2, node) == scatter_time(equal, standard, 2, growing));
    // Two groups: two messages within one group share one channel, 4 messages between the groups share 2.
    const CostMatrix two = make_group_costs(mixed, 1, 2);
    CHECK(scatter_time(two, fastest_edge_first, 2, growing) == doctest::Approx(4 + 2 * 2 / 1.5 + 2 * 4 / 3.));
    CHECK(scatter_time(two, channel_aware, 2, growing) == doctest::Approx(4 + 2 * 2 + 2 / 1.5));
    CHECK(scatter_time(two, channel_aware, 2, node) == doctest::Approx(4 + 2 * 2 + 4 / 3.));
}

TEST_CASE("sharing never makes a step shorter, and with growing bandwidth takes less than twice the time") {
    using enum ChannelSharing;
    Rng rng(11);
    for (int round = 0; round < 50; ++round) {
        std::vector<std::uint32_t> group(2 + rng.below(30));
        for (auto& of : group) of = rng.below(3);
        const CostMatrix costs = make_group_costs(group, 1, 1 + 3 * rng.uniform(), 0.3);
        const std::uint32_t channels = 1 + static_cast<std::uint32_t>(rng.below(5));
        const auto placed = binomial_order(costs, BinomialOrder::random, Rank{0}, channels, round);
        const CostGroups groups = find_cost_groups(costs);
        const auto steps = [&](ChannelSharing sharing) {
            return binomial_scatter_steps(costs, groups, placed, channels, sharing);
        };
        const auto alone = steps(independent);
        for (const ChannelSharing sharing : {growing, node}) {
            const auto shared = steps(sharing);
            for (std::size_t i = 0; i < alone.size(); ++i) {
                CHECK(shared[i] >= alone[i]);
                CHECK(shared[i] < 2 * alone[i]);
            }
        }
        for (std::size_t i = 0; i < alone.size(); ++i) CHECK(steps(printed)[i] >= alone[i]);
    }
}

TEST_CASE(
    "in the printed formula, the number of channels limits how many equally fast messages are concurrent") {
    const auto blocks = [](std::size_t size, std::uint32_t channels) {
        return scatter_time(make_group_costs(std::vector<std::uint32_t>(size, 0), 1, 1), standard, channels);
    };
    CHECK(blocks(8, 99) == 7);
    CHECK(blocks(8, 2) == 8);
    CHECK(blocks(32, 99) == 31);
    CHECK(blocks(32, 2) == 48);
    CHECK(blocks(1, 1) == 0);
    CHECK(blocks(5, 99) == 1 + 2 + 1);  // position 4 receives only one block
}

TEST_CASE("on two quad-core nodes with two channels, a scatter takes the published times") {
    for (const double between : {1.4, 1.6, 100.0}) {
        CHECK(scatter_time(make_group_costs(halves, 1, between), standard, 2) ==
              doctest::Approx(3 + 4 * between));
        for (const auto& group : {halves, mixed}) {
            const CostMatrix costs = make_group_costs(group, 1, between);
            CHECK(scatter_time(costs, fastest_edge_first, 2) == doctest::Approx(6 + 2 * between));
            CHECK(scatter_time(costs, channel_aware, 2) == doctest::Approx(5 + 2 * between));
        }
    }
}

TEST_CASE("impossible costs and orders are refused") {
    CHECK_THROWS_WITH(CostMatrix(2, {0, 1, 1}), "3 costs between 2 processes; give 4");
    CHECK_THROWS_WITH(CostMatrix(2, {0, -1, 1, 0}),
                      "the cost from process 0 to 1 is -1; it must be from 0 to 1e+09 seconds");
    CHECK_THROWS_WITH(CostMatrix(2, {0, 1, 1e308, 0}),
                      "the cost from process 1 to 0 is 1e+308; it must be from 0 to 1e+09 seconds");
    CHECK_THROWS_AS(CostMatrix(1, {std::numeric_limits<double>::quiet_NaN()}), Error);
    CHECK_THROWS_AS(CostMatrix(0, {}), Error);
    const CostMatrix costs = make_group_costs(mixed, 1, 2);
    CHECK_THROWS_WITH((void)binomial_order(costs, standard, Rank{8}, 1, 1),
                      "the root 8 is not a process; processes are 0 to 7");
    CHECK_THROWS_WITH((void)binomial_order(costs, standard, Rank{0}, 0, 1),
                      "0 channels; there must be 1 or more");
    const std::vector<Rank> twice(8, Rank{1});
    CHECK_THROWS_WITH((void)binomial_scatter_steps(costs, find_cost_groups(costs), twice, 1),
                      "an order of 8 processes must contain each process once, not 1 twice");
}
