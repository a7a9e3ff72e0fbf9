// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/twisted_torus.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>
#include <sstream>

#include "topoloom/base/error.hpp"
#include "topoloom/base/extents.hpp"
#include "topoloom/machine/geometry/axis_name.hpp"
#include "topoloom/machine/notation/axis_notation.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/topologies/host_notation.hpp"
#include "topoloom/machine/topologies/spec_list.hpp"

namespace topoloom {

namespace {

std::uint32_t count_routers(const TwistedTorusSpec& spec) {
    return std::accumulate(spec.size.begin(), spec.size.end(), 1U, std::multiplies<>());
}

TwistedTorusSpec complete_spec(TwistedTorusSpec spec) {
    const std::size_t axes = spec.size.size();
    if (axes == 0 || axes > TwistedTorus::max_axes)
        fail("a twisted torus has 1 to ", TwistedTorus::max_axes, " axes, not ", axes);
    if (spec.nodes_per_router == 0) fail("a twisted torus needs at least 1 node per router");
    std::uint64_t nodes = spec.nodes_per_router;
    for (const std::uint32_t extent : spec.size) {
        if (extent == 0 || extent > TwistedTorus::max_extent)
            fail("an axis of a twisted torus has 1 to ", TwistedTorus::max_extent, " routers, not ", extent);
        nodes *= extent;
        if (nodes > std::numeric_limits<std::int32_t>::max())
            fail("the twisted torus has more than 2^31 nodes");
    }
    HopTable::require_memory(count_routers(spec), count_routers(spec), nodes);
    require_link_ids(std::uint64_t{2} * axes * count_routers(spec));
    complete_list(spec.twist, axes, std::vector<std::uint32_t>(axes, 0), "twist", "twisted torus", "axes");
    for (std::size_t d = 0; d < axes; ++d) {
        complete_list(spec.twist[d], axes, 0U, "a twist", "twisted torus", "axes");
        if (spec.twist[d][d] != 0)
            fail("the twist of axis ", axis_name(static_cast<std::uint32_t>(d)), " shifts that axis itself");
        for (std::size_t e = 0; e < axes; ++e) {
            if (spec.twist[d][e] < spec.size[e]) continue;
            fail("a twist of ", spec.twist[d][e], " along axis ", axis_name(static_cast<std::uint32_t>(e)),
                 " is not below its extent ", spec.size[e]);
        }
    }
    complete_list(spec.bandwidth, axes, {BytesPerSecond{1}, BytesPerSecond{1}}, "bandwidth", "twisted torus",
                  "axes");
    complete_list(spec.latency, axes, {Seconds{0}, Seconds{0}}, "latency", "twisted torus", "axes");
    for (const auto& [up, down] : spec.bandwidth) {
        require_bandwidth(up);
        require_bandwidth(down);
    }
    return spec;
}

/// Sorts the axes so that each axis precedes the axes that it shifts. In this order the lattice matrix is
/// triangular, and its determinant is the product of the extents. So each integer vector equals exactly one
/// vector within the extents.
std::vector<std::size_t> sort_axes_by_twist(const TwistedTorusSpec& spec) {
    const std::size_t axes = spec.size.size();
    std::vector<std::size_t> order;
    std::vector<bool> sorted(axes, false);
    while (order.size() < axes) {
        const auto shifted = [&](std::size_t axis) {
            for (std::size_t d = 0; d < axes; ++d) {
                if (!sorted[d] && spec.twist[d][axis] != 0) return true;
            }
            return false;
        };
        std::size_t axis = 0;
        while (axis < axes && (sorted[axis] || shifted(axis))) ++axis;
        if (axis == axes) fail("twists form a cycle; let none shift an axis whose twist leads back to it");
        sorted[axis] = true;
        order.push_back(axis);
    }
    return order;
}

}  // namespace

TwistedTorus::TwistedTorus(TwistedTorusSpec spec)
    : spec_(complete_spec(std::move(spec))),
      wrap_order_(sort_axes_by_twist(spec_)),
      nodes_per_router_(spec_.nodes_per_router) {
    const std::uint32_t routers = count_routers(spec_);
    key_.resize(routers);
    for (std::uint32_t router = 0; router < routers; ++router) {
        const Vector at = position(router);
        for (std::size_t d = 0; d < at.size(); ++d)
            key_[router] = key_[router] * (2 * spec_.size[d] - 1) + static_cast<std::uint32_t>(at[d]);
    }
    center_ = key_.back();
    link_routers();
    find_step_vectors();
    fill_tables();
    auto hops = HopTable::make_hops(
        routers, [&](std::uint32_t a, std::uint32_t b) { return this->hops(key_[a], key_[b]); });
    table_ = HopTable(HopTable::points_of_routers(routers, spec_.nodes_per_router), routers, std::move(hops));
}

auto TwistedTorus::position(std::uint32_t router) const -> Vector {
    const std::vector<std::uint32_t> at = row_major_coordinates(router, spec_.size);
    return {at.begin(), at.end()};
}

std::uint32_t TwistedTorus::router_at(Vector at) const {
    for (const std::size_t axis : wrap_order_) {
        const std::int64_t size = spec_.size[axis];
        const std::int64_t inside = (at[axis] % size + size) % size;
        const std::int64_t rounds = (at[axis] - inside) / size;
        for (std::size_t d = 0; d < at.size(); ++d) at[d] += rounds * spec_.twist[axis][d];
        at[axis] = inside;
    }
    std::uint32_t router = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
        router = router * spec_.size[d] + static_cast<std::uint32_t>(at[d]);
    return router;
}

void TwistedTorus::link_routers() {
    for (std::size_t axis = 0; axis < spec_.size.size(); ++axis) {
        for (const int step : {1, -1}) {
            first_.push_back(next_.size());
            for (std::uint32_t router = 0; router < key_.size(); ++router) {
                Vector at = position(router);
                at[axis] += step;
                const std::uint32_t next = router_at(std::move(at));
                if (next == router) break;  // the axis has extent 1, so no router has this link
                next_.push_back(next);
            }
        }
    }
}

/// Uses breadth-first search from router 0. A shortest vector to a router is a shortest vector to a
/// predecessor plus a step. Adding the same step preserves the lexicographic order of vectors.
void TwistedTorus::find_step_vectors() {
    const std::size_t axes = spec_.size.size();
    std::vector<std::uint16_t> hops_to(key_.size(), HopTable::unreached);
    std::vector<std::int16_t> all_steps(key_.size() * axes, 0);
    const auto steps_to = [&](std::uint32_t router) {
        return std::span(all_steps).subspan(router * axes, axes);
    };
    std::vector<std::uint32_t> queue{0};
    hops_to[0] = 0;
    std::vector<std::int16_t> steps(axes);
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const std::uint32_t from = queue[i];
        for (std::size_t line = 0; line < first_.size(); ++line) {
            const std::size_t end = line + 1 < first_.size() ? first_[line + 1] : next_.size();
            if (first_[line] == end) continue;
            const std::uint32_t to = next_[first_[line] + from];
            std::ranges::copy(steps_to(from), steps.begin());
            steps[line / 2] = static_cast<std::int16_t>(steps[line / 2] + (line % 2 == 0 ? 1 : -1));
            if (hops_to[to] == HopTable::unreached) {
                hops_to[to] = static_cast<std::uint16_t>(hops_to[from] + 1);
                queue.push_back(to);
            } else if (hops_to[to] != hops_to[from] + 1 ||
                       !std::ranges::lexicographical_compare(steps_to(to), steps)) {
                continue;
            }
            std::ranges::copy(steps, steps_to(to).begin());
        }
    }
    for (std::uint32_t router = 0; router < key_.size(); ++router) {
        way_.push_back(step_.size());
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const int along = steps_to(router)[axis];
            step_.insert(step_.end(), static_cast<std::size_t>(std::abs(along)),
                         static_cast<std::uint8_t>(2 * axis + (along < 0 ? 1 : 0)));
        }
    }
    way_.push_back(step_.size());
}

