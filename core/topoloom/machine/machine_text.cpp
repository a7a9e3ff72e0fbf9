// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/machine_text.hpp"

#include <array>
#include <string>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/topology_texts.hpp"

namespace topoloom {

namespace {

struct Kind {
    std::string_view name;
    AnyTopology (*read)(const Section&);
};

constexpr std::array kinds{
    Kind{"torus", read_torus},
    Kind{"mesh", read_mesh},
    Kind{"tree", read_tree},
    Kind{"graph", read_graph},
};

AnyTopology read_topology(const Section& network) {
    const std::string_view name = network.name.text();
    std::vector<std::string> names;
    for (const Kind& kind : kinds) {
        if (kind.name == name) return kind.read(network);
        names.emplace_back(kind.name);
    }
    fail(unknown_name("topology", shown(name), names), " (in machine '", shown(network.name.whole()), "')");
}

NodeInside read_inside(const Section& section) {
    NodeInside inside;
    if (section.name.text() != "node") section.name.complain("expected node:LEVELS");
    std::vector<std::uint32_t> arity = section.body.numbers(':');
    std::vector<std::uint32_t> distance(arity.size(), 0);
    refuse_items(section);
    for (const auto& [key, value] : section.options) {
        if (key.text() != "distance") unknown_option(section, key, {"distance"});
        distance = value.numbers(':');
        if (distance.size() == arity.size() + 1) {
            inside.hop_weight = distance.back();
            distance.pop_back();
        }
    }
    inside.levels = section.name.build([&] { return Levels(std::move(arity), std::move(distance)); });
    return inside;
}

}  // namespace

Machine make_machine(std::string_view text) {
    const std::size_t inside_at = text.find("+node:");  // a plain + also stands in graph:4+2
    const Piece whole(text, text);
    const Section network = read_section(whole.sub(text.substr(0, inside_at)));
    NodeInside inside;
    if (inside_at != std::string_view::npos)
        inside = read_inside(read_section(whole.sub(text.substr(inside_at + 1))));
    AnyTopology topology = read_topology(network);
    return whole.build([&] { return Machine(std::move(topology), std::move(inside), std::string(text)); });
}

}  // namespace topoloom
