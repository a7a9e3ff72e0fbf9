// SPDX-License-Identifier: BSD-3-Clause
// Rail-optimized GPU clusters: routes of pairs, and loads of alltoall in closed form.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine_queries.hpp"
#include "machine/machine_texts.hpp"
#include "topoloom/machine/network_view.hpp"

using namespace topoloom;

namespace {

using Names = std::vector<std::string>;

/// Number of links for each pair of vertex classes, such as "GPU -> NVSwitch".
std::string classify_link(const std::string& link_name) {
    std::string words;
    for (const char c : link_name) {
        if (c != ' ' && (c < '0' || c > '9')) words += c;
    }
    return words;
}

}  // namespace

TEST_CASE("GPUs meet at the NVSwitch of their domain or at the leaf of their rail") {
    const Machine machine = make_machine("rails:4:2:2,spines=2");
    CHECK(route_names(machine, Node{0}, Node{3}) == Names{"GPU 0 -> NVSwitch 0", "NVSwitch 0 -> GPU 3"});
    CHECK(route_names(machine, Node{1}, Node{5}) ==
          Names{"GPU 1 -> unit 0 rail 1", "unit 0 rail 1 -> GPU 5"});
    CHECK(route_names(machine, Node{1}, Node{9}) ==
          Names{"GPU 1 -> unit 0 rail 1", "unit 0 rail 1 -> spine 0 * 0.500000",
                "spine 0 -> unit 1 rail 1 * 0.500000", "unit 0 rail 1 -> spine 1 * 0.500000",
                "spine 1 -> unit 1 rail 1 * 0.500000", "unit 1 rail 1 -> GPU 9"});
}

TEST_CASE(
    "messages to another rail first go over NVLink to another GPU, or over the spines to another leaf") {
    const Machine nvlink = make_machine("rails:4:2:2,spines=1");
    CHECK(route_names(nvlink, Node{0}, Node{6}) == Names{"GPU 0 -> NVSwitch 0", "NVSwitch 0 -> GPU 2",
                                                         "GPU 2 -> unit 0 rail 2", "unit 0 rail 2 -> GPU 6"});
    CHECK(nvlink.hops(Node{0}, Node{6}) == 4);
    CHECK(nvlink.hops(Node{0}, Node{10}) == 6);
    const Machine spine = make_machine("rails:4:2:2,spines=1,cross=spine");
    CHECK(route_names(spine, Node{0}, Node{6}) == Names{"GPU 0 -> unit 0 rail 0", "unit 0 rail 0 -> spine 0",
                                                        "spine 0 -> unit 0 rail 2",
                                                        "unit 0 rail 2 -> GPU 6"});
    CHECK(spine.hops(Node{0}, Node{10}) == 4);
}

TEST_CASE("with fewer rails than GPUs in a domain, every other GPU shares a rail") {
    const Machine machine = make_machine("rails:4:2:1,rails=2");
    CHECK(route_names(machine, Node{0}, Node{6}) ==
          Names{"GPU 0 -> unit 0 rail 0", "unit 0 rail 0 -> GPU 6"});
    CHECK(route_names(machine, Node{0}, Node{5}) == Names{"GPU 0 -> NVSwitch 0", "NVSwitch 0 -> GPU 1",
                                                          "GPU 1 -> unit 0 rail 1",
                                                          "unit 0 rail 1 -> GPU 5"});
}

TEST_CASE("loads of alltoall equal closed forms for each class of links") {
    struct ClusterShape {
        double gpus, domains, units, rails, spines;
    };
    for (const ClusterShape& s : {ClusterShape{4, 3, 2, 4, 3}, ClusterShape{4, 2, 3, 2, 5},
                                  ClusterShape{6, 2, 2, 3, 4}, ClusterShape{2, 4, 2, 1, 2}}) {
        const double all_domains = s.domains * s.units;
        const double on_rail = s.gpus / s.rails;  // GPUs of a domain on one rail
        const double from_elsewhere = s.gpus * (all_domains - 1);
        const double out_of_unit = s.domains * (s.units - 1);  // domains
        for (const bool by_nvlink : {true, false}) {
            std::map<std::string, double> expected;
            expected["GPU->NVSwitch"] = s.gpus - 1 + (by_nvlink ? (all_domains - 1) * (s.gpus - on_rail) : 0);
            expected["NVSwitch->GPU"] = expected["GPU->NVSwitch"];
            // A GPU forwards messages from all GPUs of its domain to the GPUs with its own index in other
            // domains.
            expected["GPU->unitrail"] = from_elsewhere;
            expected["unitrail->GPU"] = from_elsewhere;
            const double up = by_nvlink ? s.gpus * s.domains * out_of_unit * on_rail
                                        : s.domains * on_rail *
                                              (out_of_unit * s.gpus + (s.domains - 1) * (s.gpus - on_rail));
            expected["unitrail->spine"] = up / s.spines;
            expected["spine->unitrail"] = up / s.spines;
            std::string text = "rails";
            for (const double part : {s.gpus, s.domains, s.units})
                text += ":" + std::to_string(static_cast<int>(part));
            text += ",rails=" + std::to_string(static_cast<int>(s.rails)) +
                    ",spines=" + std::to_string(static_cast<int>(s.spines)) +
                    (by_nvlink ? ",cross=nvlink" : ",cross=spine");
            CAPTURE(text);
            with_topology(make_machine(text), [&](const auto& t) {
                const std::vector<double> loads = alltoall_loads(t);
                for (const Link link : ids<Link>(t.link_count()))
                    CHECK(loads[link.value] ==
                          doctest::Approx(expected.at(classify_link(t.link_name(link)))));
            });
        }
    }
}

