// SPDX-License-Identifier: BSD-3-Clause
// Dragonflies: published counts, closed forms, and routes found by exhaustive search.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

/// The topology of the routers.
const Dragonfly& get_dragonfly(const Machine& machine) {
    return std::get<Hosted<Dragonfly>>(machine.topology()).router_network();
}

using Loads = std::map<Link, double>;

Loads compute_route_loads(const auto& routes, Node a, Node b) {
    Loads loads;
    routes.route(a, b, [&](Link link, double share) { loads[link] += share; });
    return loads;
}

/// Bytes on every link if each node sends one byte to every other node.
std::vector<double> compute_alltoall_loads(const Machine& machine) {
    std::vector<double> loads(get_dragonfly(machine).link_count(), 0);
    for (const Node a : ids<Node>(machine.node_count())) {
        for (const Node b : ids<Node>(machine.node_count())) {
            get_dragonfly(machine).route(a, b, [&](Link link, double share) { loads[link.value] += share; });
        }
    }
    return loads;
}

bool is_global(const Dragonfly& d, Link link) {
    const std::uint32_t in_group = d.spec().rows * d.spec().columns;
    return d.ends(link).from / in_group != d.ends(link).to / in_group;
}

/// Reference: the wiring by its definition, with routes found by trying every link.
class ExhaustiveRoutes {
   public:
    explicit ExhaustiveRoutes(const Dragonfly& d) : d_(d), in_group_(d.spec().rows * d.spec().columns) {
        for (const Link link : ids<Link>(d.link_count())) {
            const LinkEnds ends = d.ends(link);
            links_[{ends.from, ends.to}].push_back(link);
            if (is_global(d, link)) global_.push_back(link);
        }
    }

    std::vector<Link> find_local_route(std::uint32_t from, std::uint32_t to) const {
        if (from == to) return {};
        if (const auto at = links_.find({from, to}); at != links_.end()) return {at->second.at(0)};
        const std::uint32_t columns = d_.spec().columns;
        const std::uint32_t corner = from / columns * columns + to % columns;  // along the row first
        return {links_.at({from, corner}).at(0), links_.at({corner, to}).at(0)};
    }

    using Ways = std::vector<std::vector<Link>>;

    /// All shortest routes over one global link, into the group of `to` or to `to` itself.
    Ways find_minimal_routes(std::uint32_t from, std::uint32_t to, bool as_far_as_router) const {
        if (from / in_group_ == to / in_group_) return {find_local_route(from, to)};
        Ways ways;
        for (const Link link : global_) {
            const LinkEnds ends = d_.ends(link);
            if (ends.from / in_group_ != from / in_group_ || ends.to / in_group_ != to / in_group_) continue;
            std::vector<Link> way = find_local_route(from, ends.from);
            way.push_back(link);
            if (as_far_as_router) {
                for (const Link more : find_local_route(ends.to, to)) way.push_back(more);
            }
            ways.push_back(way);
        }
        const std::size_t least = std::ranges::min(ways, {}, &std::vector<Link>::size).size();
        std::erase_if(ways, [&](const auto& way) { return way.size() > least; });
        return ways;
    }

    Loads compute_minimal_loads(std::uint32_t from, std::uint32_t to) const {
        Loads loads;
        add_loads(loads, find_minimal_routes(from, to, true), 1);
        return loads;
    }

    Loads compute_valiant_loads(std::uint32_t from, std::uint32_t to) const {
        std::vector<std::uint32_t> groups;
        for (std::uint32_t g = 0; g < d_.spec().groups; ++g) {
            if (g != from / in_group_ && g != to / in_group_) groups.push_back(g);
        }
        if (from / in_group_ == to / in_group_ || groups.empty()) return compute_minimal_loads(from, to);
        Loads loads;
        for (const std::uint32_t g : groups) {
            const Ways first = find_minimal_routes(from, g * in_group_, false);
            for (const std::vector<Link>& way : first) {
                const double share = 1.0 / static_cast<double>(groups.size() * first.size());
                for (const Link link : way) loads[link] += share;
                add_loads(loads, find_minimal_routes(d_.ends(way.back()).to, to, true), share);
            }
        }
        return loads;
    }

   private:
    static void add_loads(Loads& loads, const Ways& ways, double share) {
        for (const std::vector<Link>& way : ways) {
            for (const Link link : way) loads[link] += share / static_cast<double>(ways.size());
        }
    }

    const Dragonfly& d_;
    std::uint32_t in_group_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Link>> links_;
    std::vector<Link> global_;
};

