// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/rail_cluster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/notation/text_piece.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"

namespace topoloom {

namespace {

/// Whether table rows (one per rail and domain) are divided into classes by leaf switch.
bool has_leaf_classes(std::uint64_t rows, std::uint64_t leaves) { return rows > 4096 && leaves <= rows / 16; }

RailClusterSpec complete_spec(RailClusterSpec spec) {
    if (spec.gpus == 0 || spec.domains == 0 || spec.units == 0)
        fail("a rail cluster has at least 1 GPU in a domain, 1 domain in a unit and 1 unit");
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    const std::uint64_t domains = std::uint64_t{spec.domains} * spec.units;
    if (domains > most || domains * spec.gpus > most) fail("the rail cluster has more than 2^31 GPUs");
    if (spec.rails == 0) spec.rails = spec.gpus;
    if (spec.gpus % spec.rails != 0)
        fail("the ", spec.gpus, " GPUs of a domain cannot be divided evenly among ", spec.rails, " rails");
    if (spec.host == 0) spec.host = spec.gpus;
    if (spec.gpus % spec.host != 0)
        fail("the ", spec.gpus, " GPUs of a domain cannot be divided evenly into hosts of ", spec.host);
    const std::uint64_t leaves = std::uint64_t{spec.units} * spec.rails;
    const bool to_other_rails = spec.crossing == RailCrossing::spine && spec.rails > 1 && domains > 1;
    const bool needs_spines = spec.units > 1 || to_other_rails;
    const std::uint64_t leaf_gpus = std::uint64_t{spec.domains} * (spec.gpus / spec.rails);
    const std::uint64_t spines = spec.spines ? *spec.spines : needs_spines ? leaf_gpus : 0;
    if (needs_spines && spines == 0)
        fail("the leaves of the rail cluster need at least 1 spine to connect them");
    require_link_ids(4 * domains * spec.gpus + 2 * leaves * spines);
    if (domains * spec.gpus + domains + leaves + spines > most)
        fail("the rail cluster has more than 2^31 vertices");
    const std::uint64_t table =
        has_leaf_classes(domains * spec.rails, leaves) ? leaves : domains * spec.rails;
    HopTable::require_memory(table, table, domains * spec.gpus);
    spec.spines = static_cast<std::uint32_t>(spines);
    for (const BytesPerSecond bandwidth : spec.bandwidth) require_bandwidth(bandwidth);
    return spec;
}

}  // namespace

RailCluster::RailCluster(RailClusterSpec spec)
    : spec_(complete_spec(spec)),
      gpus_(spec_.gpus * spec_.domains * spec_.units),
      domains_(spec_.domains * spec_.units),
      leaves_(spec_.units * spec_.rails),
      per_domain_(spec_.gpus),
      per_host_(spec_.host),
      per_unit_(spec_.domains),
      per_rails_(spec_.rails) {
    const std::size_t to_spines = std::size_t{leaves_} * *spec_.spines;
    const std::array<std::size_t, kinds> counts{gpus_, gpus_, gpus_, gpus_, to_spines, to_spines};
    for (std::size_t kind = 0; kind < kinds; ++kind) first_[kind + 1] = first_[kind] + counts[kind];
    spine_share_ = 1.0 / std::max(1U, *spec_.spines);
    hops_[0] = {2, 4};
    if (spec_.crossing == RailCrossing::nvlink) {
        hops_[1] = {4, 6};
    } else {
        hops_[1] = {4, 4};
    }
    weigh_links();
    fill_table();
}

void RailCluster::weigh_links() {
    const BytesPerSecond nvlink = spec_.bandwidth[0];
    for (std::size_t kind = 1; kind < weight_.size(); ++kind) {
        const double slower = nvlink.value / spec_.bandwidth[kind].value;
        if (nvlink >= min_known && spec_.bandwidth[kind] >= min_known && slower > 1)
            weight_[kind] = static_cast<std::uint32_t>(std::min(std::lround(slower), 1000L));
    }
}

std::uint32_t RailCluster::diameter() const {
    if (gpus_ == 1) return 0;
    if (domains_ == 1) return 2;
    return hops_[spec_.rails > 1 ? 1 : 0][spec_.units > 1 ? 1 : 0];
}

/// Distance between two different GPUs.
std::uint32_t RailCluster::distance(const Point& a, const Point& b) const {
    if (a.domain == b.domain) return 2 * weight_[0];
    const bool crosses = a.rail != b.rail;
    const bool by_nvlink = crosses && spec_.crossing == RailCrossing::nvlink;
    const bool by_spine = a.unit != b.unit || (crosses && !by_nvlink);
    return 2 * (weight_[1] + (by_nvlink ? weight_[0] : 0) + (by_spine ? weight_[2] : 0));
}

/// Each rail of a domain has one table row; its GPUs are leaves of the row, one link away. In large clusters,
/// rows are divided into classes by leaf switch.
void RailCluster::fill_table() {
    std::vector<Point> rows;
    std::vector<std::uint32_t> groups;
    for (std::uint32_t domain = 0; domain < domains_; ++domain) {
        for (std::uint32_t rail = 0; rail < spec_.rails; ++rail) {
            rows.push_back(point(Node{domain * spec_.gpus + rail}));
            groups.push_back(domain);
        }
    }
    std::vector<HopTable::Point> nodes;
    for (std::uint32_t node = 0; node < gpus_; ++node) {
        const Point p = point(Node{node});
        nodes.push_back({node, (p.domain * spec_.rails + p.rail) & 0x7FFFFFFFU, 1});
    }
    const auto between = [&](const Point& a, const Point& b) { return distance(a, b) - 2; };
    if (has_leaf_classes(rows.size(), leaves_)) {
        HopTable::RowClasses classes{.of_row = {}, .count = leaves_, .hops = {}, .within = 0};
        for (const Point& row : rows) classes.of_row.push_back(row.unit * spec_.rails + row.rail);
        classes.within = static_cast<std::uint16_t>(2 * weight_[0] - 2);
        for (std::uint32_t b = 0; b < leaves_; ++b) {
            for (std::uint32_t a = 0; a < leaves_; ++a) {
                const auto leaf = [&](std::uint32_t id, std::uint32_t domain) {
                    return Point{0, domain, id / spec_.rails, id % spec_.rails};
                };
                classes.hops.push_back(static_cast<std::uint16_t>(between(leaf(a, 0), leaf(b, 1))));
            }
        }
        table_ = HopTable(std::move(nodes), std::move(classes), std::move(groups));
        return;
    }
    auto hops = HopTable::make_hops(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
        return a == b ? 0 : between(rows[a], rows[b]);
    });
    table_ = HopTable(std::move(nodes), rows.size(), std::move(hops), std::move(groups));
}

