// SPDX-License-Identifier: BSD-3-Clause
// Laws of routes, hops and distances that hold for every topology.
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

bool text_contains(const Machine& machine, const char* word) {
    return machine.text().find(word) != std::string::npos;
}
bool text_begins_with(const Machine& machine, const char* kind) { return machine.text().starts_with(kind); }

bool has_shortest_routes(const Machine& machine) {
    // GPUs do not use the spines if NVLinks lead to the target's rail.
    const bool by_nvlink = text_begins_with(machine, "rails:") && !text_contains(machine, "cross=spine");
    // A dragonfly route uses one global link, even if two would be shorter.
    return !text_contains(machine, "route=") && !by_nvlink && !text_begins_with(machine, "dragonfly:") &&
           !text_contains(machine, clockwise_ring_text().c_str());
}
bool is_symmetric(const Machine& machine) {
    // Routes in opposite directions use different NVLinks. If one of these is down, the routes can differ in
    // length.
    const bool half_around = text_begins_with(machine, "rails:") && text_contains(machine, "+down:");
    return !text_contains(machine, ">") && !half_around &&
           !text_contains(machine, clockwise_ring_text().c_str());
}
bool splits_traffic(const Machine& machine) {
    return text_contains(machine, "ties=split") || text_contains(machine, "routing=random") ||
           text_contains(machine, "routing=ecmp") || text_begins_with(machine, "rails:") ||
           text_begins_with(machine, "dragonfly") ||
           (text_begins_with(machine, "ring:") && !text_contains(machine, "ties=plus"));
}
bool makes_detours(const Machine& machine) { return text_contains(machine, "routing=valiant"); }
/// The vertex of a node: its router, or itself.
template <class T>
std::uint32_t router_of(const T& topology, Node node) {
    if constexpr (std::is_same_v<T, DegradedTopology>) {
        return std::visit([&](const auto& whole) { return router_of(whole, node); }, topology.intact());
    } else {
        return router_network(topology).vertex(node);
    }
}
/// Shares such as a third do not add up exactly.
bool is_almost_equal(double a, double b) { return std::abs(a - b) < 1e-12; }

using Matrix = std::vector<std::vector<std::uint32_t>>;

template <class T>
Matrix all_hops(const Machine& machine, const T& topology) {
    const auto points = all_points(machine, topology);
    Matrix hops;
    for (const auto& a : points) {
        hops.emplace_back();
        for (const auto& b : points) hops.back().push_back(topology.hops(a, b));
    }
    return hops;
}

bool nodes_forward(const Machine& machine) {
    return !text_contains(machine, "forward=no") && !text_begins_with(machine, "fattree:");
}

/// Numbers of links on shortest routes between the vertices of all nodes, by breadth-first search over the
/// links.
template <class T>
Matrix breadth_first_hops(const Machine& machine, const T& topology) {
    const std::size_t ends_only = nodes_forward(machine) ? 0 : topology.node_count();
    std::vector<std::vector<std::uint32_t>> next(topology.vertex_count());
    for (const Link link : ids<Link>(topology.link_count())) {
        if constexpr (requires { topology.is_up(link); }) {
            if (!topology.is_up(link)) continue;
        }
        next[topology.ends(link).from].push_back(topology.ends(link).to);
    }
    Matrix hops;
    for (const Node a : machine.usable_nodes()) {
        std::vector<std::uint32_t> reached(topology.vertex_count(), ~0U);
        std::vector<std::uint32_t> queue{topology.vertex(a)};
        reached[queue[0]] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i) {
            if (i > 0 && queue[i] < ends_only) continue;
            for (const std::uint32_t v : next[queue[i]]) {
                if (reached[v] != ~0U) continue;
                reached[v] = reached[queue[i]] + 1;
                queue.push_back(v);
            }
        }
        hops.emplace_back();
        for (const Node b : machine.usable_nodes()) hops.back().push_back(reached[topology.vertex(b)]);
    }
    return hops;
}

/// Checks all pairs of nodes that are up.
void for_each_pair(const Machine& machine, const auto& check) {
    const std::vector<Node> nodes = machine.usable_nodes();
    for (const Node a : nodes) {
        for (const Node b : nodes) check(a, b);
    }
}

}  // namespace

