// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/hyperx.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <sstream>
#include <string_view>
#include <type_traits>

#include "topoloom/base/error.hpp"
#include "topoloom/base/extents.hpp"
#include "topoloom/machine/geometry/axis_name.hpp"
#include "topoloom/machine/notation/axis_notation.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/topologies/host_notation.hpp"
#include "topoloom/machine/topologies/spec_list.hpp"

namespace topoloom {

namespace {

constexpr std::size_t max_axes = 32;

std::uint32_t count_routers(const std::vector<std::uint32_t>& size) {
    return std::accumulate(size.begin(), size.end(), 1U, std::multiplies<>());
}

template <class Space>
HyperXSpec complete_spec(HyperXSpec spec) {
    const std::size_t axes = spec.size.size();
    if (axes == 0 || axes > max_axes) fail("a HyperX has 1 to ", max_axes, " axes, not ", axes);
    if (spec.nodes_per_router == 0) fail("a HyperX needs at least 1 node per router");
    std::uint64_t nodes = spec.nodes_per_router;
    for (const std::uint32_t extent : spec.size) {
        if (extent == 0) fail("an axis of a HyperX has at least 1 router");
        nodes *= extent;
        if (nodes > std::numeric_limits<std::int32_t>::max()) fail("the HyperX has more than 2^31 nodes");
    }
    std::uint64_t links = 0;
    for (const std::uint32_t extent : spec.size)
        links += std::uint64_t{count_routers(spec.size)} * (extent - 1);
    require_link_ids(links);
    complete_list(spec.bandwidth, axes, BytesPerSecond{1}, "bandwidth", "HyperX", "axes");
    complete_list(spec.latency, axes, Seconds{0}, "latency", "HyperX", "axes");
    for (const BytesPerSecond bandwidth : spec.bandwidth) require_bandwidth(bandwidth);
    complete_order(spec.order, axes, "HyperX");
    if constexpr (std::is_same_v<Space, HopTable>) {
        HopTable::require_memory(count_routers(spec.size), count_routers(spec.size), nodes);
    } else if (std::ranges::any_of(spec.size, [](std::uint32_t extent) { return extent > 2; })) {
        fail("an axis of a hypercube has at most 2 routers");
    }
    return spec;
}

template <class Space>
Space make_geometry(const HyperXSpec& spec, const PackedCoordinates& routers) {
    if constexpr (std::is_same_v<Space, HopTable>) {
        const std::uint32_t count = count_routers(spec.size);
        auto hops = HopTable::make_hops(count, [&](std::uint32_t a, std::uint32_t b) {
            return routers.count_differing_axes(routers.key(a), routers.key(b));
        });
        // Each router is a group, so bisection follows the row-major order and halves are blocks of planes.
        std::vector<std::uint32_t> groups(count);
        std::iota(groups.begin(), groups.end(), 0U);
        return HopTable(HopTable::points_of_routers(count, spec.nodes_per_router), count, std::move(hops),
                        std::move(groups));
    } else {
        TorusSpec torus;
        torus.size = spec.size;
        torus.nodes_per_router = spec.nodes_per_router;
        return Space(std::move(torus));
    }
}

}  // namespace

template <class Space>
BasicHyperX<Space>::BasicHyperX(HyperXSpec spec)
    : spec_(complete_spec<Space>(std::move(spec))),
      routers_(spec_.size, spec_.order),
      nodes_per_router_(spec_.nodes_per_router),
      router_count_(count_routers(spec_.size)),
      space_(make_geometry<Space>(spec_, routers_)) {
    first_.push_back(0);
    for (const std::uint32_t extent : spec_.size)
        first_.push_back(first_.back() + std::size_t{router_count_} * (extent - 1));
}

template <class Space>
std::size_t BasicHyperX<Space>::axis_of(Link link) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(first_, link.value) - first_.begin()) - 1;
}

template <class Space>
LinkEnds BasicHyperX<Space>::ends(Link link) const {
    const std::size_t axis = axis_of(link);
    const std::size_t others = spec_.size[axis] - 1;
    const auto from = static_cast<std::uint32_t>((link.value - first_[axis]) / others);
    const auto other = static_cast<std::uint32_t>((link.value - first_[axis]) % others);
    const PackedCoordinates::Field& field = routers_.field(axis);
    const std::uint32_t x = routers_.coordinate(routers_.key(from), field);
    const std::uint32_t y = other < x ? other : other + 1;
    return {from, from + (y - x) * field.step};
}

