// SPDX-License-Identifier: BSD-3-Clause
// Fat trees are wired and routed as Zahavi defines them, and their loads match the definition.
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "machine/labeled_fat_tree.hpp"
#include "machine/machine_queries.hpp"
#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

const std::vector<std::string> fat_trees{
    "fattree:7",
    "fattree:4:4:4",
    "fattree:3:3:3",
    "fattree:8:4,up=1:2",
    "fattree:6:4:3,up=1:3:2",
    "fattree:4:6,up=1:2,parallel=1:2",
    "fattree:4:2:4,up=2:2:4,parallel=1:3:2",
    "fattree:5:1:3,up=2:3:1,parallel=2:1:3",
    "fattree:2:3:2:2,up=2:2:1:3,parallel=2:3:4:2",
};

FatTree get_fat_tree(const std::string& text) { return std::get<FatTree>(make_machine(text).topology()); }

using Cable = LabeledFatTree::Cable;

/// Names of parallel links end with the number of the cable.
Cable cable_of(const FatTree& tree, Link link) {
    const std::string name = tree.link_name(link);
    const std::size_t number = name.find(", cable ");
    return {tree.ends(link).from, tree.ends(link).to,
            number == name.npos ? 0 : static_cast<std::uint32_t>(std::stoul(name.substr(number + 8)))};
}

std::vector<Cable> find_route_cables(const FatTree& tree, Node a, Node b) {
    std::vector<Cable> route;
    tree.route(a, b, [&](Link link, double share) {
        CHECK(share == 1);
        route.push_back(cable_of(tree, link));
    });
    return route;
}

/// Messages between all pairs of different nodes, by link.
std::vector<double> compute_alltoall_loads(const FatTree& tree) {
    std::vector<double> load(tree.link_count(), 0);
    for (const Node a : ids<Node>(tree.node_count())) {
        for (const Node b : ids<Node>(tree.node_count()))
            tree.route(a, b, [&](Link link, double share) { load[link.value] += share; });
    }
    return load;
}

}  // namespace

TEST_CASE("k-ary n-trees have k^n nodes and n k^(n-1) switches of k ports in each direction") {
    const auto counts = [](const std::string& text) {
        const FatTree tree = get_fat_tree(text);
        return std::pair(tree.node_count(), tree.vertex_count() - tree.node_count());
    };
    CHECK(counts("fattree:4:4:4") == std::pair<std::size_t, std::size_t>{64, 48});
    CHECK(counts("fattree:4:4:4:4") == std::pair<std::size_t, std::size_t>{256, 256});
    CHECK(counts("fattree:16:16") == std::pair<std::size_t, std::size_t>{256, 32});
}

TEST_CASE("a k-ary n-tree joins switches whose words agree in all but one digit") {
    // Switch (w, l), w in {0..k-1}^(n-1), is joined to (w', l + 1) if w and w' agree in all digits except
    // n-2-l. Node p is attached to switch (p without its last digit, 0).
    const std::uint32_t k = 3;
    const FatTree tree = get_fat_tree("fattree:3:3:3");
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> joined;
    for (const Link link : ids<Link>(tree.link_count())) ++joined[{tree.ends(link).from, tree.ends(link).to}];
    const std::uint32_t nodes = 27;
    for (std::uint32_t p = 0; p < nodes; ++p) CHECK(joined[{p, nodes + p / k}] == 1);
    // Linked switches of levels 0 and 1 have words that agree except in digit 1, those of levels 1 and 2
    // except in digit 0.
    std::vector<std::vector<std::uint32_t>> place(3, std::vector<std::uint32_t>(9));
    for (std::uint32_t w = 0; w < 9; ++w) {
        const std::uint32_t w0 = w / k;
        const std::uint32_t w1 = w % k;
        place[0][w] = w0 * k + w1;  // the leaf switch of the nodes with digits w0 w1 *
        place[1][w] = w0 * k + w1;  // root w1 of the subtree w0
        place[2][w] = w1 + k * w0;  // root of the tree
    }
    for (std::uint32_t l = 0; l < 2; ++l) {
        for (std::uint32_t w = 0; w < 9; ++w) {
            for (std::uint32_t v = 0; v < 9; ++v) {
                const bool agree = l == 0 ? w / k == v / k : w % k == v % k;
                const std::uint32_t low = nodes + 9 * l + place[l][w];
                const std::uint32_t high = nodes + 9 * (l + 1) + place[l + 1][v];
                CHECK(joined.contains({low, high}) == agree);
                CHECK(joined.contains({high, low}) == agree);
            }
        }
    }
}

