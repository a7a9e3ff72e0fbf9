// SPDX-License-Identifier: BSD-3-Clause
// Compares the results of judge() with their definitions and with counts by hand, for several numbers of
// threads.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"
#include "metric/random_problem.hpp"
#include "metric/reference_judge.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/pattern/generators/stencil.hpp"

using namespace topoloom;

namespace {

/// A placement of rank i on slot i.
Placement place_in_order(const Allocation& allocation, std::size_t ranks) {
    return {allocation,
            {allocation.slots().begin(), allocation.slots().begin() + static_cast<std::ptrdiff_t>(ranks)}};
}

CommGraph one_message(std::size_t ranks, int from, int to, std::int64_t bytes, std::int64_t messages = 1) {
    return CommGraph::from_edges(ranks, std::array{Rank{from}}, std::array{Rank{to}},
                                 std::array{Bytes{bytes}}, std::array{messages});
}

/// Whether loads are equal up to rounding, because sums of shares such as a third depend on their order.
void check_equal(const Judgement& a, const Judgement& b, double tolerance = 0) {
    const auto equal = [&](double x, double y) { return std::abs(x - y) <= tolerance * std::abs(y); };
    CHECK(a.hop_bytes == b.hop_bytes);
    CHECK(a.hops_per_byte == b.hops_per_byte);
    CHECK(equal(a.dilation_average, b.dilation_average));
    CHECK(a.dilation_max == b.dilation_max);
    CHECK(a.inter_node_bytes == b.inter_node_bytes);
    CHECK(a.inter_node_max == b.inter_node_max);
    CHECK(equal(a.traffic_average, b.traffic_average));
    CHECK(equal(a.congestion_max, b.congestion_max));
    CHECK(std::ranges::equal(a.loads, b.loads, equal));
    CHECK(a.minimal_share == b.minimal_share);
    CHECK(a.bytes_in == b.bytes_in);
    CHECK(a.bytes_out == b.bytes_out);
    CHECK(a.messages_in == b.messages_in);
    CHECK(a.messages_out == b.messages_out);
}

}  // namespace

TEST_CASE("judge() agrees with the definition of every number on every kind of machine") {
    Rng rng(21);
    for (const std::string& network : machine_texts()) {
        for (const std::string inside : {"", "+node:3", "+node:2:2,distance=1:5", "+node:2,distance=3:7",
                                         "+node:3,port=0:2:9", "+node:2:2,distance=1:2:4,port=3:0"}) {
            const std::string text = network + inside;
            CAPTURE(text);
            const Machine machine = make_machine(text);
            const Allocation whole = Allocation::whole(machine);
            std::vector<Slot> slots(whole.slots().begin(), whole.slots().end());
            rng.shuffle(std::span(slots));
            slots.resize(1 + rng.below(static_cast<std::uint32_t>(slots.size())));
            const Allocation allocation = Allocation::of_slots(machine, slots);
            const std::size_t ranks =
                1 + rng.below(static_cast<std::uint32_t>(std::min<std::size_t>(30, allocation.slot_count())));
            const CommGraph graph = random_pattern(ranks, 4 * ranks, rng);
            const Placement placement = random_placement(allocation, ranks, rng);
            const Judgement judged = judge(graph, machine, placement);
            const Judgement slow = reference_judge(graph, machine, placement, judged.minimal_share);
            const bool exact = !text.starts_with("rails") && !text.starts_with("dragonfly") &&
                               text.find("routing=ecmp") == std::string::npos;
            check_equal(judged, slow, exact ? 0 : 1e-9);
            CHECK(hop_bytes(graph, machine, placement.slots()) == slow.hop_bytes);
        }
    }
}

