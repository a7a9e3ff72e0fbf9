// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/dragonfly.hpp"

#include <array>
#include <limits>
#include <sstream>
#include <string_view>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/topologies/host_notation.hpp"

namespace topoloom {

namespace {

struct DragonflySize {
    std::uint32_t port_stride;
    std::uint32_t links_between_groups;
    std::array<std::uint64_t, 3> links;  // by kind
};

/// Checks all sizes before memory is allocated, and sets the number of global links if none is given.
DragonflySize complete_spec(DragonflySpec& spec) {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    if (spec.groups == 0) fail("a dragonfly has at least 1 group");
    if (spec.rows == 0 || spec.columns == 0) fail("a group of a dragonfly has at least 1 router");
    if (spec.nodes_per_router == 0) fail("a dragonfly needs at least 1 node per router");
    const std::uint64_t in_group = std::uint64_t{spec.rows} * spec.columns;
    if (in_group > most || in_group * spec.groups > most ||
        in_group * spec.groups * spec.nodes_per_router > most) {
        fail("the dragonfly has more than 2^31 nodes");
    }
    for (const BytesPerSecond bandwidth : spec.bandwidth) require_bandwidth(bandwidth);
    DragonflySize size{};
    const bool direct = spec.arrangement == DragonflyArrangement::direct;
    size.port_stride = spec.groups == 1 ? 0 : direct ? spec.groups : spec.groups - 1;
    if (!spec.global_links)
        spec.global_links = static_cast<std::uint32_t>((size.port_stride + in_group - 1) / in_group);
    const std::uint64_t ports = in_group * *spec.global_links;
    if (ports < size.port_stride) {
        fail(spec.groups, " groups need ", size.port_stride, " global ports each, but ", in_group,
             in_group == 1 ? " router" : " routers", " with ", *spec.global_links, " have only ", ports,
             "; give more global links per router");
    }
    const std::uint64_t between = spec.groups == 1 ? 0 : direct ? 1 : ports / size.port_stride;
    if (between > Dragonfly::max_links_between_groups) {
        fail("two groups of the dragonfly are joined by ", between, " links; at most ",
             Dragonfly::max_links_between_groups, " are possible");
    }
    size.links_between_groups = static_cast<std::uint32_t>(between);
    const std::uint64_t routers = in_group * spec.groups;
    size.links = {routers * (spec.columns - 1), routers * (spec.rows - 1),
                  std::uint64_t{spec.groups} * (spec.groups - 1) * between};
    require_link_ids(size.links[0] + size.links[1]);  // no overflow: each term is below 2^62
    require_link_ids(size.links[0] + size.links[1] + size.links[2]);
    HopTable::require_memory(routers, routers);
    return size;
}

}  // namespace

Dragonfly::Dragonfly(DragonflySpec spec) : spec_(spec) {
    const DragonflySize size = complete_spec(spec_);
    nodes_per_router_ = Divisor(spec_.nodes_per_router);
    links_between_groups_ = size.links_between_groups;
    port_stride_ = size.port_stride;
    first_link_ = {0, static_cast<std::uint32_t>(size.links[0]),
                   static_cast<std::uint32_t>(size.links[0] + size.links[1])};
    link_count_ = size.links[0] + size.links[1] + size.links[2];
    locate_routers();
    locate_ports();
    measure_hops();
}

void Dragonfly::locate_routers() {
    routers_.reserve(std::size_t{spec_.groups} * routers_per_group());
    for (std::uint32_t group = 0; group < spec_.groups; ++group) {
        for (std::uint32_t router = 0; router < routers_per_group(); ++router) {
            routers_.push_back({group, {router, router / spec_.columns, router % spec_.columns}});
        }
    }
}

void Dragonfly::locate_ports() {
    mirrored_ = spec_.arrangement == DragonflyArrangement::palmtree ? ~0U : 0U;
    beyond_ = spec_.arrangement == DragonflyArrangement::palmtree      ? spec_.groups
              : spec_.arrangement == DragonflyArrangement::consecutive ? ~0U  // -1: itself is not counted
                                                                       : 0U;
    words_ = (links_between_groups_ + links_per_word - 1) / links_per_word;
    near_stride_ = std::size_t{routers_per_group()} * words_;
    for (std::uint32_t p = 0; p < port_stride_ * links_between_groups_; ++p) {
        place_of_port_.push_back(routers_[p / *spec_.global_links].place);
    }
    every_link_.resize(words_);
    near_.resize(port_stride_ * near_stride_);
    for (std::uint32_t number = 0; number < links_between_groups_; ++number) {
        const std::uint32_t word = number / links_per_word;
        const NearLinks one_hop = (NearLinks{1} << links_per_word) << (number % links_per_word);
        const NearLinks here = one_hop | (NearLinks{1} << (number % links_per_word));
        every_link_[word] |= here;
        for (std::uint32_t first = 0; first < port_stride_; ++first) {
            const GroupPlace& exit = place_of_port_[first + number * port_stride_];
            for (std::uint32_t router = 0; router < routers_per_group(); ++router) {
                const std::uint32_t away = local_hops(exit, routers_[router].place);
                NearLinks& seen = near_[first * near_stride_ + std::size_t{router} * words_ + word];
                if (away <= 1) seen |= away == 0 ? here : one_hop;
            }
        }
    }
}

void Dragonfly::measure_hops() {
    std::vector<std::uint32_t> group;
    group.reserve(routers_.size());
    for (const Router& router : routers_) group.push_back(router.group);
    HopTable::Hops table = HopTable::make_hops_by_row(
        routers_.size(), [&](std::uint32_t b, std::uint16_t* hops) { measure_hops_to(b, hops); });
    geometry_ = HopTable(HopTable::points_of_routers(routers_.size(), spec_.nodes_per_router),
                         routers_.size(), std::move(table), std::move(group));
}

/// Loops over the routers of a group vectorize, which matters for millions of pairs.
void Dragonfly::measure_hops_to(std::uint32_t router, std::uint16_t* hops) const {
    const Router& to = routers_[router];
    for (std::uint32_t group = 0; group < spec_.groups; ++group, hops += routers_per_group()) {
        if (group == to.group) {
            for (std::uint32_t i = 0; i < routers_per_group(); ++i)
                hops[i] = static_cast<std::uint16_t>(local_hops(routers_[i].place, to.place));
            continue;
        }
        const NearLinks* const from = near_.data() + port(group, to.group) * near_stride_;
        const NearLinks* const here = near_links(to.place, port(to.group, group));
        if (words_ == 1) {
            for (std::uint32_t i = 0; i < routers_per_group(); ++i)
                hops[i] = static_cast<std::uint16_t>(1 + min_local_hops(from[i], *here));
        } else {
            for (std::uint32_t i = 0; i < routers_per_group(); ++i)
                hops[i] = static_cast<std::uint16_t>(1 + min_local_hops(from + i * words_, here));
        }
    }
}

LinkEnds Dragonfly::ends(Link link) const {
    const std::size_t kind = kind_of(link);
    const std::uint32_t place = link.value - first_link_[kind];
    const auto skip = [](std::uint32_t other, std::uint32_t self) {
        return other < self ? other : other + 1;
    };
    if (kind < 2) {
        const std::uint32_t neighbors = (kind == 0 ? spec_.columns : spec_.rows) - 1;
        const std::uint32_t from = place / neighbors;
        const GroupPlace& at = routers_[from].place;
        const std::uint32_t other = skip(place % neighbors, kind == 0 ? at.column : at.row);
        return kind == 0 ? LinkEnds{from, from - at.column + other}
                         : LinkEnds{from, from - at.row * spec_.columns + other * spec_.columns};
    }
    const std::uint32_t number = place % links_between_groups_;
    const std::uint32_t pair = place / links_between_groups_;
    const std::uint32_t from = pair / (spec_.groups - 1);
    const std::uint32_t to = skip(pair % (spec_.groups - 1), from);
    const auto router = [&](std::uint32_t group, std::uint32_t first) {
        return group * routers_per_group() + place_of_port_[first + number * port_stride_].number;
    };
    return {router(from, port(from, to)), router(to, port(to, from))};
}

std::vector<LinkRun> Dragonfly::bandwidth_runs() const {
    std::vector<LinkRun> runs;
    for (std::size_t kind = 0; kind < 3; ++kind) {
        const std::size_t end = kind < 2 ? first_link_[kind + 1] : link_count_;
        runs.push_back({Link{first_link_[kind]}, end - first_link_[kind], spec_.bandwidth[kind]});
    }
    return runs;
}

/// Link names are "group 3 router 5 -> router 9", or between groups "group 3 router 5 -> group 7 router 1",
/// followed by " (2 of 4)" if there are several links.
std::string Dragonfly::link_name(Link link) const {
    const LinkEnds joined = ends(link);
    const Router& from = routers_[joined.from];
    const Router& to = routers_[joined.to];
    std::ostringstream text;
    text << "group " << from.group << " router " << from.place.number << " -> ";
    if (to.group != from.group) text << "group " << to.group << " ";
    text << "router " << to.place.number;
    if (to.group != from.group && links_between_groups_ > 1) {
        const std::uint32_t number = (link.value - first_link_[2]) % links_between_groups_;
        text << " (" << number + 1 << " of " << links_between_groups_ << ")";
    }
    return text.str();
}

std::string Dragonfly::describe() const {
    std::ostringstream text;
    text << spec_.groups << "x";
    if (spec_.rows > 1) text << spec_.rows << "x";
    text << spec_.columns << " dragonfly";
    if (spec_.nodes_per_router > 1) text << ", " << spec_.nodes_per_router << " nodes per router";
    if (*spec_.global_links > 0)
        text << ", " << *spec_.global_links << (*spec_.global_links == 1 ? " global link" : " global links")
             << " per router";
    if (spec_.arrangement == DragonflyArrangement::palmtree) text << ", palmtree arrangement";
    if (spec_.arrangement == DragonflyArrangement::direct) text << ", direct arrangement";
    if (spec_.routing == DragonflyRouting::valiant) text << ", Valiant routing";
    if (spec_.routing == DragonflyRouting::ugal) text << ", UGAL routing";
    return text.str();
}

namespace {

constexpr std::array<std::string_view, 3> dragonfly_arrangements{"consecutive", "palmtree", "direct"};
constexpr std::array<std::string_view, 3> dragonfly_routings{"minimal", "valiant", "ugal"};
constexpr std::array<std::string_view, 4> dragonfly_classes{"local", "row", "column", "global"};
constexpr std::array<std::string_view, 2> classes_of_one_row{"local", "global"};

constexpr std::array dragonfly_options{
    nodes_option,
    cards_option,
    hosts_option,
    TopologyOption{"global", OptionForm::count, "global links per router"},
    TopologyOption{"arrangement", OptionForm::word, "which global port leads to which group",
                   dragonfly_arrangements},
    TopologyOption{"routing", OptionForm::word, "routes to other groups", dragonfly_routings},
    bandwidth_option(OptionForm::class_quantities, dragonfly_classes),
    latency_option(OptionForm::class_quantities, dragonfly_classes)};

/// Returns the first and last kind of link (0: row, 1: column, 2: global) in the class after `bandwidth.`.
std::array<std::size_t, 2> read_link_kinds(const TextPiece& word, bool two_dimensional) {
    if (!two_dimensional)
        return word.one_of(classes_of_one_row) == 0 ? std::array<std::size_t, 2>{0, 1}
                                                    : std::array<std::size_t, 2>{2, 2};
    constexpr std::array<std::array<std::size_t, 2>, 4> kinds{{{0, 1}, {0, 0}, {1, 1}, {2, 2}}};
    return kinds[word.one_of(dragonfly_classes)];
}

/// Reads option `name` for all links, then `name`.local, then the options for one kind of link.
template <class Quantity, class Read>
void read_by_link_kind(const Section& section, std::string_view name, bool two_dimensional,
                       std::array<Quantity, 3>& values, const Read& read) {
    for (const std::size_t breadth : {3U, 2U, 1U}) {
        // All kinds of links have equal values until the last iteration.
        const Quantity standard = values.back();
        for (const auto& [key, value] : section.options) {
            const auto [word, kind] = key.cut('.');
            if (word.text() != name || is_host_option(key)) continue;
            const auto [first, last] =
                kind ? read_link_kinds(*kind, two_dimensional) : std::array<std::size_t, 2>{0, 2};
            if (last - first + 1 != breadth) continue;
            const Quantity quantity = read(value, standard);
            for (std::size_t k = first; k <= last; ++k) values[k] = quantity;
        }
    }
}

Hosted<Dragonfly> read_dragonfly(const Section& section) {
    const std::vector<std::uint32_t> size = section.body.numbers('x');
    if (size.size() != 2 && size.size() != 3) {
        section.body.reject("expected GROUPSxROUTERS or GROUPSxROWSxCOLUMNS");
    }
    DragonflySpec spec;
    const bool two_dimensional = size.size() == 3;
    spec.groups = size.front();
    spec.rows = two_dimensional ? size[1] : 1;
    spec.columns = size.back();
    for (const auto& [key, value] : section.options) {
        if (key.text() == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (key.text() == "global") {
            spec.global_links = value.number();
        } else if (key.text() == "arrangement") {
            spec.arrangement = static_cast<DragonflyArrangement>(value.one_of(dragonfly_arrangements));
        } else if (key.text() == "routing") {
            spec.routing = static_cast<DragonflyRouting>(value.one_of(dragonfly_routings));
        }
    }
    read_by_link_kind(section, "bandwidth", two_dimensional, spec.bandwidth, read_bandwidth);
    read_by_link_kind(section, "latency", two_dimensional, spec.latency,
                      [](const TextPiece& value, Seconds) { return read_quantity(value, parse_time); });
    return with_hosts<Dragonfly>(section, RouterPlace::in_switches, spec);
}

}  // namespace

constinit const TopologyNotation<Hosted<Dragonfly>> dragonfly_notation{
    .form = {.name = "dragonfly",
             .summary = "groups of joined routers, all groups joined; minimal, Valiant or UGAL routes",
             .example = "dragonfly:9x4,nodes=2,global=2,routing=ugal",
             .body = "size",
             .separator = "x",
             .options = dragonfly_options,
             .drawing = Drawing::groups},
    .read = read_dragonfly};

}  // namespace topoloom