TEST_CASE(
    "a DGX H100 scalable unit has a rail for each of 8 GPUs, and 32 uplinks per leaf with several units") {
    // NVIDIA DGX SuperPOD reference architecture, H100: 32 systems of 8 GPUs and 8 leaves per scalable unit.
    const Machine one = make_machine("rails:8:32:1");
    CHECK(one.describe() == "rail cluster of 256 GPUs: 1 x 32 domains of 8, 8 rails");
    CHECK(one.link_count() == 4 * 256);
    const Machine four = make_machine("rails:8:32:4");
    CHECK(four.describe() == "rail cluster of 1024 GPUs: 4 x 32 domains of 8, 8 rails, 32 spines");
    CHECK(four.link_count() == 4 * 1024 + 2 * 4 * 8 * 32);
    CHECK(four.max_distance() == 6);
    CHECK(make_machine("rails:8:32:4,cross=spine").max_distance() == 4);
    CHECK(make_machine("rails:8:1:1").max_distance() == 2);
}

TEST_CASE("NVLinks, rails and spines have separate bandwidths and latencies") {
    const Machine machine = make_machine(
        "rails:2:2:2,bandwidth.nvlink=450GB/s,bandwidth=50GB/"
        "s,bandwidth.spine=half,latency=1us,latency.nvlink=300ns");
    with_topology(machine, [](const auto& t) {
        for (const Link link : ids<Link>(t.link_count())) {
            const std::string name = t.link_name(link);
            const bool nvlink = name.find("NVSwitch") != std::string::npos;
            const bool spine = name.find("spine") != std::string::npos;
            CHECK(t.bandwidth(link).value == (nvlink ? 450e9 : spine ? 25e9 : 50e9));
            CHECK(t.latency(link).value == doctest::Approx(nvlink ? 300e-9 : 1e-6));
        }
    });
}

TEST_CASE("a link's distance is its slowdown relative to NVLink if bandwidths are known") {
    const auto distances = [](const std::string& text) {
        // Distances to a GPU of the same domain; in another domain of the unit, on the same rail and on
        // another; and in another unit, on the same rail and on another.
        const Machine machine = make_machine("rails:4:2:2," + text);
        std::vector<std::uint32_t> found;
        for (const std::uint32_t to : {1U, 4U, 5U, 8U, 9U}) {
            found.push_back(machine.distance(Slot{0}, Slot{to}));
            CHECK(machine.distance(Slot{to}, Slot{0}) == found.back());
        }
        return found;
    };
    using Distances = std::vector<std::uint32_t>;
    CHECK(distances("bandwidth=50GB/s") == Distances{2, 2, 4, 4, 6});
    CHECK(distances("bandwidth=50GB/s,bandwidth.nvlink=450GB/s") ==
          Distances{2, 2 * 9, 2 * (1 + 9), 2 * (9 + 9), 2 * (1 + 9 + 9)});
    CHECK(distances("bandwidth=50GB/s,bandwidth.nvlink=450GB/s,bandwidth.spine=half") ==
          Distances{2, 2 * 9, 2 * (1 + 9), 2 * (9 + 18), 2 * (1 + 9 + 18)});
    CHECK(distances("bandwidth=50GB/s,bandwidth.nvlink=450GB/s,cross=spine") ==
          Distances{2, 2 * 9, 2 * (9 + 9), 2 * (9 + 9), 2 * (9 + 9)});
    // The distance of a link is never less than 1.
    CHECK(distances("bandwidth=50GB/s,bandwidth.nvlink=25GB/s") == Distances{2, 2, 4, 4, 6});
    // Only some bandwidths are given.
    CHECK(distances("bandwidth.nvlink=double") == Distances{2, 2, 4, 4, 6});
    CHECK(distances("bandwidth=1MB/s,bandwidth.nvlink=900GB/s") ==
          Distances{2, 2 * 1000, 2 * 1001, 2 * 2000, 2 * 2001});
}

