// SPDX-License-Identifier: BSD-3-Clause
// Laws of links: numbered without gaps, each between vertices that the topology joins.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "machine/labeled_fat_tree.hpp"
#include "machine/machine_texts.hpp"
#include "topoloom/machine/topologies/torus_load_differences.hpp"

using namespace topoloom;

namespace {

using Ends = std::map<std::pair<std::uint32_t, std::uint32_t>, int>;

void add_cable(Ends& ends, std::uint32_t a, std::uint32_t b) {
    ++ends[{a, b}];
    ++ends[{b, a}];
}

/// One link in each direction between every router and the next router along every axis.
template <std::size_t Width>
Ends expected_ends(const BasicTorus<Width>& torus) {
    const std::vector<std::uint32_t>& size = torus.spec().size;
    Ends ends;
    for (std::uint32_t router = 0; router < torus.vertex_count(); ++router) {
        std::uint32_t step = static_cast<std::uint32_t>(torus.vertex_count());
        for (std::uint32_t axis = 0; axis < size.size(); ++axis) {
            step /= size[axis];
            const std::uint32_t at = router / step % size[axis];
            const std::uint32_t next = (at + 1) % size[axis];
            if (size[axis] == 1 || (next == 0 && !torus.wraps(axis))) continue;
            add_cable(ends, router, router - at * step + next * step);
        }
    }
    return ends;
}

/// Every group is joined to the one above it.
Ends expected_ends(const Tree& tree) {
    Ends ends;
    std::uint32_t first = 0;
    auto groups = static_cast<std::uint32_t>(tree.node_count());
    for (const std::uint32_t arity : tree.spec().arity) {
        for (std::uint32_t g = 0; g < groups; ++g) add_cable(ends, first + g, first + groups + g / arity);
        first += groups;
        groups /= arity;
    }
    return ends;
}

Ends expected_ends(const FatTree& tree) {
    Ends ends;
    for (const LabeledFatTree::Cable& cable : LabeledFatTree(tree.spec()).cables())
        add_cable(ends, cable.from, cable.to);
    return ends;
}

/// Routers are joined if their coordinates differ on exactly one axis.
template <class Space>
Ends expected_ends(const BasicHyperX<Space>& hyperx) {
    Ends ends;
    for (std::uint32_t a = 0; a < hyperx.vertex_count(); ++a) {
        for (std::uint32_t b = 0; b < a; ++b) {
            int differing = 0;
            std::uint32_t x = a;
            std::uint32_t y = b;
            for (std::size_t axis = hyperx.spec().size.size(); axis-- > 0;) {
                const std::uint32_t extent = hyperx.spec().size[axis];
                differing += x % extent == y % extent ? 0 : 1;
                x /= extent;
                y /= extent;
            }
            if (differing == 1) add_cable(ends, a, b);
        }
    }
    return ends;
}

/// Each station is joined to the next, and the last to the first.
Ends expected_ends(const RingBus& ring) {
    Ends ends;
    const std::uint32_t stations = ring.spec().stations;
    for (std::uint32_t a = 0; a < stations && stations > 1; ++a) add_cable(ends, a, (a + 1) % stations);
    return ends;
}

/// Advances along an axis; wrapping around shifts the other axes by the twist.
void advance_along_axis(const TwistedTorusSpec& spec, std::vector<std::uint32_t>& at, std::size_t axis) {
    if (++at[axis] < spec.size[axis]) return;
    at[axis] = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
        for (std::uint32_t i = 0; i < spec.twist[axis][d]; ++i) advance_along_axis(spec, at, d);
    }
}

Ends expected_ends(const TwistedTorus& torus) {
    const std::vector<std::uint32_t>& size = torus.spec().size;
    Ends ends;
    for (std::uint32_t router = 0; router < torus.vertex_count(); ++router) {
        for (std::size_t axis = 0; axis < size.size(); ++axis) {
            std::vector<std::uint32_t> at(size.size());
            for (std::uint32_t d = static_cast<std::uint32_t>(size.size()), rest = router; d-- > 0;) {
                at[d] = rest % size[d];
                rest /= size[d];
            }
            advance_along_axis(torus.spec(), at, axis);
            std::uint32_t next = 0;
            for (std::size_t d = 0; d < size.size(); ++d) next = next * size[d] + at[d];
            if (next != router) add_cable(ends, router, next);
        }
    }
    return ends;
}

