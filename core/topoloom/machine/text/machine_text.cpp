// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/machine_text.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/text/topology_texts.hpp"

namespace topoloom {

namespace {

struct Kind {
    std::string_view name;
    WholeTopology (*read)(const Section&);
};

constexpr std::array kinds{
    Kind{"torus", read_torus},         Kind{"mesh", read_mesh},       Kind{"tree", read_tree},
    Kind{"fattree", read_fat_tree},    Kind{"hyperx", read_hyperx},   Kind{"hypercube", read_hypercube},
    Kind{"ring", read_ring},           Kind{"twisted", read_twisted}, Kind{"rails", read_rails},
    Kind{"dragonfly", read_dragonfly}, Kind{"graph", read_graph},
};

WholeTopology read_topology(const Section& network) {
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
        if (key.text() == "port") {
            inside.port = value.numbers(':');
            continue;
        }
        if (key.text() == "bandwidth") {
            inside.port_bandwidth = read_quantity(value, parse_bandwidth);
            continue;
        }
        if (key.text() == "memory") {
            inside.memory = read_quantity(value, parse_bandwidth);
            continue;
        }
        if (key.text() == "startup") {
            inside.startup = read_quantity(value, parse_time);
            continue;
        }
        if (key.text() == "latency") {
            inside.latency = read_quantity(value, parse_time);
            continue;
        }
        if (key.text() == "memory-startup") {
            inside.memory_startup = read_quantity(value, parse_time);
            continue;
        }
        if (key.text() != "distance")
            unknown_option(
                section, key,
                {"distance", "port", "bandwidth", "startup", "latency", "memory", "memory-startup"});
        distance = value.numbers(':');
        if (distance.size() == arity.size() + 1) {
            inside.hop_weight = distance.back();
            if (inside.hop_weight == 0) value.complain("a hop weighs at least 1;");
            distance.pop_back();
        }
    }
    inside.levels = section.name.build([&] {
        Levels levels(std::move(arity), std::move(distance));
        if (!inside.port.empty() && levels.size() % inside.port.size() != 0) {
            fail("there are ", levels.size(), " slots a node and ", inside.port.size(),
                 " port costs; give one cost for each of equal runs of slots");
        }
        return levels;
    });
    return inside;
}

/// The text before `mark`, as +node: (a plain + also stands in graph:4+2), and that from behind its plus sign on.
std::pair<Piece, std::optional<Piece>> cut_at(const Piece& text, std::string_view mark) {
    const std::size_t at = text.text().find(mark);
    if (at == std::string_view::npos) return {text, std::nullopt};
    return {text.sub(text.text().substr(0, at)), text.sub(text.text().substr(at + 1))};
}

}  // namespace

Machine make_machine(std::string_view text) {
    const Piece whole(text, text);
    const auto [before, inside_text] = cut_at(whole, "+node:");
    const auto [network, down] = cut_at(before, "+down:");
    NodeInside inside;
    if (inside_text) {
        if (const auto late = cut_at(*inside_text, "+down:").second)
            late->complain("failures come before the node, as in torus:4x4+down:3+node:2;");
        inside = read_inside(read_section(*inside_text));
    }
    WholeTopology topology = read_topology(read_section(network));
    if (!down) {
        AnyTopology any =
            std::visit([](auto&& t) -> AnyTopology { return std::move(t); }, std::move(topology));
        return whole.build([&] { return Machine(std::move(any), std::move(inside), std::string(text)); });
    }
    const Failures failures = read_failures(read_section(*down));
    return whole.build([&] {
        return Machine(Degraded(std::move(topology), failures), std::move(inside), std::string(text));
    });
}

}  // namespace topoloom