void check_near(const Loads& found, const Loads& expected) {
    REQUIRE(found.size() == expected.size());
    for (const auto& [link, load] : expected) {
        REQUIRE(found.contains(link));
        CHECK(found.at(link) == doctest::Approx(load));
    }
}

const std::vector<std::string> shapes{
    "9x4,global=2",  // canonical: one link between two groups
    "9x4,global=2,arrangement=palmtree",
    "4x4,global=4",                       // five links between two groups, one port left over
    "3x4,global=5,arrangement=palmtree",  // ten links between two groups, two of them at the same router
    "2x3,global=1",
    "4x2x3",  // routers in two dimensions; two global links between two groups
    "3x3x4,global=2,arrangement=palmtree",
    "5x2x7,arrangement=direct",
    "2x5x14",  // 70 links: too many for the bits of a 64-bit word
    "4x1",
    "1x3x3",
};

}  // namespace

TEST_CASE("a canonical dragonfly has the published counts") {
    // Kim et al. 2008: h global links per router, p = h nodes, a = 2h routers, a h + 1 groups.
    for (const std::uint32_t h : {1U, 2U, 3U}) {
        CAPTURE(h);
        const std::uint32_t a = 2 * h;
        const std::uint32_t groups = a * h + 1;
        const Machine machine = make_machine("dragonfly:" + std::to_string(groups) + "x" + std::to_string(a) +
                                             ",nodes=" + std::to_string(h));
        const Dragonfly& d = get_dragonfly(machine);
        CHECK(*d.spec().global_links == h);
        CHECK(d.links_between_groups() == 1);
        CHECK(machine.node_count() == h * a * groups);
        CHECK(d.link_count() == groups * a * (a - 1) + groups * a * h);
        CHECK(d.diameter() == 3);
        CHECK(machine.link_count() == d.link_count() + 2 * machine.node_count());
        CHECK(machine.max_distance() == 5);
    }
    CHECK(make_machine("dragonfly:33x8,nodes=4").node_count() == 1056);     // h = 4
    CHECK(make_machine("dragonfly:129x16,nodes=8").node_count() == 16512);  // h = 8
}

TEST_CASE("minimal routes of alltoall give the published loads on a canonical dragonfly") {
    for (const char* arrangement : {"consecutive", "palmtree"}) {
        const double h = 2;
        const double a = 4;
        const Machine machine = make_machine(std::string("dragonfly:9x4,nodes=2,arrangement=") + arrangement);
        const std::vector<double> loads = compute_alltoall_loads(machine);
        for (const Link link : ids<Link>(loads.size())) {
            // A global link carries the messages between all pairs of nodes of two groups. A local link joins
            // two routers with p = h nodes each. It carries messages between these nodes, to the h groups of
            // the second router, and from the h groups of the first.
            const double expected =
                is_global(get_dragonfly(machine), link) ? a * h * a * h : h * h + 2 * h * (h * a * h);
            CHECK(loads[link.value] == expected);
        }
    }
}

TEST_CASE("Valiant routing of alltoall doubles the load of global links") {
    const Machine machine = make_machine("dragonfly:9x4,nodes=2,routing=valiant");
    const std::vector<double> loads = compute_alltoall_loads(machine);
    for (const Link link : ids<Link>(loads.size())) {
        if (is_global(get_dragonfly(machine), link)) CHECK(loads[link.value] == doctest::Approx(2 * 8 * 8));
    }
}

TEST_CASE("minimal routes are all shortest routes over one global link, with equal shares") {
    for (const std::string& shape : shapes) {
        CAPTURE(shape);
        const Machine machine = make_machine("dragonfly:" + shape);
        const Dragonfly& d = get_dragonfly(machine);
        const ExhaustiveRoutes searched(d);
        for (const Node a : ids<Node>(machine.node_count())) {
            for (const Node b : ids<Node>(machine.node_count())) {
                const auto ways = searched.find_minimal_routes(a.value, b.value, true);
                if (d.hops(d.point(a), d.point(b)) != ways.front().size())
                    FAIL_CHECK("hops ", a.value, " ", b.value);
                if (a.value % 7 == 0)
                    check_near(compute_route_loads(d, a, b),
                               searched.compute_minimal_loads(a.value, b.value));
            }
        }
    }
}

TEST_CASE("Valiant routes take every other group as intermediate, with minimal routes to it and from it") {
    for (const std::string& shape : shapes) {
        CAPTURE(shape);
        const Machine machine = make_machine("dragonfly:" + shape + ",routing=valiant");
        const Dragonfly& d = get_dragonfly(machine);
        const ExhaustiveRoutes searched(d);
        for (std::uint32_t a = 0; a < machine.node_count(); a += 7) {
            for (const Node b : ids<Node>(machine.node_count())) {
                check_near(compute_route_loads(d, Node{a}, b), searched.compute_valiant_loads(a, b.value));
            }
        }
    }
}