TEST_CASE("hops count links, regardless of their distances") {
    const Machine plain = make_machine("rails:4:2:2");
    const Machine weighed = make_machine("rails:4:2:2,bandwidth=50GB/s,bandwidth.nvlink=450GB/s");
    CHECK(plain.distances_are_hops());
    CHECK_FALSE(weighed.distances_are_hops());
    for (const Node a : ids<Node>(16)) {
        for (const Node b : ids<Node>(16)) CHECK(weighed.hops(a, b) == plain.hops(a, b));
    }
    with_topology(weighed, [](const auto& t) { CHECK(t.diameter() == 6); });
    CHECK(weighed.max_distance() == 38);
}

TEST_CASE("a cluster of many small units has correct distances, although its leaves form no classes") {
    const Machine machine = make_machine("rails:2:1:2100");  // 4,200 leaves
    CHECK(machine.distance(Slot{0}, Slot{1}) == 2);
    CHECK(machine.distance(Slot{0}, Slot{2}) == 4);
    CHECK(machine.distance(Slot{0}, Slot{3}) == 6);
}

TEST_CASE("distances in large clusters equal their definition" * doctest::test_suite("threads")) {
    for (const std::string options :
         {"", ",cross=spine", ",rails=4", ",bandwidth=50GB/s,bandwidth.nvlink=450GB/s"}) {
        const Machine large = make_machine("rails:8:96:8" + options);
        // The small cluster can use a table of all pairs. Each compared pair of the large cluster corresponds
        // to a pair of the small one.
        const Machine small = make_machine("rails:8:3:3" + options);
        const auto counterpart = [](std::uint32_t unit, std::uint32_t domain, std::uint32_t gpu) {
            return std::pair(Slot{(unit * 96 + domain) * 8 + gpu}, Slot{(unit * 3 + domain) * 8 + gpu});
        };
        for (std::uint32_t a = 0; a < 72; ++a) {
            const auto [large_a, small_a] = counterpart(a / 24, a / 8 % 3, a % 8);
            for (std::uint32_t b = 0; b < 72; ++b) {
                const auto [large_b, small_b] = counterpart(b / 24, b / 8 % 3, b % 8);
                REQUIRE(large.distance(large_a, large_b) == small.distance(small_a, small_b));
            }
        }
        CHECK(large.max_distance() == small.max_distance());
        double total = 0;
        for (std::uint32_t slot = 0; slot < large.slot_count(); ++slot)
            total += large.distance(Slot{0}, Slot{slot});
        CHECK(large.average_distance() ==
              doctest::Approx(total / static_cast<double>(large.slot_count() - 1)));
    }
}

TEST_CASE("an invalid rail cluster is refused") {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"rails:8:4", "cannot read machine 'rails:8:4': expected GPUS:DOMAINS:UNITS at column 7"},
        {"rails:8:0:1",
         "machine 'rails:8:0:1': a rail cluster has at least 1 GPU in a domain, 1 domain in a unit and 1 "
         "unit"},
        {"rails:8:4:1,rails=3",
         "machine 'rails:8:4:1,rails=3': the 8 GPUs of a domain cannot be divided evenly among 3 rails"},
        {"rails:8:4:1,rails=0",
         "cannot read machine 'rails:8:4:1,rails=0': a rail cluster has at least 1 rail; at column 19"},
        {"rails:8:4:2,spines=0",
         "machine 'rails:8:4:2,spines=0': the leaves of the rail cluster need at least 1 spine to connect "
         "them"},
        {"rails:65536:65536:65536",
         "machine 'rails:65536:65536:65536': the rail cluster has more than 2^31 GPUs"},
        {"rails:1024:1024:512,spines=4000000000",
         "machine 'rails:1024:1024:512,spines=4000000000': the machine has 4194306147483648 links; at most "
         "2^32 - 1 "
         "are supported"},
        {"rails:8:4:2,bandwidth.leaf=1GB/s",
         "cannot read machine 'rails:8:4:2,bandwidth.leaf=1GB/s': expected nvlink, rail or spine at column "
         "23"},
        {"rails:8:4:2,cross=leaf",
         "cannot read machine 'rails:8:4:2,cross=leaf': expected nvlink or spine at column 19"},
    };
    for (const auto& [text, reason] : bad) CHECK(error_message_of(text) == reason);
}

TEST_CASE("the GPUs of a host are those of a domain unless host= is given, also with failures") {
    for (const char* const down : {"", "+down:5"}) {
        const Machine domains = make_machine(std::string("rails:8:2:1") + down);
        const Machine trays = make_machine(std::string("rails:8:2:1,host=4") + down);
        for (const Node node : ids<Node>(domains.node_count())) {
            CHECK(NetworkView(domains.topology()).host(node) == node.value / 8);
            CHECK(NetworkView(trays.topology()).host(node) == node.value / 4);
        }
    }
    CHECK_THROWS_WITH_AS(
        make_machine("rails:8:2:1,host=3"),
        "machine 'rails:8:2:1,host=3': the 8 GPUs of a domain cannot be divided evenly into hosts of 3",
        Error);
    CHECK_THROWS_AS(make_machine("rails:8:2:1,host=0"), Error);
}
