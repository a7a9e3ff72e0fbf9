// SPDX-License-Identifier: BSD-3-Clause
// Exposes orders of mesh axes and layouts to Python.
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/choose/axis_order.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

constexpr std::array collectives{"ring", "alltoall", "halving", "chain"};

using Traffic = std::tuple<std::vector<std::uint32_t>, std::string, std::int64_t>;

MeshTraffic make_traffic(const Traffic& traffic) {
    const auto& [axes, name, bytes] = traffic;
    const auto* const found = std::ranges::find(collectives, name);
    if (found == collectives.end())
        throw Error(unknown_name_message("collective", name, {collectives.begin(), collectives.end()}));
    return {axes, static_cast<MeshCollective>(found - collectives.begin()), Bytes{bytes}};
}

std::vector<MeshTraffic> make_traffics(const std::vector<Traffic>& traffic) {
    std::vector<MeshTraffic> all;
    std::ranges::transform(traffic, std::back_inserter(all), make_traffic);
    return all;
}

/// Slots per domain, and GroupTimes::predict.
using DomainTimes = std::pair<std::uint32_t, std::function<double(std::size_t, std::size_t, std::size_t)>>;

GroupTimes make_group_times(const std::optional<DomainTimes>& times) {
    return times ? GroupTimes{times->first, times->second} : GroupTimes{};
}

using SeenTraffic =
    std::tuple<std::vector<std::uint32_t>, std::vector<std::uint32_t>, std::string, std::int64_t>;

std::vector<MeshLayout> make_layouts(const std::vector<std::vector<SeenTraffic>>& layouts) {
    std::vector<MeshLayout> all;
    for (const std::vector<SeenTraffic>& views : layouts) {
        MeshLayout& layout = all.emplace_back();
        for (const auto& [extents, axes, collective, bytes] : views)
            layout.push_back({extents, make_traffic({axes, collective, bytes})});
    }
    return all;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> list_pieces(const AxisOrder& order) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;
    for (const auto& [axis, size] : order.pieces) pieces.emplace_back(axis, size);
    return pieces;
}

}  // namespace

void bind_axes(nb::module_& m) {
    nb::class_<AxisOrder>(m, "AxisOrder", "A way to lay a mesh of ranks along a line of slots.")
        .def_prop_ro(
            "pieces", &list_pieces,
            "(axis, size) of the pieces along the line, fastest first; pieces of one axis ascend by digit.")
        .def_ro("back_and_forth", &AxisOrder::back_and_forth,
                "By axis: whether every other row of a piece runs backwards.")
        .def_prop_ro(
            "slots",
            [](nb::handle_t<AxisOrder> o) {
                return view(std::span<const Slot>(nb::cast<const AxisOrder&>(o).slot_of_rank), o);
            },
            "uint32 array (ranks,): the slot of each rank; the first axis is the fastest.")
        .def_ro("seconds", &AxisOrder::seconds, "Seconds by traffic.")
        .def_ro("ring_shapes", &AxisOrder::ring_shapes,
                "By traffic: sizes of the rings that share its bytes, or nothing for one ring.")
        .def_prop_ro("total", &AxisOrder::total, "Seconds of all traffic.");
    m.def(
        "order_axes",
        [](const Allocation& allocation, const std::vector<std::uint32_t>& extents,
           const std::vector<Traffic>& traffic, const std::optional<Progress>& progress,
           const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces,
           const std::optional<DomainTimes>& times) {
            SearchMonitor monitor(progress);
            const Budget budget = make_budget(std::nullopt, std::nullopt, monitor);
            std::vector<AxisPiece> given;
            for (const auto& [axis, size] : pieces) given.push_back({axis, size});
            const GroupTimes group_times = make_group_times(times);
            AxisOrders orders = monitor.run([&] {
                return order_axes(allocation, extents, make_traffics(traffic), budget, given, group_times);
            });
            return std::tuple(std::move(orders.given), std::move(orders.nested), std::move(orders.best));
        },
        "allocation"_a, "extents"_a, "traffic"_a, "progress"_a = nb::none(),
        "pieces"_a = std::vector<std::pair<std::uint32_t, std::uint32_t>>(), "times"_a = nb::none(),
        "Orders axes: (as given, in their best order, also split). Traffic is (axes, collective, bytes per "
        "rank). `progress` is called with the work done; False ends the search. `pieces` is the given order, "
        "as (axis, size), fastest first. `times` replaces line rates: (slots per domain, function from the "
        "number of a traffic, ranks of a group and domains that have some of them to its seconds).");
    m.def(
        "order_layouts",
        [](const Allocation& allocation, const std::vector<std::vector<SeenTraffic>>& layouts,
           const std::optional<Progress>& progress, const std::optional<DomainTimes>& times) {
            SearchMonitor monitor(progress);
            const Budget budget = make_budget(std::nullopt, std::nullopt, monitor);
            const GroupTimes group_times = make_group_times(times);
            LayoutOrders orders = monitor.run(
                [&] { return order_layouts(allocation, make_layouts(layouts), budget, group_times); });
            return std::tuple(std::move(orders.given),
                              std::pair(orders.named_layout, std::move(orders.named)),
                              std::pair(orders.best_layout, std::move(orders.best)));
        },
        "allocation"_a, "layouts"_a, "progress"_a = nb::none(), "times"_a = nb::none(),
        "Orders layouts: the first, the best on the same slots with its index, and the best with other "
        "slots. A layout has (extents, axes, collective, bytes per rank) for each traffic. `progress` is "
        "called with the work done; False ends the search. `times` is as for order_axes.");
    m.def(
        "mesh_phases",
        [](const std::vector<std::uint32_t>& extents, const Traffic& traffic,
           std::vector<std::uint32_t> shape) {
            MeshTraffic one = make_traffic(traffic);
            one.shape = std::move(shape);
            return mesh_phases(extents, one);
        },
        "extents"_a, "traffic"_a, "shape"_a = std::vector<std::uint32_t>(),
        nb::call_guard<nb::gil_scoped_release>(),
        "Makes the phases of one traffic of a mesh, whose first axis is the fastest. `shape` has the sizes "
        "of the rings that share its bytes.");
}

}  // namespace topoloom::python