TEST_CASE("a mixed route consists of minimal and Valiant routes with their shares") {
    const Machine minimal = make_machine("dragonfly:5x2x3,global=2,routing=ugal");
    const Machine valiant = make_machine("dragonfly:5x2x3,global=2,routing=valiant");
    const Node a{1};
    const Node b{20};
    CHECK(get_dragonfly(minimal).is_adaptive());
    CHECK_FALSE(get_dragonfly(valiant).is_adaptive());
    Loads expected;
    for (const auto& [link, load] : compute_route_loads(get_dragonfly(minimal), a, b))
        expected[link] += 0.25 * load;
    for (const auto& [link, load] : compute_route_loads(get_dragonfly(valiant), a, b))
        expected[link] += 0.75 * load;
    check_near(compute_route_loads(get_dragonfly(minimal).with_minimal_share(0.25), a, b), expected);
}

TEST_CASE("routes over one global link visit their links in order") {
    const Machine machine = make_machine("dragonfly:9x2x4,arrangement=palmtree");
    const Dragonfly& d = get_dragonfly(machine);
    REQUIRE(d.links_between_groups() == 1);
    for (const Node a : ids<Node>(machine.node_count())) {
        for (const Node b : ids<Node>(machine.node_count())) {
            std::uint32_t at = d.vertex(a);
            d.route(a, b, [&](Link link, double share) {
                if (d.ends(link).from != at || share != 1) FAIL_CHECK(a.value, " to ", b.value, " at ", at);
                at = d.ends(link).to;
            });
            CHECK(at == d.vertex(b));
        }
    }
}

TEST_CASE("ports are connected according to the arrangement") {
    // Computed by hand for 5 groups of 2 routers with 2 global links: the ports of group 1 lead to groups 0 2
    // 3 4 (consecutive) or 0 4 3 2 (palmtree). With direct, one more port would lead to group 1 itself.
    const auto routers_to = [](const std::string& arrangement) {
        const Machine machine =
            make_machine("dragonfly:5x2,global=" + std::string(arrangement == "direct" ? "3" : "2") +
                         ",arrangement=" + arrangement);
        std::map<std::uint32_t, std::uint32_t> router_to;
        for (const Link link : ids<Link>(get_dragonfly(machine).link_count())) {
            const LinkEnds ends = get_dragonfly(machine).ends(link);
            if (ends.from / 2 == 1 && ends.to / 2 != 1) router_to[ends.to / 2] = ends.from % 2;
        }
        return router_to;
    };
    using Routers = std::map<std::uint32_t, std::uint32_t>;
    CHECK(routers_to("consecutive") == Routers{{0, 0}, {2, 0}, {3, 1}, {4, 1}});
    CHECK(routers_to("palmtree") == Routers{{0, 0}, {4, 0}, {3, 1}, {2, 1}});
    CHECK(routers_to("direct") == Routers{{0, 0}, {2, 0}, {3, 1}, {4, 1}});
}

TEST_CASE("each kind of link has its own bandwidth and latency") {
    const auto rates = [](const std::string& options) {
        const Machine machine = make_machine("dragonfly:3x2x3" + options);
        std::vector<double> by_kind;
        for (const LinkRun& run : get_dragonfly(machine).bandwidth_runs())
            by_kind.push_back(run.bandwidth.value);
        return by_kind;
    };
    CHECK(rates("") == std::vector<double>{1, 1, 1});
    CHECK(rates(",bandwidth.row=half,bandwidth=8GB/s") == std::vector<double>{4e9, 8e9, 8e9});
    CHECK(rates(",bandwidth.row=1GB/s,bandwidth.local=2GB/s,bandwidth.global=3GB/s") ==
          std::vector<double>{1e9, 2e9, 3e9});
    CHECK(rates(",bandwidth=8GB/s,bandwidth.global=2GB/s,bandwidth.local=half,bandwidth.column=quarter") ==
          std::vector<double>{4e9, 2e9, 2e9});
    const Machine slow = make_machine("dragonfly:3x4,latency=1us,latency.global=2us");
    CHECK(get_dragonfly(slow).latency(Link{0}) == Seconds{1e-6});
    CHECK(get_dragonfly(slow).latency(Link{get_dragonfly(slow).link_count() - 1}) == Seconds{2e-6});
}