/// Every GPU is joined to the NVSwitch of its domain and to a leaf of its unit, every leaf to all spines.
Ends expected_ends(const RailCluster& cluster) {
    const RailClusterSpec& spec = cluster.spec();
    const std::uint32_t gpus = spec.gpus * spec.domains * spec.units;
    const std::uint32_t leaves = gpus + spec.domains * spec.units;
    const std::uint32_t spines = leaves + spec.units * spec.rails;
    Ends ends;
    for (std::uint32_t unit = 0, gpu = 0; unit < spec.units; ++unit) {
        for (std::uint32_t domain = 0; domain < spec.domains; ++domain) {
            for (std::uint32_t i = 0; i < spec.gpus; ++i, ++gpu) {
                add_cable(ends, gpu, gpus + unit * spec.domains + domain);
                add_cable(ends, gpu, leaves + unit * spec.rails + i % spec.rails);
            }
        }
    }
    for (std::uint32_t leaf = leaves; leaf < spines; ++leaf) {
        for (std::uint32_t spine = 0; spine < *spec.spines; ++spine) add_cable(ends, leaf, spines + spine);
    }
    return ends;
}

/// Port by port: each port leads to a group by the definition of its arrangement.
Ends expected_ends(const Dragonfly& dragonfly) {
    const DragonflySpec& spec = dragonfly.spec();
    const std::uint32_t in_group = spec.rows * spec.columns;
    Ends ends;
    for (std::uint32_t a = 0; a < spec.groups * in_group; ++a) {
        for (std::uint32_t b = a + 1; b < (a / in_group + 1) * in_group; ++b) {
            const bool same_row = a / spec.columns == b / spec.columns;
            if (same_row || a % in_group % spec.columns == b % in_group % spec.columns) add_cable(ends, a, b);
        }
    }
    // The groups to which the ports of group g connect, in port order. A port that would connect to g itself
    // is unused.
    const auto turn = [&](std::uint32_t g) {
        std::vector<std::uint32_t> groups;
        for (std::uint32_t i = 0; i < spec.groups; ++i) {
            if (spec.arrangement == DragonflyArrangement::palmtree) {
                if (i > 0) groups.push_back((g + spec.groups - i) % spec.groups);
            } else if (i != g || spec.arrangement == DragonflyArrangement::direct) {
                groups.push_back(i);
            }
        }
        return groups;
    };
    // The routers of one group that have links to another.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> routers;
    for (std::uint32_t g = 0; g < spec.groups && spec.groups > 1; ++g) {
        const std::vector<std::uint32_t> groups = turn(g);
        for (std::uint32_t port = 0; port < in_group * *spec.global_links; ++port) {
            const bool once = spec.arrangement == DragonflyArrangement::direct;
            const std::size_t rounds = once ? 1 : in_group * *spec.global_links / groups.size();
            if (port / groups.size() == rounds) break;  // left over
            routers[{g, groups[port % groups.size()]}].push_back(g * in_group + port / *spec.global_links);
        }
    }
    for (const auto& [pair, here] : routers) {
        if (pair.first >= pair.second) continue;
        const std::vector<std::uint32_t>& there = routers[{pair.second, pair.first}];
        for (std::size_t k = 0; k < here.size(); ++k) add_cable(ends, here[k], there.at(k));
    }
    return ends;
}