TEST_CASE("routes by target, by source and of SimGrid equal those computed from labels of vertices") {
    for (const std::string& text : fat_trees) {
        CAPTURE(text);
        const FatTree by_target = get_fat_tree(text);
        const FatTree by_source = get_fat_tree(text + ",routing=s-mod-k");
        const FatTree simgrid = get_fat_tree(text + ",routing=simgrid");
        const LabeledFatTree labels(by_target.spec());
        CHECK(by_target.vertex_count() == labels.vertex_count());
        for (const Node a : ids<Node>(by_target.node_count())) {
            for (const Node b : ids<Node>(by_target.node_count())) {
                if (find_route_cables(by_target, a, b) != labels.route(a.value, b.value, b.value))
                    FAIL_CHECK(a.value, " to ", b.value, " by target");
                if (find_route_cables(by_source, a, b) != labels.route(a.value, b.value, a.value))
                    FAIL_CHECK(a.value, " to ", b.value, " by source");
                if (find_route_cables(simgrid, a, b) != labels.simgrid_route(a.value, b.value))
                    FAIL_CHECK(a.value, " to ", b.value, " by SimGrid");
            }
        }
    }
}

TEST_CASE("loads of alltoall equal those of routes computed from labels") {
    for (const std::string& text : fat_trees) {
        CAPTURE(text);
        const FatTree tree = get_fat_tree(text);
        const LabeledFatTree labels(tree.spec());
        std::map<Cable, double> expected;
        const auto nodes = static_cast<std::uint32_t>(tree.node_count());
        for (std::uint32_t a = 0; a < nodes; ++a) {
            for (std::uint32_t b = 0; b < nodes; ++b) {
                for (const Cable& cable : labels.route(a, b, b)) ++expected[cable];
            }
        }
        const std::vector<double> load = compute_alltoall_loads(tree);
        for (const Link link : ids<Link>(tree.link_count()))
            if (load[link.value] != expected[cable_of(tree, link)]) FAIL_CHECK(tree.link_name(link));
    }
}

TEST_CASE("alltoall on a k-ary n-tree puts N - k^l messages on every link above level l") {
    for (const std::string text :
         {"fattree:4:4:4", "fattree:4:4:4,routing=s-mod-k", "fattree:4:4:4,routing=random"}) {
        CAPTURE(text);
        const FatTree tree = get_fat_tree(text);
        const std::vector<double> load = compute_alltoall_loads(tree);
        std::size_t size = 1;
        for (const LinkRun& level : tree.bandwidth_runs()) {
            CHECK(level.count == 128);
            for (std::size_t i = level.first.value; i < level.first.value + level.count; ++i)
                CHECK(load[i] == 64 - size);
            size *= 4;
        }
    }
}

TEST_CASE("random routing splits traffic out of a subtree equally over the cables above it") {
    for (const std::string& text : fat_trees) {
        CAPTURE(text);
        const FatTree tree = get_fat_tree(text + ",routing=random");
        const FatTreeSpec& spec = tree.spec();
        const std::vector<double> load = compute_alltoall_loads(tree);
        std::size_t below = 1;
        std::size_t roots = 1;
        std::size_t level = 0;
        for (const LinkRun& run : tree.bandwidth_runs()) {
            roots *= spec.up[level];
            const std::size_t cables = roots * spec.parallel[level];
            const double each =
                static_cast<double>(below * (tree.node_count() - below)) / static_cast<double>(cables);
            CHECK(run.count == 2 * tree.node_count() / below * cables);
            for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i)
                CHECK(load[i] == doctest::Approx(each));
            below *= spec.arity[level++];
        }
    }
}

TEST_CASE("adding messages to loads equals walking their routes") {
    for (const std::string& text : fat_trees) {
        for (const std::string routing : {"d-mod-k", "random", "simgrid"}) {
            CAPTURE(text);
            CAPTURE(routing);
            const FatTree tree = get_fat_tree(text + ",routing=" + routing);
            std::vector<double> load(tree.link_count(), 0);
            for (const Node a : ids<Node>(tree.node_count())) {
                for (const Node b : ids<Node>(tree.node_count()))
                    tree.visit_sum_links(a, b, [&](Link link, double) { load[link.value] += 1; });
            }
            tree.convert_sums(load);
            const std::vector<double> routed = compute_alltoall_loads(tree);
            for (const Link link : ids<Link>(tree.link_count()))
                CHECK(load[link.value] == doctest::Approx(routed[link.value]));
        }
    }
}

TEST_CASE("the average distance counts two links for every level that a pair ascends") {
    // Of the 63 other nodes 3 are 2 hops away, 12 are 4 and 48 are 6.
    CHECK(make_machine("fattree:4:4:4").average_distance() ==
          doctest::Approx((3 * 2 + 12 * 4 + 48 * 6) / 63.0));
    CHECK(get_fat_tree("fattree:4:4:4").diameter() == 6);
    CHECK(get_fat_tree("fattree:4:4:1").diameter() == 4);
}

TEST_CASE("link names contain the switches at both ends, and the cable if there are several") {
    const FatTree tree = get_fat_tree("fattree:2:2:2,up=1:2:2,parallel=1:1:2");
    std::vector<std::string> names;
    tree.route(Node{0}, Node{6}, [&](Link link, double) { names.push_back(tree.link_name(link)); });
    CHECK(names ==
          std::vector<std::string>{"node 0 to level 1 switch 0", "level 1 switch 0 to level 2 switch 0",
                                   "level 2 switch 0 to level 3 switch 2, cable 1",
                                   "level 3 switch 2 to level 2 switch 2, cable 1",
                                   "level 2 switch 2 to level 1 switch 3", "level 1 switch 3 to node 6"});
}