TEST_CASE("link names contain the routers at both ends") {
    const Machine machine = make_machine("dragonfly:3x2,global=2");
    const Dragonfly& d = get_dragonfly(machine);
    CHECK(d.link_name(Link{0}) == "group 0 router 0 -> router 1");
    CHECK(d.link_name(Link{3}) == "group 1 router 1 -> router 0");
    CHECK(d.link_name(Link{6}) == "group 0 router 0 -> group 1 router 0 (1 of 2)");
    CHECK(d.link_name(Link{7}) == "group 0 router 1 -> group 1 router 1 (2 of 2)");
    const Machine single = make_machine("dragonfly:3x2");
    CHECK(get_dragonfly(single).link_name(Link{6}) == "group 0 router 0 -> group 1 router 0");
}

TEST_CASE("the description of a dragonfly has its structure") {
    CHECK(make_machine("dragonfly:9x4").describe() == "9x4 dragonfly, 2 global links per router");
    CHECK(make_machine("dragonfly:6x6x16,nodes=4,global=10,arrangement=palmtree,routing=ugal").describe() ==
          "6x6x16 dragonfly, 4 nodes per router, 10 global links per router, palmtree arrangement, UGAL "
          "routing");
    CHECK(make_machine("dragonfly:1x4,routing=valiant").describe() == "1x4 dragonfly, Valiant routing");
}

TEST_CASE("an invalid dragonfly is refused") {
    const auto refuses = [](const char* text, const char* message) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS((void)make_machine(text), doctest::Contains(message), Error);
    };
    refuses("dragonfly:9", "expected GROUPSxROUTERS or GROUPSxROWSxCOLUMNS at column 11");
    refuses("dragonfly:9x2x2x2", "expected GROUPSxROUTERS or GROUPSxROWSxCOLUMNS at column 11");
    refuses("dragonfly:0x4", "a dragonfly has at least 1 group");
    refuses("dragonfly:4x0", "a group of a dragonfly has at least 1 router");
    refuses("dragonfly:4x2x0", "a group of a dragonfly has at least 1 router");
    refuses("dragonfly:9x4,nodes=0", "a dragonfly needs at least 1 node per router");
    refuses("dragonfly:9x4,global=1",
            "9 groups need 8 global ports each, but 4 routers with 1 have only 4; give more global links per "
            "router");
    refuses("dragonfly:9x4,global=2,arrangement=direct", "9 groups need 9 global ports each");
    refuses("dragonfly:2x4,global=0", "2 groups need 1 global ports each");
    refuses("dragonfly:2x64,global=64", "two groups of the dragonfly are joined by 4096 links; at most 1024");
    refuses("dragonfly:9x4,arrangement=relative", "expected consecutive, palmtree or direct at column 27");
    refuses("dragonfly:9x4,routing=par", "expected minimal, valiant or ugal at column 23");
    refuses("dragonfly:9x4,bandwidth.row=1GB/s", "expected local or global at column 25");
    refuses("dragonfly:9x4x4,latency.x=1us", "expected local, row, column or global at column 25");
    refuses("dragonfly:9x4,rows=2", "no option of dragonfly 'rows'");
    refuses("dragonfly:9x4,up", "expected an option of the form key=value at column 15");
    refuses("dragonfly:65536x65536", "more than 2^31 nodes");
    refuses("dragonfly:4294967295x4294967295x4294967295", "more than 2^31 nodes");
    refuses("dragonfly:1x2000000000", "the machine has");
    refuses("dragonfly:2000000000x1", "the machine has");
    refuses("dragonfly:1x30000x30000", "the machine has");
}

TEST_CASE("lower bounds on distances to routers and groups equal the distances of their nearest nodes") {
    const Machine machine = make_machine("dragonfly:9x4,nodes=3");
    const auto& geometry = get_dragonfly(machine).geometry();
    const auto points = [&](std::uint32_t first, std::uint32_t count) {
        std::vector<std::remove_cvref_t<decltype(geometry)>::Point> found;
        for (std::uint32_t i = 0; i < count; ++i) found.push_back(geometry.point(Node{first + i}));
        return found;
    };
    for (const std::uint32_t size : {3U, 12U}) {
        for (std::uint32_t first = 0; first < machine.node_count(); first += size) {
            const auto inside = points(first, size);
            for (const auto p : points(0, static_cast<std::uint32_t>(machine.node_count()))) {
                std::uint32_t nearest = geometry.max_distance();
                for (const auto q : inside) nearest = std::min(nearest, geometry.distance(q, p));
                CHECK(geometry.distance_from(geometry.region(inside), p) == nearest);
            }
        }
    }
}