TEST_CASE("one and two threads give bitwise equal results" * doctest::test_suite("threads")) {
    const Machine machine = make_machine("torus:32x16x16,ties=split,bandwidth.y=half");
    const std::array<GridAxis, 3> grid{{{32}, {16}, {16}}};
    const CommGraph graph = stencil(grid, StencilShape::box, Bytes{1000});
    Rng rng(22);
    const Placement placement = random_placement(Allocation::whole(machine), graph.rank_count(), rng);
    const Judgement one = judge(graph, machine, placement, 1);
    check_equal(judge(graph, machine, placement, 2), one);
    CHECK(hop_bytes(graph, machine, placement.slots(), 1) == one.hop_bytes);
    CHECK(hop_bytes(graph, machine, placement.slots(), 2) == one.hop_bytes);
}

TEST_CASE("loads of split routes do not depend on the number of threads" * doctest::test_suite("threads")) {
    const Machine machine = make_machine("dragonfly:9x4,nodes=2,routing=ugal+node:128");  // shares of 1/7
    Rng rng(24);
    const CommGraph graph = random_pattern(3 * ranks_per_chunk / 2, 30000, rng);
    const Placement placement = random_placement(Allocation::whole(machine), graph.rank_count(), rng);
    const Judgement one = judge(graph, machine, placement, 1);
    REQUIRE(one.minimal_share.has_value());
    check_equal(judge(graph, machine, placement, 2), one);
}

TEST_CASE("link loads sum to bytes times hops") {
    const Machine machine = make_machine("torus:8x8x8");
    Rng rng(23);
    const CommGraph graph = random_pattern(512, 5000, rng);
    const Judgement result = judge(graph, machine, random_placement(Allocation::whole(machine), 512, rng));
    double sum = 0;
    for (const double load : result.loads) sum += load;
    CHECK(sum == static_cast<double>(result.hop_bytes));
}

TEST_CASE("a stencil on a torus of the same shape costs one hop per message and loads every link equally") {
    const Machine machine = make_machine("torus:4x4x4");
    const std::array<GridAxis, 3> grid{{{4}, {4}, {4}}};
    const Judgement result = judge(stencil(grid, StencilShape::star, Bytes{10}), machine,
                                   place_in_order(Allocation::whole(machine), 64));
    CHECK(result.hop_bytes == 64 * 6 * 10);
    CHECK(result.hops_per_byte == 1);
    CHECK(result.dilation_average == 1);
    CHECK(result.dilation_max == 1);
    CHECK(result.traffic_average == 10);
    CHECK(result.congestion_max == 10);
    CHECK(result.inter_node_bytes == Bytes{3840});
    CHECK(result.loads == BigVector<double>(384, 10.0));
    CHECK(result.messages_in == std::vector<std::int64_t>(64, 6));
    CHECK(result.bytes_out == std::vector<Bytes>(64, Bytes{60}));
}

TEST_CASE("intra-node messages take no hops but count in the averages") {
    const Machine machine = make_machine("torus:4+node:2");
    const std::array sources{Rank{0}, Rank{0}};
    const std::array peers{Rank{1}, Rank{2}};
    const std::array bytes{Bytes{100}, Bytes{300}};
    const CommGraph graph = CommGraph::from_edges(4, sources, peers, bytes);
    const Judgement result = judge(graph, machine, place_in_order(Allocation::whole(machine), 4));
    CHECK(result.hop_bytes == 300);
    CHECK(result.hops_per_byte == 0.75);
    CHECK(result.dilation_average == 0.5);
    CHECK(result.inter_node_bytes == Bytes{300});
    CHECK(result.traffic_average == 300);
}

TEST_CASE("messages of a rank to itself are never counted") {
    const Machine machine = make_machine("torus:4");
    const Judgement result =
        judge(one_message(2, 1, 1, 1000), machine, place_in_order(Allocation::whole(machine), 2));
    CHECK(result.hop_bytes == 0);
    CHECK(result.hops_per_byte == 0);
    CHECK(result.dilation_average == 0);
    CHECK(result.traffic_average == 0);
    CHECK(result.congestion_max == 0);
    CHECK(result.inter_node_bytes == Bytes{0});
}

