// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string_view>

#include "topoloom/machine/text/host_text.hpp"
#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

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

/// The kinds of link, 0: row, 1: column, 2: global, that the word behind `bandwidth.` names, the first and the last.
std::array<std::size_t, 2> read_link_kinds(const Piece& word, bool two_dimensional) {
    if (!two_dimensional)
        return word.one_of(classes_of_one_row) == 0 ? std::array<std::size_t, 2>{0, 1}
                                                    : std::array<std::size_t, 2>{2, 2};
    constexpr std::array<std::array<std::size_t, 2>, 4> kinds{{{0, 1}, {0, 0}, {1, 1}, {2, 2}}};
    return kinds[word.one_of(dragonfly_classes)];
}

/// The option `name` for all links, then name.local, then those for one kind.
template <class Quantity, class Read>
void read_quantities(const Section& section, std::string_view name, bool two_dimensional,
                     std::array<Quantity, 3>& values, const Read& read) {
    for (const std::size_t breadth : {3U, 2U, 1U}) {
        const Quantity standard = values.back();  // set for all kinds alike until the last round
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

WholeTopology read_dragonfly(const Section& section) {
    const std::vector<std::uint32_t> size = section.body.numbers('x');
    if (size.size() != 2 && size.size() != 3) {
        section.body.complain("expected GROUPSxROUTERS or GROUPSxROWSxCOLUMNS");
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
    read_quantities(section, "bandwidth", two_dimensional, spec.bandwidth, read_bandwidth);
    read_quantities(section, "latency", two_dimensional, spec.latency,
                    [](const Piece& value, Seconds) { return read_quantity(value, parse_time); });
    return with_hosts<Dragonfly>(section, Routers::switches, spec);
}

}  // namespace

constinit const TopologyText dragonfly_text{
    {"dragonfly", "groups of joined routers, all groups joined; minimal, Valiant or UGAL routes",
     "dragonfly:9x4,nodes=2,global=2,routing=ugal", "size", "x", dragonfly_options},
    read_dragonfly};

}  // namespace topoloom