std::size_t RailCluster::kind_of(Link link) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(first_, link.value) - first_.begin()) - 1;
}

LinkEnds RailCluster::ends(Link link) const {
    const std::size_t kind = kind_of(link);
    const auto at = static_cast<std::uint32_t>(link.value - first_[kind]);
    LinkEnds up{at, 0};
    if (kind < rail_up) {
        up.to = gpus_ + at / spec_.gpus;
    } else if (kind < spine_up) {
        const Point gpu = point(Node{at});
        up.to = gpus_ + domains_ + gpu.unit * spec_.rails + gpu.rail;
    } else {
        up.from = gpus_ + domains_ + at / *spec_.spines;
        up.to = gpus_ + domains_ + leaves_ + at % *spec_.spines;
    }
    return kind % 2 == 0 ? up : LinkEnds{up.to, up.from};
}

std::vector<LinkRun> RailCluster::bandwidth_runs() const {
    std::vector<LinkRun> runs;
    for (const std::size_t kind : {nvlink_up, rail_up, spine_up})
        runs.push_back({Link{first_[kind]}, first_[kind + 2] - first_[kind], spec_.bandwidth[kind / 2]});
    return runs;
}

std::string RailCluster::vertex_name(std::uint32_t vertex) const {
    if (vertex < gpus_) return "GPU " + std::to_string(vertex);
    vertex -= gpus_;
    if (vertex < domains_) return "NVSwitch " + std::to_string(vertex);
    vertex -= domains_;
    if (vertex >= leaves_) return "spine " + std::to_string(vertex - leaves_);
    return "unit " + std::to_string(vertex / spec_.rails) + " rail " + std::to_string(vertex % spec_.rails);
}