template <class Space>
std::vector<LinkRun> BasicHyperX<Space>::bandwidth_runs() const {
    std::vector<LinkRun> runs;
    for (std::size_t axis = 0; axis < spec_.size.size(); ++axis)
        runs.push_back({Link{first_[axis]}, first_[axis + 1] - first_[axis], spec_.bandwidth[axis]});
    return runs;
}

/// A link name contains the origin and the coordinate that changes: "(3,0,7) to y=2".
template <class Space>
std::string BasicHyperX<Space>::link_name(Link link) const {
    const std::size_t axis = axis_of(link);
    const auto [from, to] = ends(link);
    std::ostringstream text;
    for (std::size_t d = 0; d < spec_.size.size(); ++d)
        text << (d == 0 ? "(" : ",") << routers_.coordinate(routers_.key(from), routers_.field(d));
    text << ") to " << axis_name(static_cast<std::uint32_t>(axis)) << '='
         << routers_.coordinate(routers_.key(to), routers_.field(axis));
    return text.str();
}

template <class Space>
std::string BasicHyperX<Space>::describe() const {
    std::ostringstream text;
    if (std::ranges::all_of(spec_.size, [](std::uint32_t extent) { return extent == 2; })) {
        text << "hypercube of " << spec_.size.size() << " dimensions";
    } else {
        text << format_extents(spec_.size) << " HyperX";
    }
    if (spec_.nodes_per_router > 1) text << ", " << spec_.nodes_per_router << " nodes per router";
    return text.str();
}

template class BasicHyperX<HopTable>;
template class BasicHyperX<WideTorus>;

namespace {

constexpr std::array hyperx_options{nodes_option,
                                    cards_option,
                                    hosts_option,
                                    order_option,
                                    bandwidth_option(OptionForm::axis_quantities),
                                    latency_option(OptionForm::axis_quantities)};

AnyHyperX read_hyperx_of_size(const Section& section, RouterPlace place, std::vector<std::uint32_t> size) {
    HyperXSpec spec;
    spec.size = std::move(size);
    for (const auto& [key, value] : section.options) {
        const std::string_view name = key.text();
        if (name.ends_with('+') || name.ends_with('-')) {
            key.reject("links of a ", section.name.text(), " have no direction: leave out the + or -;");
        } else if (name == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (name == "order") {
            spec.order = value.numbers(':');
        }
    }
    const AxisQuantities quantities = read_axis_quantities(section, spec.size.size());
    for (const auto& both : quantities.bandwidth) spec.bandwidth.push_back(both[0]);
    for (const auto& both : quantities.latency) spec.latency.push_back(both[0]);
    if (std::ranges::all_of(spec.size, [](std::uint32_t extent) { return extent <= 2; }))
        return with_hosts<Hypercube>(section, place, std::move(spec));
    return with_hosts<HyperX>(section, place, std::move(spec));
}

AnyHyperX read_hyperx(const Section& section) {
    return read_hyperx_of_size(section, RouterPlace::in_switches, section.body.numbers('x'));
}

AnyHyperX read_hypercube(const Section& section) {
    const std::uint32_t dimensions = section.body.number();
    if (dimensions < 1 || dimensions > 31) section.body.reject("a hypercube has 1 to 31 dimensions;");
    return read_hyperx_of_size(section, RouterPlace::in_nodes, std::vector<std::uint32_t>(dimensions, 2));
}

}  // namespace

constinit const TopologyNotation<AnyHyperX> hyperx_notation{
    .form = {.name = "hyperx",
             .summary = "routers all joined along every axis: flattened butterflies",
             .example = "hyperx:8x8x4,nodes=8",
             .body = "size",
             .separator = "x",
             .options = hyperx_options,
             .drawing = Drawing::joined_axes},
    .read = read_hyperx};

constinit const TopologyNotation<AnyHyperX> hypercube_notation{
    .form = {.name = "hypercube",
             .summary = "a router at every corner of a cube",
             .example = "hypercube:10",
             .body = "dimensions",
             .separator = "",
             .options = hyperx_options,
             .drawing = Drawing::cube},
    .read = read_hypercube};

}  // namespace topoloom