TEST_CASE("messages between two nodes of the same router use the host links of both") {
    const Machine machine = make_machine("torus:4,nodes=2");
    const Judgement result =
        judge(one_message(2, 0, 1, 1000), machine, place_in_order(Allocation::whole(machine), 2));
    CHECK(result.hop_bytes == 2000);
    CHECK(result.dilation_max == 2);
    CHECK(result.congestion_max == 1000);
    CHECK(result.traffic_average == 1000);
    CHECK(result.inter_node_max == Bytes{1000});
}

TEST_CASE("with hosts=free, messages between nodes of the same router count as inter-node but use no link") {
    const Machine machine = make_machine("torus:4,nodes=2,hosts=free");
    const Judgement result =
        judge(one_message(2, 0, 1, 1000), machine, place_in_order(Allocation::whole(machine), 2));
    CHECK(result.hop_bytes == 0);
    CHECK(result.congestion_max == 0);
    CHECK(result.inter_node_bytes == Bytes{1000});
    CHECK(result.bytes_out[0] == Bytes{1000});
    CHECK(result.bytes_in[1] == Bytes{1000});
}

TEST_CASE("congestion along an axis of half bandwidth counts double") {
    const Machine machine = make_machine("torus:17x8x24,nodes=2,bandwidth.y=half");
    const Allocation all = Allocation::whole(machine);
    const auto congestion = [&](std::vector<std::uint32_t> from, std::vector<std::uint32_t> to) {
        const Placement placement(all, {Slot{machine.node_at(from).value}, Slot{machine.node_at(to).value}});
        return judge(one_message(2, 0, 1, 1000), machine, placement).congestion_max;
    };
    CHECK(congestion({3, 3, 3}, {4, 3, 3}) == 1000);
    CHECK(congestion({3, 3, 3}, {3, 4, 3}) == 2000);
    CHECK(congestion({3, 3, 3}, {3, 3, 4}) == 1000);
    CHECK(congestion({3, 3, 3}, {5, 2, 9}) == 2000);
}

TEST_CASE("congestion is bytes divided by bandwidth, in seconds") {
    const Machine machine = make_machine("torus:4x4,bandwidth=2GB/s");
    const Judgement result =
        judge(one_message(2, 0, 1, 4'000'000'000), machine, place_in_order(Allocation::whole(machine), 2));
    CHECK(result.congestion_max == 2.0);
}

TEST_CASE(
    "amounts whose sum could overflow are refused, and results for the largest allowed amounts are exact") {
    const Machine machine = make_machine("torus:8");
    const Allocation all = Allocation::whole(machine);
    const Placement placement(all, {Slot{0}, Slot{4}});
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
    CHECK(judge(one_message(2, 0, 1, most), machine, placement).hop_bytes == most * 4);
    const CommGraph more = one_message(2, 0, 1, most + 1);
    CHECK_THROWS_WITH_AS((void)judge(more, machine, placement), doctest::Contains("Scale the bytes down"),
                         Error);
    CHECK_THROWS_WITH_AS((void)hop_bytes(more, machine, placement.slots()),
                         doctest::Contains("Scale the bytes down"), Error);
    CHECK(judge(one_message(2, 0, 1, 1, most), machine, placement).dilation_average == 4);
    CHECK_THROWS_WITH_AS((void)judge(one_message(2, 0, 1, 1, most + 1), machine, placement),
                         doctest::Contains("Scale the messages down"), Error);
}

TEST_CASE("a placement of another pattern or machine is refused") {
    const Machine machine = make_machine("torus:8");
    const Placement placement = place_in_order(Allocation::whole(machine), 4);
    const CommGraph graph = ring(5, Bytes{1});
    CHECK_THROWS_WITH_AS((void)judge(graph, machine, placement),
                         "the pattern has 5 ranks, but the placement has 4", Error);
    CHECK_THROWS_WITH_AS((void)hop_bytes(graph, machine, placement.slots()),
                         "the pattern has 5 ranks, but the placement has 4", Error);
    CHECK_THROWS_WITH_AS((void)judge(ring(4, Bytes{1}), make_machine("torus:3"), placement),
                         "the placement uses slot 3, but the machine has only 3 slots", Error);
}
