// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/machine_text.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/text/failures_text.hpp"
#include "topoloom/machine/text/node_text.hpp"
#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

namespace {

WholeTopology read_topology(const Section& network) {
    const std::string_view name = network.name.text();
    std::vector<std::string> names;
    for (const TopologyText* const text : topology_texts) {
        if (text->form.name == name) {
            if (!text->lists_links) refuse_items(network);
            check_options(network, text->form);
            return text->read(network);
        }
        names.emplace_back(text->form.name);
    }
    fail(unknown_name("topology", shown(name), names), " (in machine '", shown(network.name.whole()), "')");
}

}  // namespace

Machine make_machine(std::string_view text) {
    const Piece whole(text, text);
    const TextParts parts = split_machine(whole);
    NodeInside inside;
    if (parts.node) inside = read_inside(read_section(*parts.node));
    WholeTopology topology = read_topology(read_section(parts.network));
    if (!parts.down) {
        AnyTopology any =
            std::visit([](auto&& t) -> AnyTopology { return std::move(t); }, std::move(topology));
        return whole.build([&] { return Machine(std::move(any), std::move(inside), std::string(text)); });
    }
    const Failures failures = read_failures(read_section(*parts.down));
    return whole.build([&] {
        return Machine(Degraded(std::move(topology), failures), std::move(inside), std::string(text));
    });
}

}  // namespace topoloom
