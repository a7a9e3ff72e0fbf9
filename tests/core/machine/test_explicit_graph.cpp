// SPDX-License-Identifier: BSD-3-Clause
// Machines given as lists of links: routes, switches, one-way links, and invalid graphs.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

std::vector<std::uint32_t> route_vertices(const Machine& machine, Node a, Node b) {
    return with_topology(machine, [&](const auto& t) {
        std::vector<std::uint32_t> visited{t.vertex(a)};
        t.route(a, b, [&](Link link, double) { visited.push_back(t.ends(link).to); });
        return visited;
    });
}

using Stops = std::vector<std::uint32_t>;
using SharePerLink = std::map<std::uint32_t, double>;

/// Reference for routing=ecmp, path by path: incoming traffic of a vertex is split over the links that lead
/// nearer to the target.
template <class T>
class ReferenceShares {
   public:
    ReferenceShares(const T& topology, std::uint32_t end)
        : topology_(topology), hops_(topology.vertex_count(), far) {
        hops_[end] = 0;
        for (std::size_t round = 0; round < topology.vertex_count(); ++round) {
            for (const Link link : ids<Link>(topology.link_count())) {
                if (!is_up(topology, link)) continue;
                const auto [from, to] = topology.ends(link);
                if (to == end || forwards(topology, to))
                    hops_[from] = std::min(hops_[from], hops_[to] + (hops_[to] == far ? 0 : 1));
            }
        }
    }
    SharePerLink from(std::uint32_t start) {
        shares_.clear();
        split_traffic(start, 1);
        return shares_;
    }

   private:
    static constexpr std::uint32_t far = ~0U;

    static bool forwards(const ExplicitGraph& graph, std::uint32_t v) { return graph.forwards(v); }
    static bool forwards(const DegradedTopology& degraded, std::uint32_t v) {
        return std::get<ExplicitGraph>(degraded.intact()).forwards(v);
    }
    void split_traffic(std::uint32_t at, double amount) {
        if (hops_[at] == 0) return;
        std::vector<Link> nearer;
        double bandwidth = 0;
        for (const Link link : ids<Link>(topology_.link_count())) {
            const auto [from, to] = topology_.ends(link);
            if (from != at || hops_[to] + 1 != hops_[at] || !is_up(topology_, link)) continue;
            if (hops_[to] > 0 && !forwards(topology_, to)) continue;
            nearer.push_back(link);
            bandwidth += topology_.bandwidth(link).value;
        }
        for (const Link link : nearer) {
            const double part = amount * topology_.bandwidth(link).value / bandwidth;
            shares_[link.value] += part;
            split_traffic(topology_.ends(link).to, part);
        }
    }

    const T& topology_;
    std::vector<std::uint32_t> hops_;
    SharePerLink shares_;
};

/// Whether the text gives the route of a message.
bool is_route_in_text(const Machine& machine, Node a, Node b) {
    return machine.text().find("route=0>3>2>1") != std::string::npos && a == Node{0} && b == Node{1};
}

}  // namespace

TEST_CASE("a ring of nodes routes in the shorter direction, on ties to the lower neighbor") {
    const Machine machine = make_machine("graph:4:0-1,1-2,2-3,3-0");
    CHECK(route_vertices(machine, Node{0}, Node{3}) == Stops{0, 3});
    CHECK(route_vertices(machine, Node{0}, Node{2}) == Stops{0, 1, 2});
    CHECK(route_vertices(machine, Node{3}, Node{1}) == Stops{3, 0, 1});
}

TEST_CASE("nodes on a switch are two links apart") {
    const Machine machine = make_machine("graph:3+1:0-3,1-3,2-3");
    CHECK(machine.node_count() == 3);
    CHECK(machine.link_count() == 6);
    CHECK(machine.hops(Node{0}, Node{2}) == 2);
    CHECK(route_vertices(machine, Node{0}, Node{2}) == Stops{0, 3, 2});
}

TEST_CASE("one-way links make the route back longer") {
    const Machine machine = make_machine("graph:4:0>1,1>2,2>3,3>0");
    CHECK(machine.hops(Node{0}, Node{1}) == 1);
    CHECK(machine.hops(Node{1}, Node{0}) == 3);
}

TEST_CASE("given routes are used, and other pairs use a shortest route") {
    const Machine machine = make_machine("graph:4:0-1,1-2,2-3,3-0,route=0>3>2>1");
    CHECK(route_vertices(machine, Node{0}, Node{1}) == Stops{0, 3, 2, 1});
    CHECK(machine.hops(Node{0}, Node{1}) == 3);
    CHECK(machine.max_distance() == 3);
    CHECK(route_vertices(machine, Node{1}, Node{0}) == Stops{1, 0});
}

TEST_CASE("with ECMP traffic is split over all shortest routes hop by hop, also around failures") {
    const auto is_split_by_ecmp = [](const std::string& text) {
        return text.find("routing=ecmp") != std::string::npos && text.find("table=") == std::string::npos;
    };
    std::ptrdiff_t graphs = 0;
    for_each_topology([&]<class T>(const Machine& machine, const T& topology) {
        if constexpr (std::is_same_v<T, ExplicitGraph> || std::is_same_v<T, DegradedTopology>) {
            if (!is_split_by_ecmp(machine.text())) return;
            ++graphs;
            for (const Node b : machine.usable_nodes()) {
                ReferenceShares expected(topology, topology.vertex(b));
                for (const Node a : machine.usable_nodes()) {
                    if (is_route_in_text(machine, a, b)) continue;
                    SharePerLink shares;
                    topology.route(a, b, [&](Link link, double share) {
                        CHECK(shares.emplace(link.value, share).second);
                    });
                    const SharePerLink slow = expected.from(topology.vertex(a));
                    REQUIRE(shares.size() == slow.size());
                    for (const auto& [link, share] : slow)
                        CHECK(shares[link] == doctest::Approx(share).epsilon(1e-12));
                }
            }
        }
    });
    REQUIRE(graphs > 0);
    CHECK(graphs == std::ranges::count_if(machine_texts(), is_split_by_ecmp));
}

