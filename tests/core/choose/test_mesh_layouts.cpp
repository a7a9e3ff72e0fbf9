// SPDX-License-Identifier: BSD-3-Clause
// Several mesh layouts of the same ranks: their times equal those of their placements, even if the layouts
// divide the ranks differently.
#include <doctest.h>

#include <string>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/choose/axis_order.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/loads/objective_loads.hpp"

using namespace topoloom;

namespace {

using Extents = std::vector<std::uint32_t>;

/// Reference: the predicted time in seconds, summed over all phases of all traffic.
double reference_time(const Machine& machine, const MeshLayout& layout, const std::vector<Slot>& slots) {
    double sum = 0;
    for (const auto& [extents, traffic] : layout) {
        for (const CommGraph& phase : mesh_phases(extents, traffic))
            sum += objective_values(machine, {parse_objective("time"), {&phase}}, slots)[3];
    }
    return sum;
}

/// Four layouts, one for each combination: attention along the first or second axis of `a`, experts along the
/// first or second axis of `b`.
std::vector<MeshLayout> make_layouts(const Extents& a, const Extents& b) {
    std::vector<MeshLayout> layouts;
    for (const std::uint32_t attention : {0U, 1U}) {
        for (const std::uint32_t experts : {0U, 1U}) {
            layouts.push_back({{a, {{attention}, MeshCollective::ring, Bytes{70'000}}},
                               {b, {{experts}, MeshCollective::alltoall, Bytes{50'000}}},
                               {b, {{experts, 2}, MeshCollective::ring, Bytes{9'000}}}});
        }
    }
    return layouts;
}

}  // namespace

TEST_CASE(
    "the best order is never worse than the others, uses distinct slots and has the time of its placement") {
    for (const char* text :
         {"torus:4x4x4", "mesh:8x6", "rails:8:3:2", "rails:18:4:1,bandwidth=1GB/s,bandwidth.nvlink=9GB/s",
          "tree:4:4:3", "dragonfly:5x4,nodes=3", "rails:8:8:1+down:3"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        // The meshes of the first pair have a common refinement, 2 x 2 x 2 x 3 x 2, and those of the second
        // pair too, 4 x 12. Those of the third pair have none.
        for (const auto& [a, b] : std::vector<std::pair<Extents, Extents>>{
                 {{2, 2, 12}, {8, 3, 2}}, {{4, 12, 1}, {4, 12, 1}}, {{6, 8, 1}, {4, 3, 4}}}) {
            const std::vector<MeshLayout> layouts = make_layouts(a, b);
            const LayoutOrders orders = order_layouts(allocation, layouts);
            double least = orders.given.total();
            for (const MeshLayout& layout : layouts)
                least = std::min(least, reference_time(machine, layout, orders.given.slot_of_rank));
            CHECK(orders.named.total() == doctest::Approx(least).epsilon(1e-9));
            CHECK(orders.best.total() <= orders.named.total());
            for (const auto& [layout, order] : {std::pair{std::size_t{0}, orders.given},
                                                {orders.named_layout, orders.named},
                                                {orders.best_layout, orders.best}}) {
                const Placement placement(allocation, order.slot_of_rank);
                CHECK(order.total() ==
                      doctest::Approx(reference_time(machine, layouts[layout], order.slot_of_rank))
                          .epsilon(1e-9));
            }
        }
    }
}

TEST_CASE("a single layout is ordered like a mesh with the same traffic, apart from rings along dimensions") {
    const Machine machine = make_machine("tree:4:8");
    const Allocation allocation = Allocation::whole(machine);
    const Extents extents{2, 8, 2};
    const std::vector<MeshTraffic> traffic{{{0}, MeshCollective::alltoall, Bytes{9000}},
                                           {{1}, MeshCollective::ring, Bytes{7000}},
                                           {{2}, MeshCollective::chain, Bytes{7000}}};
    MeshLayout layout;
    for (const MeshTraffic& one : traffic) layout.push_back({extents, one});
    const AxisOrders axes = order_axes(allocation, extents, traffic);
    const LayoutOrders orders = order_layouts(allocation, std::vector<MeshLayout>{layout});
    CHECK(orders.given.seconds == axes.given.seconds);
    CHECK(orders.best.total() <= axes.nested.total());
}

TEST_CASE("a stopped search of layouts has measured the first order and returns its best result") {
    const Machine machine = make_machine("rails:8:6:4,bandwidth=1GB/s,bandwidth.nvlink=9GB/s");
    const Allocation allocation = Allocation::whole(machine);
    const std::vector<MeshLayout> layouts = make_layouts({2, 2, 12}, {8, 3, 2});
    for (const std::uint64_t work : {1U, 1000U, 100'000U}) {
        const LayoutOrders orders = order_layouts(allocation, layouts, {.work = work});
        CHECK(orders.given.total() ==
              doctest::Approx(reference_time(machine, layouts[0], orders.given.slot_of_rank)).epsilon(1e-9));
        CHECK(orders.named.total() <= orders.given.total());
        CHECK(orders.best.total() <= orders.named.total());
    }
}

TEST_CASE("layouts of different jobs are refused") {
    const Machine machine = make_machine("torus:4x4");
    const Allocation allocation = Allocation::whole(machine);
    const MeshTraffic ring{{0}, MeshCollective::ring, Bytes{1}};
    const auto refuse = [&](const std::vector<MeshLayout>& layouts, const std::string& text) {
        CHECK_THROWS_WITH_AS((void)order_layouts(allocation, layouts), text.c_str(), Error);
    };
    refuse({}, "no layouts to choose from; give at least one");
    refuse({{}}, "no layouts to choose from; give at least one");
    refuse({{{{4}, ring}}, {}}, "layout 1 has 0 traffics, layout 0 has 1");
    refuse({{{{4}, ring}, {{2, 4}, ring}}}, "layout 0 has a view of 8 ranks, layout 0 one of 4");
    refuse({{{{17}, ring}}}, "17 ranks do not fit on 16 slots");
    refuse({{{{4, 4}, {{2}, MeshCollective::ring, Bytes{1}}}}}, "the mesh has 2 axes, and no axis 2");
}
