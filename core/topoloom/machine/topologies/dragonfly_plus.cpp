// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/dragonfly_plus.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <string_view>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/topologies/host_notation.hpp"

namespace topoloom {

namespace {

/// Checks all sizes before memory is allocated, and sets the number of global links if none is given.
DragonflyPlusSpec complete_spec(DragonflyPlusSpec spec) {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    if (spec.groups == 0 || spec.leaves == 0 || spec.spines == 0)
        fail("a Dragonfly+ has at least 1 group, and 1 leaf and 1 spine in it");
    if (spec.nodes_per_router == 0) fail("a Dragonfly+ needs at least 1 node per leaf");
    const std::uint64_t leaves = std::uint64_t{spec.groups} * spec.leaves;
    const std::uint64_t spines = std::uint64_t{spec.groups} * spec.spines;
    if (leaves > most || leaves * spec.nodes_per_router > most)
        fail("the Dragonfly+ has more than 2^31 nodes");
    if (spines > most || leaves + spines > most) fail("the Dragonfly+ has more than 2^31 switches");
    for (const BytesPerSecond bandwidth : spec.bandwidth) require_bandwidth(bandwidth);
    const std::uint64_t others = spec.groups - 1;
    if (!spec.global_links)
        spec.global_links = static_cast<std::uint32_t>((others + spec.spines - 1) / spec.spines);
    const std::uint64_t ports = std::uint64_t{spec.spines} * *spec.global_links;
    if (ports < others) {
        fail(spec.groups, " groups need ", others, " global ports each, but ", spec.spines,
             spec.spines == 1 ? " spine" : " spines", " with ", *spec.global_links, " have only ", ports,
             "; give more global links per spine");
    }
    require_link_ids(leaves * spec.spines);
    require_link_ids(2 * leaves * spec.spines + std::uint64_t{spec.groups} * std::min(ports, most));
    if (ports > most) fail("a group of the Dragonfly+ has more than 2^31 global links");
    HopTable::require_memory(leaves, leaves);
    return spec;
}

}  // namespace

DragonflyPlus::DragonflyPlus(DragonflyPlusSpec spec)
    : spec_(complete_spec(spec)),
      nodes_(spec_.nodes_per_router),
      leaves_(spec_.leaves),
      ports_(std::max(1U, *spec_.global_links)) {
    if (spec_.groups > 1) links_between_groups_ = spec_.spines * *spec_.global_links / (spec_.groups - 1);
    local_links_ = 2 * spec_.groups * spec_.leaves * spec_.spines;
    link_count_ =
        local_links_ + std::size_t{spec_.groups} * (spec_.groups - 1) * std::size_t{links_between_groups_};
    measure_hops();
}

void DragonflyPlus::measure_hops() {
    const std::uint32_t rows = spec_.groups * spec_.leaves;
    std::vector<std::uint32_t> group;
    for (std::uint32_t leaf = 0; leaf < rows; ++leaf) group.push_back(leaf / spec_.leaves);
    auto hops = HopTable::make_hops(rows, [&](std::uint32_t a, std::uint32_t b) {
        return a == b ? 0U : group[a] == group[b] ? 2U : 3U;
    });
    geometry_ = HopTable(HopTable::points_of_routers(rows, spec_.nodes_per_router), rows, std::move(hops),
                         std::move(group));
}

LinkEnds DragonflyPlus::ends(Link link) const {
    const std::uint32_t spines = spec_.groups * spec_.leaves;
    if (link.value < local_links_) {
        const std::uint32_t leaf = link.value / 2 / spec_.spines;
        const std::uint32_t spine =
            spines + leaf / spec_.leaves * spec_.spines + link.value / 2 % spec_.spines;
        return link.value % 2 == 0 ? LinkEnds{leaf, spine} : LinkEnds{spine, leaf};
    }
    const std::uint32_t number = (link.value - local_links_) % links_between_groups_;
    const std::uint32_t pair = (link.value - local_links_) / links_between_groups_;
    const std::uint32_t from = pair / (spec_.groups - 1);
    const std::uint32_t first = pair % (spec_.groups - 1);
    const std::uint32_t to = first < from ? first : first + 1;
    return {spines + from * spec_.spines + spine_of_port(from, to, number),
            spines + to * spec_.spines + spine_of_port(to, from, number)};
}

std::vector<LinkRun> DragonflyPlus::bandwidth_runs() const {
    return {{Link{0U}, local_links_, spec_.bandwidth[0]},
            {Link{local_links_}, link_count_ - local_links_, spec_.bandwidth[1]}};
}

std::string DragonflyPlus::router_name(std::uint32_t vertex) const {
    const std::uint32_t leaves = spec_.groups * spec_.leaves;
    const bool is_leaf = vertex < leaves;
    const std::uint32_t number = is_leaf ? vertex : vertex - leaves;
    const std::uint32_t of_group = is_leaf ? spec_.leaves : spec_.spines;
    return "group " + std::to_string(number / of_group) + (is_leaf ? " leaf " : " spine ") +
           std::to_string(number % of_group);
}

/// Link names are "group 3 leaf 5 -> group 3 spine 9", followed by " (2 of 4)" if several links join two
/// groups.
std::string DragonflyPlus::link_name(Link link) const {
    const LinkEnds joined = ends(link);
    std::ostringstream text;
    text << router_name(joined.from) << " -> " << router_name(joined.to);
    if (kind_of(link) == 1 && links_between_groups_ > 1) {
        const std::uint32_t number = (link.value - local_links_) % links_between_groups_;
        text << " (" << number + 1 << " of " << links_between_groups_ << ")";
    }
    return text.str();
}

std::string DragonflyPlus::describe() const {
    std::ostringstream text;
    text << spec_.groups << "x" << spec_.leaves << "x" << spec_.spines << " Dragonfly+";
    if (spec_.nodes_per_router > 1) text << ", " << spec_.nodes_per_router << " nodes per leaf";
    if (*spec_.global_links > 0)
        text << ", " << *spec_.global_links << (*spec_.global_links == 1 ? " global link" : " global links")
             << " per spine";
    return text.str();
}

namespace {

constexpr std::array<std::string_view, 2> dragonfly_plus_classes{"local", "global"};

constexpr std::array dragonfly_plus_options{
    TopologyOption{"nodes", OptionForm::count, "nodes per leaf"},
    cards_option,
    hosts_option,
    TopologyOption{"global", OptionForm::count, "global links per spine"},
    bandwidth_option(OptionForm::class_quantities, dragonfly_plus_classes),
    latency_option(OptionForm::class_quantities, dragonfly_plus_classes)};

Hosted<DragonflyPlus> read_dragonfly_plus(const Section& section) {
    const std::vector<std::uint32_t> size = section.body.numbers('x');
    if (size.size() != 3) section.body.reject("expected GROUPSxLEAVESxSPINES");
    DragonflyPlusSpec spec{.groups = size[0], .leaves = size[1], .spines = size[2], .global_links = {}};
    const auto read_all = [&](std::string_view name, auto& values, const auto& read) {
        for (const bool of_class : {false, true}) {
            const auto standard = values.front();
            for (const auto& [key, value] : section.options) {
                const auto [word, kind] = key.cut('.');
                if (word.text() != name || is_host_option(key) || kind.has_value() != of_class) continue;
                const auto quantity = read(value, standard);
                if (kind) {
                    values[kind->one_of(dragonfly_plus_classes)] = quantity;
                } else {
                    values.fill(quantity);
                }
            }
        }
    };
    for (const auto& [key, value] : section.options) {
        if (key.text() == "nodes") spec.nodes_per_router = value.number();
        if (key.text() == "global") spec.global_links = value.number();
    }
    read_all("bandwidth", spec.bandwidth, read_bandwidth);
    read_all("latency", spec.latency,
             [](const TextPiece& value, Seconds) { return read_quantity(value, parse_time); });
    return with_hosts<DragonflyPlus>(section, RouterPlace::in_switches, spec);
}

}  // namespace

constinit const TopologyNotation<Hosted<DragonflyPlus>> dragonfly_plus_notation{
    .form = {.name = "dragonflyplus",
             .summary =
                 "Dragonfly+: groups of leaves joined to spines, all groups joined by these; minimal routes",
             .example = "dragonflyplus:9x4x4,nodes=4,global=2",
             .body = "size",
             .separator = "x",
             .options = dragonfly_plus_options,
             .drawing = Drawing::leaf_spine_groups},
    .read = read_dragonfly_plus};

}  // namespace topoloom
