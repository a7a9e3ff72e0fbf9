// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "schedule/contended_rounds.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/orders/contention_free_order.hpp"

using namespace topoloom;
using testing::contended_rounds;

namespace {

Machine k_ary_machine(std::uint32_t k, std::size_t levels) {
    std::string text = "fattree";
    for (std::size_t level = 0; level < levels; ++level) text += ":" + std::to_string(k);
    return make_machine(text);
}

std::vector<Node> random_nodes(Rng& rng, std::size_t of, std::size_t count) {
    std::vector<std::uint32_t> numbers(of);
    std::iota(numbers.begin(), numbers.end(), 0U);
    rng.shuffle(std::span(numbers));
    return {numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::vector<RepeatedStep> make_shift_steps(std::size_t ranks, std::initializer_list<std::size_t> by) {
    std::vector<RepeatedStep> steps;
    for (const std::size_t shift : by) steps.push_back({shift_step(ranks, shift % ranks), 1});
    return steps;
}

std::vector<RepeatedStep> make_prefix_steps(std::size_t ranks) {
    std::vector<RepeatedStep> steps;
    for (std::size_t by = 1; by < ranks; ++by) steps.push_back({prefix_step(ranks, by), by});
    return steps;
}

std::uint64_t min_of_all_orders(const Machine& machine, std::vector<Node> nodes,
                                std::span<const RepeatedStep> steps,
                                ContentionModel meeting = ContentionModel::any_ascent) {
    std::ranges::sort(nodes);
    std::uint64_t least = contended_rounds(machine, steps, nodes, meeting);
    while (std::ranges::next_permutation(nodes).found)
        least = std::min(least, contended_rounds(machine, steps, nodes, meeting));
    return least;
}

}  // namespace

TEST_CASE("the fewest contended rounds are found and proven on uneven sets of nodes") {
    Rng rng(11);
    for (int i = 0; i < 18; ++i) {
        const Machine tree =
            i % 2 == 0 ? k_ary_machine(2, 3 + static_cast<std::size_t>(i % 3)) : k_ary_machine(3, 2);
        const std::size_t ranks = 3 + rng.below(i < 16 ? 4 : 5);
        const auto nodes = random_nodes(rng, tree.node_count(), ranks);
        const auto steps =
            i % 3 == 0 ? make_prefix_steps(ranks) : make_shift_steps(ranks, {1, 2, ranks - 2, 3});
        const FreeOrder found = find_free_order(tree, nodes, steps);
        CHECK(found.proven);
        CHECK(found.rounds == contended_rounds(tree, steps, found.node_of_rank));
        CHECK(std::ranges::is_permutation(found.node_of_rank, nodes));
        CHECK(found.rounds == min_of_all_orders(tree, nodes, steps));
    }
}

TEST_CASE("the fewest contended rounds are found and proven on the routes of any machine") {
    Rng rng(23);
    for (const char* text : {"fattree:2:2:2", "fattree:3:3,routing=s-mod-k", "torus:3x3", "mesh:2x4"}) {
        const Machine machine = make_machine(text);
        CAPTURE(text);
        for (const std::size_t ranks : {4U, 6U}) {
            const auto nodes = random_nodes(rng, machine.node_count(), ranks);
            const auto steps = make_shift_steps(ranks, {1, 2, ranks - 1});
            const FreeOrder found = find_free_order(machine, nodes, steps, ContentionModel::on_routes);
            CHECK(found.proven);
            CHECK(found.rounds ==
                  contended_rounds(machine, steps, found.node_of_rank, ContentionModel::on_routes));
            CHECK(found.rounds == min_of_all_orders(machine, nodes, steps, ContentionModel::on_routes));
        }
    }
}

TEST_CASE("ring messages in tree order share no link, on any set of nodes") {
    Rng rng(13);
    const Machine tree = k_ary_machine(4, 4);
    for (const std::size_t ranks : {5U, 60U, 200U}) {
        const auto nodes = random_nodes(rng, 256, ranks);
        const FreeOrder found = find_free_order(tree, nodes, make_shift_steps(ranks, {1, ranks - 1}));
        CHECK(found.rounds == 0);
        CHECK(found.proven);
    }
}

TEST_CASE("the computed order has fewer contended rounds than the given one, and is reproducible") {
    Rng rng(17);
    const Machine tree = k_ary_machine(4, 3);
    const auto nodes = random_nodes(rng, 64, 40);
    const auto steps = list_schedule_steps(make_schedule({Operation::allgather, 40, Bytes{1}}, "k-shift"));
    const FreeOrder found = find_free_order(tree, nodes, steps, ContentionModel::any_ascent, 2'000'000);
    CHECK(found.rounds < contended_rounds(tree, steps, nodes));
    CHECK(found.rounds == find_free_order(tree, nodes, steps, ContentionModel::any_ascent, 2'000'000).rounds);
}

TEST_CASE("if positions have gaps for missing nodes, exchanges with position p xor j share no link") {
    Rng rng(19);
    for (const Machine& tree : {k_ary_machine(4, 3), k_ary_machine(3, 4), k_ary_machine(6, 2)}) {
        const auto nodes = random_nodes(rng, tree.node_count(), tree.node_count() * 3 / 4);
        const std::vector<Node> positions = with_gaps(tree, nodes);
        CHECK(std::ranges::count(positions, no_node) + std::ssize(nodes) == std::ssize(positions));
        CHECK(contended_rounds(tree, make_prefix_steps(std::bit_ceil(positions.size())), positions) == 0);
    }
    const std::vector<Node> full{Node{0}, Node{1}, Node{2}, Node{3}};
    CHECK(with_gaps(k_ary_machine(2, 2), full) == full);
}

TEST_CASE("errors name nodes that cannot be ordered") {
    const Machine tree = k_ary_machine(2, 2);
    const auto steps = make_shift_steps(2, {1});
    CHECK_THROWS_WITH((void)find_free_order(tree, std::vector{Node{1}, Node{1}}, steps),
                      "node 1 occurs twice among the nodes to order");
    CHECK_THROWS_WITH((void)find_free_order(tree, std::vector{Node{1}, Node{4}}, steps),
                      "node 4 does not exist: the machine has 4");
    CHECK_THROWS_WITH((void)with_gaps(tree, {}), "there are no nodes to order");
    CHECK_THROWS_WITH((void)find_free_order(make_machine("torus:4"), std::vector{Node{1}, Node{2}}, steps),
                      "upward routes require a complete fat tree, such as fattree:16:16, not for 'torus:4'");
}