void TwistedTorus::fill_tables() {
    const std::size_t axes = spec_.size.size();
    Vector apart(axes);
    for (std::size_t d = 0; d < axes; ++d) apart[d] = 1 - std::int64_t{spec_.size[d]};
    for (std::size_t d = axes; d > 0;) {
        const std::uint32_t router = router_at(apart);
        difference_.push_back(router);
        hops_.push_back(static_cast<std::uint16_t>(way_[router + 1] - way_[router]));
        for (d = axes; d > 0 && ++apart[d - 1] == spec_.size[d - 1]; --d)
            apart[d - 1] = 1 - std::int64_t{spec_.size[d - 1]};
    }
}

std::size_t TwistedTorus::line_of(Link link) const {
    // If several lines begin at one link, all except the last are empty.
    return static_cast<std::size_t>(std::ranges::upper_bound(first_, link.value) - first_.begin()) - 1;
}

LinkEnds TwistedTorus::ends(Link link) const {
    return {static_cast<std::uint32_t>(link.value - first_[line_of(link)]), next_[link.value]};
}

BytesPerSecond TwistedTorus::bandwidth(Link link) const {
    const std::size_t line = line_of(link);
    return spec_.bandwidth[line / 2][line % 2];
}

std::vector<LinkRun> TwistedTorus::bandwidth_runs() const {
    std::vector<LinkRun> runs;
    for (std::size_t line = 0; line < first_.size(); ++line) {
        const std::size_t end = line + 1 < first_.size() ? first_[line + 1] : next_.size();
        runs.push_back({Link{first_[line]}, end - first_[line], spec_.bandwidth[line / 2][line % 2]});
    }
    return runs;
}

