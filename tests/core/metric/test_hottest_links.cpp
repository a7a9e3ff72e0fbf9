// SPDX-License-Identifier: BSD-3-Clause
// The hottest links and their contributors.
#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "machine/machine_texts.hpp"
#include "metric/random_problem.hpp"
#include "metric/reference_judge.hpp"

using namespace topoloom;

namespace {

/// Reference: all links by congestion, each with its three largest contributors.
std::vector<HotLink> reference_hottest(const CommGraph& graph, const Machine& machine,
                                       const Placement& placement, const Judgement& judgement,
                                       std::size_t count) {
    std::vector<HotLink> links;
    with_topology(machine, [&](const auto& t) {
        for (const Link link : ids<Link>(machine.link_count())) {
            const double load = judgement.loads[link.value];
            if (load > 0)
                links.push_back({link, t.link_name(link), load, load / t.bandwidth(link).value, {}});
        }
    });
    std::stable_sort(links.begin(), links.end(),
                     [](const auto& a, const auto& b) { return a.congestion > b.congestion; });
    if (links.size() > count) links.resize(count);
    for (HotLink& hot : links) {
        for (const ReferenceMessage& pair : all_pairs(graph)) {
            const auto on_link = route_shares(machine, machine.node(placement[pair.source]),
                                              machine.node(placement[pair.target]), judgement.minimal_share);
            const auto share = on_link.find(hot.link.value);
            if (share == on_link.end() || pair.bytes == 0) continue;
            hot.contributors.push_back(
                {pair.source, pair.target, share->second * static_cast<double>(pair.bytes)});
        }
        std::stable_sort(hot.contributors.begin(), hot.contributors.end(),
                         [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
        if (hot.contributors.size() > 3) hot.contributors.resize(3);
    }
    return links;
}

void check_equal(const std::vector<HotLink>& a, const std::vector<HotLink>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].link == b[i].link);
        CHECK(a[i].name == b[i].name);
        CHECK(a[i].bytes == b[i].bytes);
        CHECK(a[i].congestion == b[i].congestion);
        REQUIRE(a[i].contributors.size() == b[i].contributors.size());
        for (std::size_t k = 0; k < a[i].contributors.size(); ++k) {
            CHECK(a[i].contributors[k].source == b[i].contributors[k].source);
            CHECK(a[i].contributors[k].target == b[i].contributors[k].target);
            CHECK(a[i].contributors[k].bytes == b[i].contributors[k].bytes);
        }
    }
}

}  // namespace

TEST_CASE("the hottest links and their contributors agree with the definition") {
    Rng rng(31);
    for (const std::string& text : machine_texts()) {
        CAPTURE(text);
        const Machine machine = make_machine(text + "+node:2");
        const Allocation allocation = Allocation::whole(machine);
        const std::size_t ranks = std::min<std::size_t>(24, allocation.slot_count());
        const CommGraph graph = random_pattern(ranks, 3 * ranks, rng);
        const Placement placement = random_placement(allocation, ranks, rng);
        const Judgement judgement = judge(graph, machine, placement);
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{10}}) {
            check_equal(hottest_links(graph, machine, placement, judgement, count),
                        reference_hottest(graph, machine, placement, judgement, count));
        }
    }
}

TEST_CASE("even if all links are requested, only loaded links are returned") {
    const Machine machine = make_machine("torus:8x8x8");
    Rng rng(32);
    const CommGraph graph = random_pattern(512, 2000, rng);
    const Placement placement = random_placement(Allocation::whole(machine), 512, rng);
    const Judgement judgement = judge(graph, machine, placement);
    const auto hot = hottest_links(graph, machine, placement, judgement, machine.link_count() + 5);
    const auto loaded =
        std::count_if(judgement.loads.begin(), judgement.loads.end(), [](double load) { return load > 0; });
    CHECK(hot.size() == static_cast<std::size_t>(loaded));
    CHECK(hot.size() > 255);
    CHECK(
        std::all_of(hot.begin(), hot.end(), [](const HotLink& link) { return !link.contributors.empty(); }));
    CHECK(hot.front().congestion == judgement.congestion_max);
}

TEST_CASE("one and two threads return the same links and contributors" * doctest::test_suite("threads")) {
    const Machine machine = make_machine("torus:32x16x16");
    Rng rng(33);
    const CommGraph graph = random_pattern(8192, 40000, rng);
    const Placement placement = random_placement(Allocation::whole(machine), 8192, rng);
    const Judgement judgement = judge(graph, machine, placement);
    check_equal(hottest_links(graph, machine, placement, judgement, 10, 1),
                hottest_links(graph, machine, placement, judgement, 10, 2));
}

TEST_CASE("the link that two messages share is the hottest") {
    const Machine machine = make_machine("torus:8");
    const std::array sources{Rank{0}, Rank{1}};
    const std::array peers{Rank{2}, Rank{2}};
    const std::array bytes{Bytes{100}, Bytes{50}};
    const CommGraph graph = CommGraph::from_edges(3, sources, peers, bytes);
    const Allocation all = Allocation::whole(machine);
    const Placement placement(all, {Slot{0}, Slot{1}, Slot{2}});
    const auto hot = hottest_links(graph, machine, placement, judge(graph, machine, placement));
    REQUIRE(hot.size() == 2);
    CHECK(hot[0].name == "(1) +x");
    CHECK(hot[0].bytes == 150);
    REQUIRE(hot[0].contributors.size() == 2);
    CHECK(hot[0].contributors[0].source == Rank{0});
    CHECK(hot[0].contributors[1].bytes == 50);
    CHECK(hot[1].name == "(0) +x");
}
