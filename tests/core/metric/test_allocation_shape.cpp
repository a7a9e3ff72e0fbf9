// SPDX-License-Identifier: BSD-3-Clause
// The shape of an allocation, compared with counts link by link and pair by pair, and by hand on small
// machines.
#include "topoloom/metric/allocation_shape.hpp"

#include <map>
#include <vector>

#include "machine/machine_texts.hpp"
#include "topoloom/machine/allocations/territory.hpp"

using namespace topoloom;

namespace {

AllocationShape shape_of(const Machine& machine, const std::vector<std::uint32_t>& ids) {
    std::vector<Node> nodes;
    for (const std::uint32_t id : ids) nodes.emplace_back(id);
    const Allocation allocation(machine, nodes);
    return allocation_shape(allocation, all_pairs_loads(allocation));
}

}  // namespace

TEST_CASE("link counts and loads equal their definitions on every topology" *
          doctest::test_suite("threads")) {
    Rng rng(8);
    for_each_topology([&](const Machine& machine, const auto& network) {
        const Allocation allocation(machine, random_subset(machine.usable_nodes(), rng));
        const auto nodes = allocation.nodes();
        std::map<std::uint32_t, double> slow;
        double distance = 0;
        for (const Node a : nodes) {
            for (const Node b : nodes) {
                if (a == b) continue;
                distance += machine.distance(machine.slot(a, 0), machine.slot(b, 0));
                network.route(a, b, [&](Link link, double share) { slow[link.value] += share; });
            }
        }
        const double pairs = static_cast<double>(nodes.size()) * static_cast<double>(nodes.size() - 1);
        CHECK(average_distance(allocation) == doctest::Approx(pairs > 0 ? distance / pairs : 0));
        const BigVector<double> loads = all_pairs_loads(allocation);
        REQUIRE(loads.size() == network.link_count());
        for (const Link link : ids<Link>(network.link_count()))
            REQUIRE(loads[link.value] == doctest::Approx(slow[link.value]));
        CHECK(all_pairs_loads(allocation, 1) == loads);

        const Territory territory(allocation);
        AllocationShape counted{.components = territory.component_count()};
        double hops = 0;
        double foreign = 0;
        std::vector<std::uint32_t> foreign_links;
        for (const Link link : ids<Link>(network.link_count())) {
            if (!is_up(network, link)) continue;
            const LinkEnds ends = network.ends(link);
            const int held = (territory.holds(ends.from) ? 2 : 0) + (territory.holds(ends.to) ? 1 : 0);
            if (held == 3) ++counted.links_inside;
            if (held == 2) ++counted.links_leaving;
            if (slow[link.value] > 0) {
                ++counted.links_used;
                hops += slow[link.value];
                if (!territory.owns(ends)) {
                    foreign_links.push_back(link.value);
                    foreign += slow[link.value];
                }
            }
        }
        const AllocationShape shape = allocation_shape(allocation, loads);
        CHECK(shape.components == counted.components);
        CHECK(shape.links_inside == counted.links_inside);
        CHECK(shape.links_leaving == counted.links_leaving);
        CHECK(shape.links_used == counted.links_used);
        CHECK(shape.foreign == foreign_links);
        CHECK(shape.foreign_share == doctest::Approx(hops > 0 ? foreign / hops : 0));
    });
}

TEST_CASE("an allocation of the whole machine has no surface and no foreign links") {
    for_each_topology([](const Machine& machine, const auto& network) {
        const Allocation whole = Allocation::whole(machine);
        std::size_t links = 0;
        for (const Link link : ids<Link>(network.link_count())) links += is_up(network, link) ? 1 : 0;
        const AllocationShape shape = allocation_shape(whole, all_pairs_loads(whole));
        CHECK(shape.components == 1);
        CHECK(shape.links_inside == links);
        CHECK(shape.links_leaving == 0);
        CHECK(shape.foreign.empty());
        CHECK(average_distance(whole) == doctest::Approx(machine.average_distance()));
    });
}

TEST_CASE("a box of a torus has the surface links of a box") {
    const Machine machine = make_machine("torus:6x6x6");
    std::vector<std::uint32_t> box;
    for (std::uint32_t x = 0; x < 2; ++x) {
        for (std::uint32_t y = 0; y < 3; ++y) {
            for (std::uint32_t z = 0; z < 2; ++z) box.push_back((x * 6 + y) * 6 + z);
        }
    }
    const AllocationShape shape = shape_of(machine, box);
    CHECK(shape.components == 1);
    CHECK(shape.links_leaving == 2 * (2 * 3 + 3 * 2 + 2 * 2));
    CHECK(shape.links_inside == 2 * (1 * 3 * 2 + 2 * 2 * 2 + 2 * 3 * 1));
    CHECK(shape.links_used == shape.links_inside);  // routes within a box stay inside
    CHECK(shape.foreign_share == 0);
}

TEST_CASE("two distant nodes of a line communicate over foreign links") {
    const Machine line = make_machine("mesh:6");
    const AllocationShape shape = shape_of(line, {1, 4});
    CHECK(shape.components == 2);
    CHECK(shape.links_inside == 0);
    CHECK(shape.links_leaving == 4);
    CHECK(shape.links_used == 6);
    CHECK(shape.foreign.size() == 6);
    CHECK(shape.foreign_share == 1);
}

TEST_CASE("links above the job's switches in a tree are foreign") {
    const Machine tree = make_machine("tree:4:3");
    const AllocationShape shape = shape_of(tree, {0, 1, 4});
    CHECK(shape.components == 2);
    CHECK(shape.links_inside == 6);       // three nodes, with links in both directions
    CHECK(shape.links_leaving == 5 + 2);  // links to the switches' five other nodes, and upward
    CHECK(shape.links_used == 6 + 4);
    CHECK(shape.foreign.size() == 4);
    CHECK(shape.foreign_share == doctest::Approx(8.0 / (2 * 2 + 4 * 4)));
}

TEST_CASE("links that other jobs on the same switches or routers may use are foreign") {
    // Foreign are all uplinks of the tree and all links between routers, but no host links.
    CHECK(shape_of(make_machine("tree:2:4"), {0, 2, 4, 6}).foreign.size() == 8);
    CHECK(shape_of(make_machine("tree:2:4"), {0, 1, 2, 3, 4, 5, 6}).foreign.size() == 2 * 4);
    const AllocationShape half = shape_of(make_machine("dragonfly:3x2,nodes=2"), {0, 2, 4, 6, 8, 10});
    CHECK(half.links_used == half.foreign.size() + 2 * 6);
}