Seconds TwistedTorus::latency(Link link) const {
    const std::size_t line = line_of(link);
    return spec_.latency[line / 2][line % 2];
}

/// A link name contains the origin and the direction: "(3,0,7) +x".
std::string TwistedTorus::link_name(Link link) const {
    const std::size_t line = line_of(link);
    const Vector from = position(ends(link).from);
    std::ostringstream text;
    for (std::size_t d = 0; d < from.size(); ++d) text << (d == 0 ? "(" : ",") << from[d];
    text << ") " << (line % 2 == 0 ? '+' : '-') << axis_name(static_cast<std::uint32_t>(line / 2));
    return text.str();
}

std::string TwistedTorus::describe() const {
    std::ostringstream text;
    text << format_extents(spec_.size) << " twisted torus";
    if (spec_.nodes_per_router > 1) text << ", " << spec_.nodes_per_router << " nodes per router";
    return text.str();
}

namespace {

constexpr std::array twisted_options{
    TopologyOption{"twist", OptionForm::axis_shifts, "shift of each axis where one closes"},
    nodes_option,
    cards_option,
    hosts_option,
    bandwidth_option(OptionForm::direction_quantities),
    latency_option(OptionForm::direction_quantities)};

Hosted<TwistedTorus> read_twisted(const Section& section) {
    TwistedTorusSpec spec;
    spec.size = section.body.numbers('x');
    const std::size_t axes = spec.size.size();
    spec.twist.assign(axes, std::vector<std::uint32_t>(axes, 0));
    for (const auto& [key, value] : section.options) {
        const auto [name, axis] = key.cut('.');
        if (key.text() == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (name.text() == "twist") {
            std::vector<std::uint32_t>& twist = spec.twist[read_axis(*axis, axes)];
            twist = value.numbers(':');
            if (twist.size() != axes) value.reject("expected a shift for each of the ", axes, " axes");
        }
    }
    AxisQuantities quantities = read_axis_quantities(section, axes);
    spec.bandwidth = std::move(quantities.bandwidth);
    spec.latency = std::move(quantities.latency);
    return with_hosts<TwistedTorus>(section, RouterPlace::in_nodes, std::move(spec));
}

}  // namespace

constinit const TopologyNotation<Hosted<TwistedTorus>> twisted_notation{
    .form = {.name = "twisted",
             .summary = "a torus whose links that close an axis also shift others",
             .example = "twisted:4x4x8,twist.x=0:0:4,twist.y=0:0:4",
             .body = "size",
             .separator = "x",
             .options = twisted_options,
             .drawing = Drawing::grid},
    .read = read_twisted};

}  // namespace topoloom
