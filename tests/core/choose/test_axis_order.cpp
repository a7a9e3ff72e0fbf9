// SPDX-License-Identifier: BSD-3-Clause
// Axis orders of meshes on machines: their times equal those of their placements, and they are optimal in
// small cases.
#include <doctest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/choose/axis_order.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/place/grid/slot_lines.hpp"

using namespace topoloom;

namespace {

using Extents = std::vector<std::uint32_t>;

std::vector<Slot> make_slots(const std::vector<std::uint32_t>& numbers) {
    return {numbers.begin(), numbers.end()};
}

/// Reference: the predicted time in seconds, summed over all phases of all traffic.
double reference_time(const Machine& machine, const Extents& extents, const std::vector<MeshTraffic>& traffic,
                      const std::vector<Slot>& slots, const std::vector<Extents>& ring_shapes = {}) {
    double sum = 0;
    for (std::size_t t = 0; t < traffic.size(); ++t) {
        MeshTraffic one = traffic[t];
        if (!ring_shapes.empty()) one.shape = ring_shapes[t];
        for (const CommGraph& phase : mesh_phases(extents, one))
            sum += objective_values(machine, {parse_objective("time"), {&phase}}, slots)[3];
    }
    return sum;
}

/// Tries every order of the prime factors, all of which are 2, on slots 0, 1, 2, ... `axes` has the axis of
/// each factor.
double find_lowest_time(const Machine& machine, const Extents& extents,
                        const std::vector<MeshTraffic>& traffic, std::vector<std::uint32_t> axes) {
    double best = std::numeric_limits<double>::infinity();
    std::ranges::sort(axes);
    do {
        std::vector<Slot> slots;
        std::vector<std::uint32_t> at(extents.size(), 0);
        for (std::size_t rank = 0; rank < std::size_t{1} << axes.size(); ++rank) {
            std::vector<std::uint32_t> digits = at;
            std::uint32_t place = 0;
            for (std::size_t j = 0; j < axes.size(); ++j) {
                place += (digits[axes[j]] % 2) << j;
                digits[axes[j]] /= 2;
            }
            slots.emplace_back(place);
            for (std::size_t axis = 0; axis < extents.size() && ++at[axis] == extents[axis]; ++axis)
                at[axis] = 0;
        }
        best = std::min(best, reference_time(machine, extents, traffic, slots));
    } while (std::ranges::next_permutation(axes).found);
    return best;
}

std::string format_order(const AxisOrder& order) {
    std::string text;
    for (const auto& [axis, size] : order.pieces)
        text += std::string(text.empty() ? "" : " ") + static_cast<char>('a' + axis) + std::to_string(size);
    return text;
}

}  // namespace

