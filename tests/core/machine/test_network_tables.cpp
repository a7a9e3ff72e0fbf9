// SPDX-License-Identifier: BSD-3-Clause
// Matrices of hops, distances and routes equal the results for single pairs.
#include "topoloom/machine/network_matrices.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

/// Up to 40 nodes that are up and can all reach each other despite failures, in reverse order.
std::vector<Node> reversed_up_nodes(const Machine& machine) {
    std::vector<Node> nodes;
    for (const Node node : machine.usable_nodes()) {
        const bool reaches = std::ranges::all_of(nodes, [&](Node other) {
            return machine.connected(node, other) && machine.connected(other, node);
        });
        if (reaches && nodes.size() < 40) nodes.push_back(node);
    }
    std::ranges::reverse(nodes);
    return nodes;
}

}  // namespace

TEST_CASE("matrices have the hops and distances of every pair" * doctest::test_suite("threads")) {
    for (const std::string& text : machine_texts()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const std::vector<Node> nodes = reversed_up_nodes(machine);
        const PairMatrix hops = hop_matrix(machine, nodes);
        REQUIRE(hop_matrix(machine, {}).empty());
        std::vector<Slot> slots;
        for (const Node node : nodes) slots.push_back(machine.slot(node, machine.slots_per_node() - 1));
        const PairMatrix distances = distance_matrix(machine, slots);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            for (std::size_t j = 0; j < nodes.size(); ++j) {
                REQUIRE(hops[i * nodes.size() + j] == machine.hops(nodes[i], nodes[j]));
                REQUIRE(distances[i * nodes.size() + j] == machine.distance(slots[i], slots[j]));
            }
        }
    }
}

TEST_CASE("rows of the route matrix are routes with each link once") {
    for (const std::string& text : machine_texts()) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const std::vector<Node> nodes = reversed_up_nodes(machine);
        std::vector<Node> from;
        std::vector<Node> to;
        for (const Node a : nodes) {
            from.insert(from.end(), nodes.size(), a);
            to.insert(to.end(), nodes.begin(), nodes.end());
        }
        const RouteMatrix matrix = route_matrix(machine, from, to);
        REQUIRE(matrix.first.size() == from.size() + 1);
        for (std::size_t i = 0; i < from.size(); ++i) {
            std::map<std::uint32_t, double> shares;
            with_topology(machine, [&](const auto& t) {
                t.route(from[i], to[i], [&](Link link, double share) { shares[link.value] += share; });
            });
            std::size_t at = matrix.first[i];
            REQUIRE(matrix.first[i + 1] - at == shares.size());
            for (const auto& [link, share] : shares) {
                REQUIRE(matrix.link[at] == link);
                REQUIRE(matrix.share[at] == doctest::Approx(share));
                ++at;
            }
        }
    }
}