TEST_CASE("a link that represents two cables gets two shares of the traffic of an ECMP route") {
    const Machine machine = make_machine("graph:2+4:0-2,1-3,2-4@2B/s,3-4@2B/s,2-5,3-5,routing=ecmp");
    std::map<std::string, double> shares;
    with_topology(machine, [&](const auto& t) {
        t.route(Node{0}, Node{1}, [&](Link link, double share) { shares[t.link_name(link)] = share; });
    });
    CHECK(shares["node 0 -> switch 2"] == 1);
    CHECK(shares["switch 2 -> switch 4"] == doctest::Approx(2.0 / 3));
    CHECK(shares["switch 5 -> switch 3"] == doctest::Approx(1.0 / 3));
}

TEST_CASE("visiting a route during the visit of another one does not change either") {
    const Machine machine = make_machine(random_graph(12, 9, 4) + ",routing=ecmp");
    with_topology(machine, [&](const auto& t) {
        SharePerLink alone;
        SharePerLink within;
        t.route(Node{3}, Node{9}, [&](Link link, double share) { alone[link.value] = share; });
        t.route(Node{3}, Node{9}, [&](Link link, double share) {
            within[link.value] = share;
            t.route(Node{9}, Node{3}, [](Link, double) {});
        });
        CHECK(alone == within);
    });
}

TEST_CASE("routes avoid nodes that do not forward") {
    // Two joined switches have a node on both: the path through that node would be no longer.
    const std::string text = "graph:3+3:0-3,0-5,1-3,2-5,3-4,4-5";
    CHECK(route_vertices(make_machine(text), Node{1}, Node{2}) == Stops{1, 3, 0, 5, 2});
    CHECK(route_vertices(make_machine(text + ",forward=no"), Node{1}, Node{2}) == Stops{1, 3, 4, 5, 2});
    CHECK(route_vertices(make_machine(text + ",forward=no"), Node{1}, Node{0}) == Stops{1, 3, 0});
}

TEST_CASE("links are named by their endpoints") {
    const Machine machine = make_machine("graph:2+1:0-2,1-2");
    std::vector<std::string> names;
    with_topology(machine, [&](const auto& t) {
        t.route(Node{0}, Node{1}, [&](Link link, double) { names.push_back(t.link_name(link)); });
    });
    CHECK(names == std::vector<std::string>{"node 0 -> switch 2", "switch 2 -> node 1"});
}

TEST_CASE("invalid graphs are refused with the reason") {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"graph:0", "a machine graph needs at least one node"},
        {"graph:2", "the machine is disconnected: node 1 has no route to node 0; add links between them"},
        {"graph:4:0-1,2-3",
         "the machine is disconnected: node 2 has no route to node 0; add links between them"},
        {"graph:2:0>1", "the machine is disconnected: node 1 has no route to node 0; add links between them"},
        // Refused before a table of 8 GiB is allocated.
        {"graph:65536:0-1",
         "the machine is disconnected: node 2 has no route to node 0; add links between them"},
        {"graph:3:0-1,1-2,forward=no",
         "the machine is disconnected: node 2 has no route to node 0; add links between them"},
        {"graph:2:0-2", "link 0-2 names vertex 2, but there are only 2"},
        {"graph:2:0-1,1-1", "link 1-1 joins a vertex to itself"},
        {"graph:2:0-1,1-0", "the link from 0 to 1 is given twice; give one with the sum of their bandwidths"},
        {"graph:3:0-1,1-2,route=0>2", "a route goes from vertex 0 to 2, but there is no such link"},
        {"graph:3:0-1,1-2,route=0>7>2", "a route goes from vertex 0 to 7, but there is no such link"},
        {"graph:3:0-1,1-2,route=0", "a route lists the vertices from one node to another node"},
        {"graph:2+1:0-2,1-2,route=0>2", "a route lists the vertices from one node to another node"},
        {"graph:3:0-1,1-2,route=0>1>0>1>2", "the route from node 0 to node 2 passes vertex 0 twice"},
        {"graph:3:0-1,1-2,route=0>1,route=0>1", "the route from node 0 to node 1 is given twice"},
        // Refused before gigabytes are allocated for the routes.
        {"graph:2+2000000000:0-1",
         "the machine graph has 2000000000 switches, more than its 2 links can join; "
         "leave out switches without a link"},
        {"graph:2+4294967295:0-1", "the machine graph has more than 2^31 vertices"},
    };
    for (const auto& [text, reason] : bad) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(make_machine(text), ("machine '" + text + "': " + reason).c_str(), Error);
    }
}

TEST_CASE("distances that do not fit in memory are refused before work starts") {
    CHECK_THROWS_WITH_AS(make_machine("graph:2000000000:0-1"),
                         doctest::Contains("Describe the machine as a torus"), Error);
}

TEST_CASE("distances of more than 16 bits are refused") {
    ExplicitGraphSpec spec;
    spec.nodes = 1;
    spec.switches = 65600;
    for (std::uint32_t v = 0; v < spec.switches; ++v) {
        spec.links.push_back({v, v + 1});
        spec.links.push_back({v + 1, v});
    }
    CHECK_THROWS_WITH_AS(ExplicitGraph(std::move(spec)), "the machine graph has distances above 65534",
                         Error);
}