TEST_CASE("the shares of a route's links sum to its hops, or to more if it has detours") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        for_each_pair(machine, [&](Node a, Node b) {
            double sum = 0;
            topology.route(a, b, [&](Link link, double share) {
                if (link.value >= topology.link_count() || share <= 0 || share > 1)
                    FAIL_CHECK("a link that is none");
                sum += share;
            });
            const double more = sum - machine.hops(a, b);
            if (!is_almost_equal(more, 0) && !(more > 0 && makes_detours(machine)))
                FAIL_CHECK(a.value, " to ", b.value, ": ", sum);
        });
    });
}

TEST_CASE("routes conserve flow: all traffic that enters a vertex leaves it, except at the two ends") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        for_each_pair(machine, [&](Node a, Node b) {
            std::map<std::uint32_t, double> surplus;
            surplus[topology.vertex(a)] += 1;
            surplus[topology.vertex(b)] -= 1;
            topology.route(a, b, [&](Link link, double share) {
                surplus[topology.ends(link).from] -= share;
                surplus[topology.ends(link).to] += share;
            });
            for (const auto& [vertex, amount] : surplus) {
                if (!is_almost_equal(amount, 0))
                    FAIL_CHECK(a.value, " to ", b.value, " breaks at vertex ", vertex);
            }
        });
    });
}

TEST_CASE("unsplit routes visit their links in order") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        if (splits_traffic(machine)) return;
        for_each_pair(machine, [&](Node a, Node b) {
            std::uint32_t at = topology.vertex(a);
            topology.route(a, b, [&](Link link, double share) {
                if (topology.ends(link).from != at || share != 1)
                    FAIL_CHECK(a.value, " to ", b.value, " at ", at);
                at = topology.ends(link).to;
            });
            if (at != topology.vertex(b)) FAIL_CHECK(a.value, " to ", b.value, " ends at ", at);
        });
    });
}

TEST_CASE("hops equal the length of a shortest route, and given routes are no shorter" *
          doctest::test_suite("threads")) {
    for_each_topology([](const Machine& machine, const auto& topology) {
        const Matrix hops = all_hops(machine, topology);
        const Matrix searched = breadth_first_hops(machine, topology);
        if (has_shortest_routes(machine)) {
            CHECK(hops == searched);
            return;
        }
        for (std::size_t a = 0; a < hops.size(); ++a) {
            for (std::size_t b = 0; b < hops.size(); ++b) CHECK(hops[a][b] >= searched[a][b]);
        }
    });
}

TEST_CASE("only nodes at the same vertex are 0 hops apart") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        for_each_pair(machine, [&](Node a, Node b) {
            const bool together = topology.vertex(a) == topology.vertex(b);
            if ((machine.hops(a, b) == 0) != together) FAIL_CHECK(a.value, " and ", b.value);
        });
    });
}

TEST_CASE("the diameter is the longest route, and the maximum distance that of all pairs") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        std::uint32_t longest = 0;
        std::uint32_t farthest = 0;
        for_each_pair(machine, [&](Node a, Node b) {
            longest = std::max(longest, topology.hops(topology.point(a), topology.point(b)));
            const auto& geometry = topology.geometry();
            farthest = std::max(farthest, geometry.distance(geometry.point(a), geometry.point(b)));
        });
        CHECK(topology.diameter() == longest);
        CHECK(topology.geometry().max_distance() == farthest);
        const bool leaves = machine.usable_nodes().size() > 1;
        CHECK(machine.max_distance() == farthest + (leaves ? 2 * host_hops(topology) : 0));
    });
}

TEST_CASE("a distance is the geometry's distance plus host links, and equals hops without weights") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        const auto& geometry = topology.geometry();
        for_each_pair(machine, [&](Node a, Node b) {
            const std::uint32_t found = machine.distance(machine.slot(a, 0), machine.slot(b, 0));
            const std::uint32_t between = geometry.distance(geometry.point(a), geometry.point(b));
            if (found != between + (a == b ? 0 : 2 * host_hops(topology)))
                FAIL_CHECK(a.value, " to ", b.value, ": ", found);
            if (machine.distances_are_hops() && found != machine.hops(a, b))
                FAIL_CHECK(a.value, " to ", b.value, ": ", found, ", not ", machine.hops(a, b));
        });
    });
}

