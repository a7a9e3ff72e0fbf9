// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string_view>

#include "topoloom/machine/text/host_text.hpp"
#include "topoloom/machine/text/topology_texts.hpp"

namespace topoloom {

namespace {

/// The kinds of link, 0: row, 1: column, 2: global, that the word behind `bandwidth.` names, the first and the last.
std::array<std::size_t, 2> read_link_kinds(const Piece& word, bool two_dimensional) {
    if (!two_dimensional)
        return word.one_of({"local", "global"}) == 0 ? std::array<std::size_t, 2>{0, 1}
                                                     : std::array<std::size_t, 2>{2, 2};
    constexpr std::array<std::array<std::size_t, 2>, 4> kinds{{{0, 1}, {0, 0}, {1, 1}, {2, 2}}};
    return kinds[word.one_of({"local", "row", "column", "global"})];
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

}  // namespace

WholeTopology read_dragonfly(const Section& section) {
    const std::vector<std::uint32_t> size = section.body.numbers('x');
    if (size.size() != 2 && size.size() != 3) {
        section.body.complain("expected GROUPSxROUTERS or GROUPSxROWSxCOLUMNS");
    }
    refuse_items(section);
    DragonflySpec spec;
    const bool two_dimensional = size.size() == 3;
    spec.groups = size.front();
    spec.rows = two_dimensional ? size[1] : 1;
    spec.columns = size.back();
    for (const auto& [key, value] : section.options) {
        const std::string_view name = key.cut('.').first.text();
        if (name == "bandwidth" || name == "latency" || is_host_option(key)) {
            continue;
        } else if (key.text() == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (key.text() == "global") {
            spec.global_links = value.number();
        } else if (key.text() == "arrangement") {
            spec.arrangement =
                DragonflyArrangement{static_cast<int>(value.one_of({"consecutive", "palmtree", "direct"}))};
        } else if (key.text() == "routing") {
            spec.routing = DragonflyRouting{static_cast<int>(value.one_of({"minimal", "valiant", "ugal"}))};
        } else {
            unknown_option(
                section, key,
                with_host_options({"nodes", "global", "arrangement", "routing", "bandwidth", "latency"}));
        }
    }
    read_quantities(section, "bandwidth", two_dimensional, spec.bandwidth, read_bandwidth);
    read_quantities(section, "latency", two_dimensional, spec.latency,
                    [](const Piece& value, Seconds) { return read_quantity(value, parse_time); });
    return with_hosts<Dragonfly>(section, Routers::switches, spec);
}

}  // namespace topoloom