std::string RailCluster::link_name(Link link) const {
    const LinkEnds both = ends(link);
    return vertex_name(both.from) + " -> " + vertex_name(both.to);
}

std::string RailCluster::describe() const {
    std::ostringstream text;
    text << "rail cluster of " << gpus_ << " GPUs: " << spec_.units << " x " << spec_.domains
         << " domains of " << spec_.gpus << ", " << spec_.rails << " rails";
    if (*spec_.spines > 0) text << ", " << *spec_.spines << " spines";
    if (spec_.host < spec_.gpus) text << ", hosts of " << spec_.host;
    return text.str();
}

namespace {

constexpr std::array<std::string_view, 3> rails_classes{"nvlink", "rail", "spine"};
constexpr std::array<std::string_view, 2> rails_crossings{"nvlink", "spine"};

constexpr std::array rails_options{
    TopologyOption{"rails", OptionForm::count, "rail switches of a unit"},
    TopologyOption{"host", OptionForm::count, "GPUs of a host, a part of an NVLink domain; the whole domain"},
    TopologyOption{"spines", OptionForm::number, "spine switches"},
    TopologyOption{"cross", OptionForm::word, "how messages between rails go", rails_crossings},
    bandwidth_option(OptionForm::class_quantities, rails_classes),
    latency_option(OptionForm::class_quantities, rails_classes)};

void read_bandwidths_and_latencies(const Section& section, RailClusterSpec& spec) {
    for (const auto& [key, value] : section.options) {
        if (key.text() == "bandwidth") spec.bandwidth.fill(read_quantity(value, parse_bandwidth));
        if (key.text() == "latency") spec.latency.fill(read_quantity(value, parse_time));
    }
    const BytesPerSecond standard = spec.bandwidth.front();
    for (const auto& [key, value] : section.options) {
        const auto [name, kind] = key.cut('.');
        if (!kind) continue;
        if (name.text() == "bandwidth")
            spec.bandwidth[kind->one_of(rails_classes)] = read_bandwidth(value, standard);
        if (name.text() == "latency")
            spec.latency[kind->one_of(rails_classes)] = read_quantity(value, parse_time);
    }
}

RailCluster read_rails(const Section& section) {
    const std::vector<std::uint32_t> levels = section.body.numbers(':');
    if (levels.size() != 3) section.body.reject("expected GPUS:DOMAINS:UNITS");
    RailClusterSpec spec;
    spec.gpus = levels[0];
    spec.domains = levels[1];
    spec.units = levels[2];
    for (const auto& [key, value] : section.options) {
        if (key.text() == "rails") {
            spec.rails = value.number();
            if (spec.rails == 0) value.reject("a rail cluster has at least 1 rail;");
        } else if (key.text() == "host") {
            spec.host = value.number();
            if (spec.host == 0) value.reject("a host has at least 1 GPU;");
        } else if (key.text() == "spines") {
            spec.spines = value.number();
        } else if (key.text() == "cross") {
            spec.crossing = value.one_of(rails_crossings) == 0 ? RailCrossing::nvlink : RailCrossing::spine;
        }
    }
    read_bandwidths_and_latencies(section, spec);
    return section.name.add_context([&] { return RailCluster(spec); });
}

}  // namespace

constinit const TopologyNotation<RailCluster> rails_notation{
    .form = {.name = "rails",
             .summary = "GPUs in NVLink domains, one rail switch for each place in a domain",
             .example = "rails:8:32:4,bandwidth=50GB/s,bandwidth.nvlink=450GB/s",
             .body = "levels",
             .separator = ":",
             .options = rails_options,
             .drawing = Drawing::gpu_domains},
    .read = read_rails};

}  // namespace topoloom