TEST_CASE("cables have the bandwidth and latency of their level") {
    const FatTree tree = get_fat_tree("fattree:2:3,bandwidth=1GB/s:250MB/s,latency=1us:3us");
    std::vector<double> rates;
    std::vector<double> times;
    tree.route(Node{0}, Node{5}, [&](Link link, double) {
        rates.push_back(tree.bandwidth(link).value);
        times.push_back(tree.latency(link).value);
    });
    CHECK(rates == std::vector<double>{1e9, 2.5e8, 2.5e8, 1e9});
    CHECK(times == std::vector<double>{1e-6, 3e-6, 3e-6, 1e-6});
}

TEST_CASE("the description of a fat tree has its structure and routing") {
    CHECK(make_machine("fattree:4:4:4").describe() == "fat tree 4:4:4, up 1:4:4, d-mod-k routing");
    CHECK(make_machine("fattree:18:36,up=1:9,parallel=1:2,routing=random").describe() ==
          "fat tree 18:36, up 1:9, parallel 1:2, random routing");
    CHECK(make_machine("fattree:4:4,routing=s-mod-k").describe() == "fat tree 4:4, up 1:4, s-mod-k routing");
}

TEST_CASE("invalid fat trees are refused") {
    CHECK(error_message_of("fattree:") ==
          "cannot read machine 'fattree:': expected numbers separated by ':' at column 9");
    CHECK(error_message_of("fattree:4:x") ==
          "cannot read machine 'fattree:4:x': expected a number at column 11");
    CHECK(error_message_of("fattree:4:4,up=1") ==
          "machine 'fattree:4:4,up=1': a fat tree of 2 levels needs 2 entries of up, not 1");
    CHECK(error_message_of("fattree:4:4,parallel=1:2:3") ==
          "machine 'fattree:4:4,parallel=1:2:3': a fat tree of 2 levels needs 2 entries of parallel, not 3");
    CHECK(error_message_of("fattree:4:4,up=1:0") ==
          "machine 'fattree:4:4,up=1:0': level 2 of a fat tree has 0 parents; give at least 1");
    CHECK(error_message_of("fattree:4:4,parallel=0:1") ==
          "machine 'fattree:4:4,parallel=0:1': level 1 of a fat tree has 0 parallel cables; give at least 1");
    CHECK(error_message_of("fattree:4:0") ==
          "machine 'fattree:4:0': level 2 has arity 0; a group has at least one member");
    CHECK(error_message_of("fattree:4:4,routing=d-mod") ==
          "cannot read machine 'fattree:4:4,routing=d-mod': expected d-mod-k, s-mod-k, random or "
          "simgrid at column 21");
    CHECK(error_message_of("fattree:4:4,roots=2")
              .find("no option of fattree 'roots'; there are: up, parallel") != std::string::npos);
    CHECK(error_message_of("fattree:4:4,bandwidth=1GB/s:2GB/s:3GB/s")
              .find("needs 2 entries of bandwidth, not 3") != std::string::npos);
}

TEST_CASE("fat trees with more links, switches or levels than ids are refused before memory is allocated") {
    CHECK(error_message_of("fattree:60000:35000")
              .find("fattree:60000:35000': the fat tree has more than 2^32 - 1 links") != std::string::npos);
    CHECK(error_message_of("fattree:2:2:2,up=4000000000:4000000000:4000000000").find("2^32 - 1 links") !=
          std::string::npos);
    CHECK(error_message_of("fattree:2:2,parallel=4294967295:4294967295").find("2^32 - 1 links") !=
          std::string::npos);
    CHECK(error_message_of("fattree:65536:65536").find("the levels have more than 2^31 members") !=
          std::string::npos);
    std::string many = "fattree:1";
    for (int level = 1; level < 33; ++level) many += ":1";
    CHECK(error_message_of(many).find("a fat tree has at most 32 levels, not 33") != std::string::npos);
}

TEST_CASE("the largest fat trees behave like small ones") {
    // 2^30 nodes in a tree of 2^10 x 2^20; checks routes of the highest ids.
    const FatTree tree = get_fat_tree("fattree:1024:1048576,up=1:1");
    const Node last{tree.node_count() - 1};
    std::vector<LinkEnds> route;
    tree.route(Node{0}, last, [&](Link link, double) { route.push_back(tree.ends(link)); });
    const std::uint32_t nodes = 1U << 30;
    CHECK(route == std::vector<LinkEnds>{{0, nodes},
                                         {nodes, nodes + (1U << 20)},
                                         {nodes + (1U << 20), nodes + (1U << 20) - 1},
                                         {nodes + (1U << 20) - 1, nodes - 1}});
}