TEST_CASE(
    "the best order is never worse than the default, uses distinct slots and has its placement's time") {
    const Extents extents{4, 2, 3, 2};
    const std::vector<MeshTraffic> traffic{{{0}, MeshCollective::halving, Bytes{60'000}},
                                           {{1, 3}, MeshCollective::ring, Bytes{20'000}},
                                           {{2}, MeshCollective::alltoall, Bytes{50'000}},
                                           {{3}, MeshCollective::chain, Bytes{10'000}}};
    for (const char* text :
         {"torus:4x4x4", "mesh:8x6", "twisted:4x4x8,twist.x=0:0:4,twist.y=0:0:4", "rails:8:3:2",
          "rails:18:4:1,rails=6,bandwidth=1GB/s,bandwidth.nvlink=9GB/s,latency=1us", "tree:4:4:3",
          "fattree:4:4:4", "dragonfly:5x4,nodes=3", "rails:8:8:1+down:3", "torus:4x4+node:2:2"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const AxisOrders orders = order_axes(allocation, extents, traffic);
        for (const AxisOrder& order : {orders.given, orders.nested, orders.best}) {
            const Placement placement(allocation, order.slot_of_rank);
            CHECK(order.total() == doctest::Approx(reference_time(machine, extents, traffic,
                                                                  order.slot_of_rank, order.ring_shapes))
                                       .epsilon(1e-9));
            std::size_t ranks = 1;
            for (const AxisPiece& piece : order.pieces) ranks *= piece.size;
            CHECK(ranks == 48);
        }
        CHECK(orders.nested.total() <= orders.given.total());
        CHECK(orders.best.total() <= orders.nested.total());
        CHECK(format_order(orders.given) == "a4 b2 c3 d2");
    }
}

TEST_CASE("the best order is as good as the best of all orders of prime factors") {
    const Machine torus = make_machine("torus:4x8");
    const Machine rails = make_machine("rails:4:4:2,bandwidth=1GB/s,bandwidth.nvlink=5GB/s");
    const std::vector<std::vector<MeshTraffic>> mixes{
        {{{0}, MeshCollective::alltoall, Bytes{9000}}, {{1}, MeshCollective::ring, Bytes{7000}}},
        {{{0}, MeshCollective::ring, Bytes{3000}}, {{1, 2}, MeshCollective::ring, Bytes{7000}}},
        {{{0}, MeshCollective::halving, Bytes{5000}},
         {{1}, MeshCollective::alltoall, Bytes{3000}},
         {{2}, MeshCollective::chain, Bytes{9000}}},
    };
    const Extents extents{2, 8, 2};
    for (const Machine* machine : {&torus, &rails}) {
        const Allocation allocation = Allocation::whole(*machine);
        for (const auto& traffic : mixes) {
            const double best = find_lowest_time(*machine, extents, traffic, {0, 1, 1, 1, 2});
            CHECK(order_axes(allocation, extents, traffic).best.total() <= best * (1 + 1e-9));
        }
    }
}

TEST_CASE("a group that fills a torus has a ring along each dimension, which share the bytes") {
    const std::vector<MeshTraffic> ring{{{0}, MeshCollective::ring, Bytes{1200}}};
    for (const auto& [text, shape] : {std::pair{"torus:4x4", Extents{4, 4}}, {"torus:4x4x4", {4, 4, 4}}}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const std::uint32_t ranks = shape.size() == 2 ? 16 : 64;
        const AxisOrders orders = order_axes(Allocation::whole(machine), Extents{ranks}, ring);
        CHECK(orders.given.ring_shapes == std::vector<Extents>{shape});
        CHECK(orders.given.total() == 1200 / (2 * static_cast<double>(shape.size())));
        CHECK(orders.best.total() == orders.given.total());
    }
}

TEST_CASE("the default order may be given in pieces") {
    const Machine machine = make_machine("torus:4x4");
    const Allocation allocation = Allocation::whole(machine);
    const std::vector<MeshTraffic> ring{{{0}, MeshCollective::ring, Bytes{1000}}};
    const std::vector<AxisPiece> pieces{{1, 2}, {0, 2}, {1, 2}, {0, 2}};
    const AxisOrders orders = order_axes(allocation, Extents{4, 4}, ring, {}, pieces);
    CHECK(format_order(orders.given) == "b2 a2 b2 a2");
    CHECK(orders.given.slot_of_rank[1] == Slot{2U});
    CHECK(orders.given.slot_of_rank[2] == Slot{8U});
    CHECK(orders.given.slot_of_rank[4] == Slot{1U});
    CHECK_THROWS_WITH_AS((void)order_axes(allocation, Extents{4, 4}, ring, {}, std::span(pieces).first(3)),
                         "pieces of axis 0 have 2 ranks, the axis has 4", Error);
}

TEST_CASE("an open ring over two axes of a mesh goes back and forth, so that each step takes one link") {
    const Machine machine = make_machine("mesh:2x8");
    const Allocation allocation = Allocation::whole(machine);
    const std::vector<MeshTraffic> chain{{{0}, MeshCollective::chain, Bytes{1000}}};
    const AxisOrders orders = order_axes(allocation, Extents{16}, chain);
    CHECK(orders.best.total() == 500);
    CHECK(orders.best.back_and_forth[0]);
    CHECK(orders.given.total() > 500);
}

TEST_CASE("groups that do not divide a domain leave slots unused rather than span two domains") {
    // Two groups of 4 in a domain of 10 leave 2 GPUs. In rank order the third group would span two domains.
    const Machine machine = make_machine("rails:10:4:1,bandwidth=1GB/s,bandwidth.nvlink=10GB/s");
    const Allocation allocation = Allocation::whole(machine);
    const std::vector<MeshTraffic> traffic{{{0}, MeshCollective::ring, Bytes{1'000'000'000}}};
    const AxisOrders orders = order_axes(allocation, Extents{4, 8}, traffic);
    CHECK(orders.given.total() == doctest::Approx(0.5));
    CHECK(orders.best.total() == doctest::Approx(0.1));
}

TEST_CASE("blocks of ranks stay whole in domains with missing GPUs") {
    const Machine machine = make_machine("rails:4:3:1");
    // GPU 1 of the first domain and GPU 4 of the second are missing.
    const Allocation allocation = Allocation::of_slots(machine, make_slots({0, 2, 3, 5, 6, 7, 8, 9, 10, 11}));
    const std::vector<grid::SlotLine> lines = grid::slot_lines(allocation, 8, 9);
    CHECK(lines.front().slots == make_slots({0, 2, 3, 5, 6, 7, 8, 9}));
    const std::vector<Slot> pairs = make_slots({0, 2, 5, 6, 8, 9, 10, 11});
    CHECK(std::ranges::count(lines, pairs, &grid::SlotLine::slots) == 1);
    for (const grid::SlotLine& line : lines) CHECK(line.slots.size() == 8);
}

TEST_CASE("boxes of ranks stay whole on a torus with missing nodes") {
    const Machine machine = make_machine("torus:4x4");
    const Allocation allocation = Allocation::of_slots(machine, make_slots({0, 1, 4, 5, 7, 10, 11, 14, 15}));
    const std::vector<Slot> boxes = make_slots({0, 1, 4, 5, 10, 11, 14, 15});
    const std::vector<grid::SlotLine> lines = grid::slot_lines(allocation, 8, 9);
    CHECK(std::ranges::count(lines, boxes, &grid::SlotLine::slots) == 1);
}

TEST_CASE("a line of ranks turns back at the end of a machine row") {
    const Machine machine = make_machine("torus:2x4x8");
    const Allocation whole = Allocation::whole(machine);
    const std::vector<grid::SlotLine> lines = grid::slot_lines(whole, 64, 9);
    REQUIRE(lines.size() == 1);
    CHECK(lines.front().turns == std::vector<std::size_t>{8, 32});
}

TEST_CASE("a stopped search has measured the default order and returns its best result") {
    const Machine machine = make_machine("rails:8:4:4,bandwidth=1GB/s,bandwidth.nvlink=9GB/s");
    const Allocation allocation = Allocation::whole(machine);
    const Extents extents{4, 8, 2, 2};
    const std::vector<MeshTraffic> traffic{{{0}, MeshCollective::ring, Bytes{1'000'000}},
                                           {{1}, MeshCollective::alltoall, Bytes{4'000'000}},
                                           {{2, 3}, MeshCollective::ring, Bytes{500'000}}};
    double before = order_axes(allocation, extents, traffic, {.work = 1}).best.total();
    CHECK(before > order_axes(allocation, extents, traffic).best.total());
    for (const std::uint64_t work : {1U, 1000U, 10'000U, 100'000U}) {
        const AxisOrders orders = order_axes(allocation, extents, traffic, {.work = work});
        CHECK(orders.nested.total() <= orders.given.total());
        CHECK(orders.best.total() <= orders.nested.total());
        CHECK(orders.best.total() <= before);
        before = orders.best.total();
    }
}

TEST_CASE("with times of groups, a traffic takes as long as its slowest group") {
    const Machine machine = make_machine("rails:4:3:1,bandwidth=1GB/s,bandwidth.nvlink=9GB/s");
    const Allocation allocation = Allocation::whole(machine);
    const Extents extents{4, 3};
    const std::vector<MeshTraffic> traffic{{{0}, MeshCollective::ring, Bytes{9'000'000}},
                                           {{1}, MeshCollective::ring, Bytes{2'000'000}},
                                           {{1}, MeshCollective::chain, Bytes{2'000'000}}};
    // Groups of 4 take 3 s in a domain, and 5 s across domains; groups of 3 take a second less for each domain.
    const GroupTimes times{4, [](std::size_t number, std::size_t ranks, std::size_t domains) {
                               CHECK(ranks == (number == 0 ? 4 : 3));
                               return number == 0 ? (domains == 1 ? 3.0 : 5.0)
                                                  : 7.0 - static_cast<double>(domains);
                           }};
    const AxisOrders orders = order_axes(allocation, extents, traffic, {}, {}, times);
    CHECK(orders.given.seconds[0] == doctest::Approx(3));
    // Four groups of 3 share no link: each has the NIC of a GPU in each domain.
    CHECK(orders.given.seconds[1] == doctest::Approx(4));
    CHECK(orders.given.seconds[2] == order_axes(allocation, extents, traffic).given.seconds[2]);
    CHECK(orders.best.total() <= orders.nested.total());
}

TEST_CASE("a mesh that does not fit is refused") {
    const Machine machine = make_machine("torus:4x4");
    const Allocation allocation = Allocation::whole(machine);
    const std::vector<MeshTraffic> none;
    CHECK_THROWS_WITH_AS((void)order_axes(allocation, Extents{}, none),
                         "a mesh without axes; name at least one", Error);
    CHECK_THROWS_WITH_AS((void)order_axes(allocation, Extents{17}, none), "17 ranks do not fit on 16 slots",
                         Error);
    CHECK_THROWS_WITH_AS((void)order_axes(allocation, Extents(9, 1), none),
                         "a mesh of 9 axes; there may be at most 8", Error);
    CHECK(order_axes(allocation, Extents{1, 1}, none).best.slot_of_rank == make_slots({0}));
}