/// Leaves to the spines of their group; then port by port, each to the next group in order.
Ends expected_ends(const DragonflyPlus& network) {
    const DragonflyPlusSpec& spec = network.spec();
    const std::uint32_t leaves = spec.groups * spec.leaves;
    Ends ends;
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
        for (std::uint32_t spine = 0; spine < spec.spines; ++spine)
            add_cable(ends, leaf, leaves + leaf / spec.leaves * spec.spines + spine);
    }
    if (spec.groups == 1) return ends;
    // The spines of one group that have links to another.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> spines;
    for (std::uint32_t g = 0; g < spec.groups; ++g) {
        std::uint32_t other = 0;
        for (std::uint32_t port = 0; port < spec.spines * *spec.global_links; ++port) {
            if (other == g) other = (other + 1) % spec.groups;
            spines[{g, other}].push_back(leaves + g * spec.spines + port / *spec.global_links);
            other = (other + 1) % spec.groups;
        }
    }
    for (const auto& [pair, here] : spines) {
        const std::uint32_t used = spec.spines * *spec.global_links / (spec.groups - 1);
        for (std::size_t k = 0; k < used && pair.first < pair.second; ++k)
            add_cable(ends, here.at(k), spines[{pair.second, pair.first}].at(k));
    }
    return ends;
}

Ends expected_ends(const ExplicitGraph& graph) {
    Ends ends;
    for (const ExplicitLink& link : graph.spec().links) ++ends[{link.from, link.to}];
    return ends;
}

/// Links between the routers, and one link in each direction between every node and its router.
template <class Base>
Ends expected_ends(const Hosted<Base>& hosted) {
    const Base& routers = hosted.router_network();
    Ends ends = expected_ends(routers);
    if (!hosted.has_host_links()) return ends;
    for (const Node node : ids<Node>(hosted.node_count()))
        add_cable(ends, static_cast<std::uint32_t>(routers.vertex_count()) + node.value,
                  routers.vertex(node));
    return ends;
}

Ends expected_ends(const DegradedTopology& degraded) {
    return std::visit([](const auto& whole) { return expected_ends(whole); }, degraded.intact());
}

}  // namespace

TEST_CASE("links join exactly the neighboring vertices") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        Ends found;
        for (const Link link : ids<Link>(machine.link_count())) {
            const LinkEnds ends = topology.ends(link);
            CHECK(ends.from < topology.vertex_count());
            CHECK(ends.to < topology.vertex_count());
            ++found[{ends.from, ends.to}];
        }
        CHECK(found == expected_ends(topology));
    });
}

TEST_CASE("every link has a positive bandwidth, a nonnegative latency and a unique name") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        std::set<std::string> names;
        for (const Link link : ids<Link>(machine.link_count())) {
            CHECK(topology.bandwidth(link).value > 0);
            CHECK(topology.latency(link).value >= 0);
            names.insert(topology.link_name(link));
        }
        CHECK(names.size() == machine.link_count());
    });
}

TEST_CASE("ranges of links with equal bandwidth cover each link once") {
    for_each_topology([](const Machine& machine, const auto& topology) {
        std::vector<int> covered(machine.link_count(), 0);
        for (const LinkRun& run : topology.bandwidth_runs()) {
            for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i) {
                REQUIRE(i < covered.size());
                ++covered[i];
                CHECK(run.bandwidth == topology.bandwidth(Link{i}));
            }
        }
        CHECK(std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; }));
    });
}

TEST_CASE("adding messages to loads equals walking their routes") {
    Rng rng(7);
    for_each_topology([&](const Machine& machine, const auto& whole) {
        const auto& topology = router_network(whole);
        using T = std::remove_cvref_t<decltype(topology)>;
        if constexpr (requires { typename T::template LoadDifferences<void (*)(std::size_t, double)>; }) {
            std::vector<double> routed(topology.link_count(), 0.0);
            std::vector<double> deposited(topology.link_count(), 0.0);
            const auto nodes = static_cast<std::uint32_t>(machine.node_count());
            const auto add = [&](std::size_t link, double amount) { deposited[link] += amount; };
            {
                typename T::template LoadDifferences<decltype(add)> deposits(topology, add);
                for (int sender = 0; sender < 50; ++sender) {
                    const Node a{rng.below(nodes)};
                    deposits.set_source(topology.point(a));
                    for (int message = 0; message < 10; ++message) {
                        const Node b{rng.below(nodes)};
                        const double bytes = rng.below(1U << 30);
                        topology.route(a, b,
                                       [&](Link link, double share) { routed[link.value] += bytes * share; });
                        deposits.add_message_to(topology.point(b), bytes);
                    }
                }
            }
            topology.convert_sums(deposited);
            CHECK(deposited == routed);
        }
    });
}
