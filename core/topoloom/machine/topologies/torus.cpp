// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/torus.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/extents.hpp"
#include "topoloom/machine/geometry/axis_name.hpp"
#include "topoloom/machine/notation/axis_notation.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/topologies/host_notation.hpp"
#include "topoloom/machine/topologies/spec_list.hpp"

namespace topoloom {

namespace {

void complete_spec(TorusSpec& spec, std::size_t axis_limit, std::uint32_t max_extent) {
    const std::size_t axes = spec.size.size();
    if (axes == 0 || axes > axis_limit) fail("a torus has 1 to ", axis_limit, " axes, not ", axes);
    if (spec.nodes_per_router == 0) fail("a torus needs at least 1 node per router");
    std::uint64_t nodes = spec.nodes_per_router;
    for (const std::uint32_t extent : spec.size) {
        if (extent == 0 || extent > max_extent)
            fail("an axis of a torus has 1 to ", max_extent, " routers, not ", extent);
        nodes *= extent;
        if (nodes > std::numeric_limits<std::int32_t>::max()) fail("the torus has more than 2^31 nodes");
    }
    complete_list(spec.wrap, axes, true, "wrap", "torus", "axes");
    complete_list(spec.bandwidth, axes, {BytesPerSecond{1}, BytesPerSecond{1}}, "bandwidth", "torus", "axes");
    complete_list(spec.latency, axes, {Seconds{0}, Seconds{0}}, "latency", "torus", "axes");
    for (const auto& [up, down] : spec.bandwidth) {
        require_bandwidth(up);
        require_bandwidth(down);
    }
    complete_order(spec.order, axes, "torus");
}

}  // namespace

template <std::size_t Width>
BasicTorus<Width>::BasicTorus(TorusSpec spec) : spec_(std::move(spec)) {
    complete_spec(spec_, Width, max_extent);
    const std::uint32_t axes = axis_count();
    nodes_per_router_ = Divisor(spec_.nodes_per_router);
    if (spec_.ties == TorusTies::simgrid) minus_to_ = 0;
    ring_.at.fill(std::numeric_limits<Coordinate>::max());
    for (std::uint32_t d = 0; d < axes; ++d) {
        router_count_ *= spec_.size[d];
        if (spec_.wrap[d]) ring_.at[d] = static_cast<Coordinate>(spec_.size[d]);
    }
    lines_.resize(axes);
    for (std::uint32_t axis = 0; axis < axes; ++axis) {
        AxisLinks& lines = lines_[axis];
        const std::uint32_t size = spec_.size[axis];
        lines.ring = spec_.wrap[axis] ? static_cast<std::int32_t>(size) : 0;
        lines.length = size == 1 ? 0 : spec_.wrap[axis] ? size : size - 1;
        std::size_t step = 1;
        std::uint32_t stride = 1;
        for (std::uint32_t d = axes; d-- > 0;) {
            lines.step[d] = static_cast<std::uint32_t>(step);
            if (d > axis) stride *= spec_.size[d];
            step *= d == axis ? lines.length : spec_.size[d];
        }
        lines.first = {link_count_, link_count_ + step};
        lines.around = std::size_t{size} * lines.step[axis];
        lines.gap = lines.length < size ? lines.step[axis] : 0;
        lines.stride = Divisor(stride);
        lines.size = Divisor(size);
        link_count_ += 2 * step;
    }
    require_link_ids(link_count_);
}

template <std::size_t Width>
auto BasicTorus<Width>::router_point(std::uint32_t router) const -> Point {
    Point p;
    for (std::uint32_t d = 0; d < axis_count(); ++d)
        p.at[d] = static_cast<Coordinate>(position(lines_[d], router));
    return p;
}

template <std::size_t Width>
std::uint32_t BasicTorus<Width>::router_at(const Point& p) const {
    std::uint32_t router = 0;
    for (std::uint32_t d = 0; d < axis_count(); ++d) {
        router = router * spec_.size[d] + static_cast<std::uint32_t>(p.at[d]);
    }
    return router;
}

template <std::size_t Width>
std::uint32_t BasicTorus<Width>::diameter() const {
    std::uint32_t sum = 0;
    for (std::uint32_t d = 0; d < axis_count(); ++d)
        sum += spec_.wrap[d] ? spec_.size[d] / 2 : spec_.size[d] - 1;
    return sum;
}

template <std::size_t Width>
void BasicTorus<Width>::convert_sums(std::span<double> loads) const {
    for (std::uint32_t axis = 0; axis < axis_count(); ++axis) {
        const std::size_t step = lines_[axis].step[axis];
        const std::size_t block = step * lines_[axis].length;
        const std::size_t links = 2 * (lines_[axis].first[1] - lines_[axis].first[0]);
        for (std::size_t begin = lines_[axis].first[0]; begin < lines_[axis].first[0] + links;
             begin += block) {
            for (std::size_t i = begin + step; i < begin + block; ++i) loads[i] += loads[i - step];
        }
    }
}

template <std::size_t Width>
auto BasicTorus<Width>::locate_link(Link link) const -> LinkPlace {
    std::uint32_t axis = axis_count() - 1;
    while (link.value < lines_[axis].first[0]) --axis;
    const AxisLinks& lines = lines_[axis];
    const std::uint32_t sign = link.value >= lines.first[1] ? 1 : 0;
    std::size_t rest = link.value - lines.first[sign];
    LinkPlace place{axis, sign, {}};
    for (std::uint32_t d = 0; d < axis_count(); ++d) {
        place.lower.at[d] = static_cast<Coordinate>(rest / lines.step[d]);
        rest %= lines.step[d];
    }
    return place;
}

template <std::size_t Width>
LinkEnds BasicTorus<Width>::ends(Link link) const {
    const LinkPlace place = locate_link(link);
    Point upper = place.lower;
    Coordinate& moved = upper.at[place.axis];
    moved = static_cast<Coordinate>((static_cast<std::uint32_t>(moved) + 1) % spec_.size[place.axis]);
    const std::uint32_t low = router_at(place.lower);
    const std::uint32_t high = router_at(upper);
    return place.sign == 0 ? LinkEnds{low, high} : LinkEnds{high, low};
}

template <std::size_t Width>
BytesPerSecond BasicTorus<Width>::bandwidth(Link link) const {
    const LinkPlace place = locate_link(link);
    return spec_.bandwidth[place.axis][place.sign];
}

template <std::size_t Width>
std::vector<LinkRun> BasicTorus<Width>::bandwidth_runs() const {
    std::vector<LinkRun> runs;
    for (std::uint32_t axis = 0; axis < axis_count(); ++axis) {
        const auto& first = lines_[axis].first;
        for (const std::size_t sign : {0U, 1U}) {
            runs.push_back({Link{first[sign]}, first[1] - first[0], spec_.bandwidth[axis][sign]});
        }
    }
    return runs;
}

template <std::size_t Width>
Seconds BasicTorus<Width>::latency(Link link) const {
    const LinkPlace place = locate_link(link);
    return spec_.latency[place.axis][place.sign];
}

/// A link name contains the origin and the direction: "(3,0,7) +x".
template <std::size_t Width>
std::string BasicTorus<Width>::link_name(Link link) const {
    const LinkPlace place = locate_link(link);
    const Point from = router_point(ends(link).from);
    std::ostringstream text;
    for (std::uint32_t d = 0; d < axis_count(); ++d) text << (d == 0 ? "(" : ",") << from.at[d];
    text << ") " << (place.sign == 0 ? '+' : '-') << axis_name(place.axis);
    return text.str();
}

template <std::size_t Width>
std::vector<std::uint32_t> BasicTorus<Width>::coordinates(Node node) const {
    const Point p = point(node);
    return {p.at.begin(), p.at.begin() + axis_count()};
}

/// One table per axis suffices because hops are sums over axes. O(points * axes + sum of extents).
template <std::size_t Width>
std::vector<std::uint64_t> BasicTorus<Width>::total_distances(std::span<const Point> points) const {
    const std::vector<std::uint64_t> ones(points.size(), 1);
    const DistanceSum all(*this, points, ones);
    std::vector<std::uint64_t> totals(points.size());
    std::transform(points.begin(), points.end(), totals.begin(), [&](const Point& p) { return all.at(p); });
    return totals;
}

template <std::size_t Width>
auto BasicTorus<Width>::region(std::span<const Point> points) const -> Region {
    Region box{points.front().at, points.front().at};
    for (const Point& p : points) {
        for (std::size_t d = 0; d < Width; ++d) {
            box.low[d] = std::min(box.low[d], p.at[d]);
            box.high[d] = std::max(box.high[d], p.at[d]);
        }
    }
    return box;
}

template <std::size_t Width>
auto BasicTorus<Width>::covering_interval(std::uint32_t axis, std::span<const Point> points) const
    -> Interval {
    std::vector<char> used(spec_.size[axis], 0);
    for (const Point& p : points) used[static_cast<std::size_t>(p.at[axis])] = 1;
    const auto size = static_cast<std::uint32_t>(used.size());
    const auto first = static_cast<std::uint32_t>(std::ranges::find(used, 1) - used.begin());
    const auto last =
        size - 1 - static_cast<std::uint32_t>(std::find(used.rbegin(), used.rend(), 1) - used.rbegin());
    Interval interval{first, last - first};
    if (!spec_.wrap[axis]) return interval;
    std::uint32_t widest = size - interval.length;  // the gap across the end of the ring
    for (std::uint32_t x = first; x < last;) {
        std::uint32_t next = x + 1;
        while (used[next] == 0) ++next;
        if (next - x > widest) {
            widest = next - x;
            interval = {next, size - widest};
        }
        x = next;
    }
    return interval;
}

template <std::size_t Width>
std::vector<SplitKey> BasicTorus<Width>::split_keys(std::span<const Point> points) const {
    std::vector<Interval> intervals;
    std::vector<std::uint32_t> axes;
    for (std::uint32_t d = 0; d < axis_count(); ++d) {
        intervals.push_back(covering_interval(d, points));
        axes.push_back(d);
    }
    // Two routers of a ring are at most half the ring apart.
    const auto farthest = [&](std::uint32_t d) {
        return spec_.wrap[d] ? std::min(intervals[d].length, spec_.size[d] / 2) : intervals[d].length;
    };
    std::stable_sort(axes.begin(), axes.end(), [&](auto a, auto b) { return farthest(a) > farthest(b); });
    const auto along = [&](const Point& p, std::uint32_t d) {
        const auto x = static_cast<std::uint32_t>(p.at[d]);
        return x >= intervals[d].start ? x - intervals[d].start : x + spec_.size[d] - intervals[d].start;
    };
    std::vector<SplitKey> keys;
    keys.reserve(points.size());
    for (const Point& p : points) {
        SplitKey key{axes.empty() ? 0 : along(p, axes.front()), 0};
        for (const std::uint32_t d : axes) key.minor = key.minor * spec_.size[d] + along(p, d);
        keys.push_back(key);
    }
    return keys;
}

template <std::size_t Width>
BasicTorus<Width>::DistanceSum::DistanceSum(const BasicTorus& torus, std::span<const Point> points,
                                            std::span<const std::uint64_t> weights)
    : axes_(torus.axis_count()) {
    for (std::uint32_t d = 0; d < axes_; ++d) start_[d + 1] = start_[d] + torus.spec_.size[d];
    table_.assign(start_[axes_], 0);
    for (std::uint32_t d = 0; d < axes_; ++d) {
        const std::uint32_t size = torus.spec_.size[d];
        if (size == 1) continue;
        // Distances are piecewise linear, so store their second differences, modulo 2^64, and sum twice.
        // O(points + size).
        std::uint64_t* const table = table_.data() + start_[d];
        std::uint64_t sum = 0;    // at position 0
        std::uint64_t slope = 0;  // from 0 to 1
        for (std::size_t i = 0; i < points.size(); ++i) {
            const auto at = static_cast<std::uint32_t>(points[i].at[d]);
            const std::uint64_t from_0 = weights[i] * torus.distance_on_axis(d, 0, points[i].at[d]);
            sum += from_0;
            slope += weights[i] * torus.distance_on_axis(d, 1, points[i].at[d]) - from_0;
            table[at] += 2 * weights[i];
            if (!torus.spec_.wrap[d]) continue;
            for (const std::uint32_t half : {size / 2, size - size / 2}) {
                const std::uint32_t antipode = at + half;
                table[antipode < size ? antipode : antipode - size] -= weights[i];
            }
        }
        table[0] = sum;
        for (std::uint32_t c = 1; c < size; ++c) {
            sum += slope;
            slope += std::exchange(table[c], sum);
        }
    }
}

template <std::size_t Width>
std::uint64_t BasicTorus<Width>::DistanceSum::at(const Point& p) const {
    std::uint64_t sum = 0;
    for (std::uint32_t d = 0; d < axes_; ++d) sum += table_[start_[d] + static_cast<std::uint32_t>(p.at[d])];
    return sum;
}

template <std::size_t Width>
std::uint64_t BasicTorus<Width>::DistanceSum::bound(const Region& box) const {
    std::uint64_t sum = 0;
    for (std::uint32_t d = 0; d < axes_; ++d) {
        const std::uint64_t* const table = table_.data() + start_[d];
        std::uint64_t least = table[box.low[d]];
        for (std::int32_t c = box.low[d] + 1; c <= box.high[d]; ++c) least = std::min(least, table[c]);
        sum += least;
    }
    return sum;
}

template <std::size_t Width>
std::string BasicTorus<Width>::describe() const {
    std::ostringstream text;
    const bool any_wrap = std::find(spec_.wrap.begin(), spec_.wrap.end(), true) != spec_.wrap.end();
    text << format_extents(spec_.size) << (any_wrap ? " torus" : " mesh");
    if (spec_.nodes_per_router > 1) text << ", " << spec_.nodes_per_router << " nodes per router";
    return text.str();
}

template class BasicTorus<8>;
template class BasicTorus<32>;

namespace {

constexpr std::array<std::string_view, 3> torus_ties{"plus", "split", "simgrid"};

constexpr std::array torus_options{
    TopologyOption{"wrap", OptionForm::axis_flags, "which axes are rings"},
    nodes_option,
    cards_option,
    hosts_option,
    order_option,
    TopologyOption{"ties", OptionForm::word, "which direction messages take half way around a ring",
                   torus_ties},
    bandwidth_option(OptionForm::direction_quantities),
    latency_option(OptionForm::direction_quantities)};
constexpr std::span<const TopologyOption> mesh_options = std::span(torus_options).subspan(1);  // no wrap

AnyTorus read_grid(const Section& section, bool wrapped) {
    TorusSpec spec;
    spec.size = section.body.numbers('x');
    const std::size_t axes = spec.size.size();
    spec.wrap.assign(axes, wrapped);
    AxisQuantities quantities = read_axis_quantities(section, axes);
    spec.bandwidth = std::move(quantities.bandwidth);
    spec.latency = std::move(quantities.latency);
    for (const auto& [key, value] : section.options) {
        if (key.text() == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (key.text() == "order") {
            spec.order = value.numbers(':');
        } else if (key.text() == "ties") {
            spec.ties = static_cast<TorusTies>(value.one_of(torus_ties));
        } else if (key.text() == "wrap") {
            if (value.text().size() != axes ||
                value.text().find_first_not_of("01") != std::string_view::npos) {
                value.reject("expected a 0 or 1 for each of the ", axes, " axes");
            }
            for (std::size_t d = 0; d < axes; ++d) spec.wrap[d] = value.text()[d] == '1';
        }
    }
    if (axes > 8) return with_hosts<WideTorus>(section, RouterPlace::in_nodes, std::move(spec));
    auto hosted = with_hosts<Torus>(section, RouterPlace::in_nodes, std::move(spec));
    if (hosted.has_host_links()) return hosted;
    return hosted.router_network();
}

AnyTorus read_torus(const Section& section) { return read_grid(section, true); }
AnyTorus read_mesh(const Section& section) { return read_grid(section, false); }

}  // namespace

constinit const TopologyNotation<AnyTorus> torus_notation{
    .form = {.name = "torus",
             .summary = "rings in every dimension (wrap=110 opens some); dimension-ordered routes",
             .example = "torus:17x8x24,nodes=2,bandwidth=9.4GB/s,bandwidth.y=half",
             .body = "size",
             .separator = "x",
             .options = torus_options,
             .drawing = Drawing::rings},
    .read = read_torus};

constinit const TopologyNotation<AnyTorus> mesh_notation{
    .form = {.name = "mesh",
             .summary = "a torus without the wrap-around links",
             .example = "mesh:4x4x4",
             .body = "size",
             .separator = "x",
             .options = mesh_options,
             .drawing = Drawing::grid},
    .read = read_mesh};

}  // namespace topoloom