TEST_CASE("distances are symmetric if links are") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        if (!is_symmetric(machine)) return;
        for_each_pair(machine, [&](Node a, Node b) {
            const auto p = topology.point(a);
            const auto q = topology.point(b);
            if (topology.hops(p, q) != topology.hops(q, p)) FAIL_CHECK("hops ", a.value, " ", b.value);
            const auto& geometry = topology.geometry();
            const auto x = geometry.point(a);
            const auto y = geometry.point(b);
            if (geometry.distance(x, y) != geometry.distance(y, x))
                FAIL_CHECK("distance ", a.value, " ", b.value);
        });
    });
}

TEST_CASE("no detour is shorter than the route itself") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        if (!has_shortest_routes(machine) || !nodes_forward(machine)) return;
        const Matrix hops = all_hops(machine, topology);
        const std::size_t n = hops.size();
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = 0; b < n; ++b) {
                for (std::size_t c = 0; c < n; ++c) {
                    if (hops[a][b] > hops[a][c] + hops[c][b]) FAIL_CHECK(a, " to ", b, " by ", c);
                }
            }
        }
    });
}

TEST_CASE("coordinates lie in the grid and map back to the first node with these coordinates") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        const auto grid = machine.grid();
        CHECK(machine.wraps().size() == grid.size());
        for (const Node node : ids<Node>(machine.node_count())) {
            const auto at = machine.coordinates(node);
            REQUIRE(at.size() == grid.size());
            for (std::size_t d = 0; d < at.size(); ++d) CHECK(at[d] < grid[d]);
            const Node first = machine.node_at(at);
            if (!machine.has_grid()) {  // the grid is a line of all nodes
                CHECK(first == node);
                continue;
            }
            CHECK(first <= node);
            CHECK(router_of(topology, first) == router_of(topology, node));
            CHECK((first.value == 0 || machine.coordinates(Node{first.value - 1}) != at));
        }
    });
}

TEST_CASE("the total distance of a point is the sum of its distances to all given points") {
    Rng rng(5);
    for_each_topology([&](const Machine& machine, const auto& topology) {
        const auto& geometry = topology.geometry();
        for (int round = 0; round < 3; ++round) {
            const auto points = random_subset(all_points(machine, geometry), rng);
            std::vector<std::uint64_t> expected;
            for (const auto& p : points) {
                std::uint64_t sum = 0;
                for (const auto& q : points) sum += geometry.distance(p, q);
                expected.push_back(sum);
            }
            CHECK(geometry.total_distances(points) == expected);
        }
    });
}

TEST_CASE("a DistanceSum adds weighted distances to its points, and its lower bound never exceeds the sum" *
          doctest::test_suite("threads")) {
    Rng rng(6);
    for_each_topology([&](const Machine& machine, const auto& topology) {
        const auto& geometry = topology.geometry();
        const auto points = all_points(machine, geometry);
        for (int round = 0; round < 4; ++round) {
            const auto targets = random_subset(points, rng);
            std::vector<std::uint64_t> weights;
            for (std::size_t i = 0; i < targets.size(); ++i) weights.push_back(rng.below(1000));
            const typename std::remove_cvref_t<decltype(geometry)>::DistanceSum sum(geometry, targets,
                                                                                    weights);
            auto inside = random_subset(points, rng);
            if (round % 2 == 1) {  // neighbors
                const std::size_t first = rng.below(static_cast<std::uint32_t>(points.size()));
                const std::size_t count = 1 + rng.below(static_cast<std::uint32_t>(points.size() - first));
                inside.assign(points.begin() + first, points.begin() + first + count);
            }
            const std::uint64_t bound = sum.bound(geometry.region(inside));
            for (const auto& p : points) {
                std::uint64_t expected = 0;
                for (std::size_t i = 0; i < targets.size(); ++i) {
                    expected += weights[i] * geometry.distance(p, targets[i]);
                }
                if (sum.at(p) != expected) FAIL_CHECK("cost ", sum.at(p), " instead of ", expected);
            }
            for (const auto& p : inside) {
                if (bound > sum.at(p)) FAIL_CHECK("bound ", bound, " above ", sum.at(p));
            }
            const std::vector one{points[rng.below(static_cast<std::uint32_t>(points.size()))]};
            CHECK(sum.bound(geometry.region(one)) <= sum.at(one[0]));
        }
    });
}
