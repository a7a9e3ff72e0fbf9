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

namespace topoloom {

namespace {

IntactTopology read_topology(const Section& network) {
    const std::string_view name = network.name.text();
    std::vector<std::string> names;
    for (const auto& [form, read] : Topologies::entries) {
        if (form->name == name) {
            check_section(network, *form);
            return read(network);
        }
        names.emplace_back(form->name);
    }
    fail(unknown_name_message("topology", abbreviate(name), names), " (in machine '",
         abbreviate(network.name.whole()), "')");
}

/// Throws Error for a word after a plus sign that is not the name of a section. Plus signs as in graph:4+2
/// and bandwidth.x+=1GB/s are allowed.
void reject_unknown_parts(const TextPiece& part) {
    const std::string_view text = part.text();
    for (std::size_t at = text.find('+'); at != std::string_view::npos; at = text.find('+', at + 1)) {
        const std::string_view word = text.substr(at, text.find_first_of(":,+", at + 1) - at);
        const char first = word.size() < 2 ? '=' : word[1];
        const bool is_letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
        if (!is_letter && first != ' ') continue;
        part.sub(text.substr(at))
            .reject("'", abbreviate(word),
                    "' is not expected: a machine's text is a network, then "
                    "+down:FAILED, then +node:SLOTS, as in torus:4x4+down:3+node:2;");
    }
}

}  // namespace

Machine make_machine(std::string_view text) {
    const TextPiece whole(text, text);
    const MachineTextParts parts = split_machine_text(whole);
    reject_unknown_parts(parts.network);
    if (parts.down) reject_unknown_parts(*parts.down);
    if (parts.node) reject_unknown_parts(*parts.node);
    NodeSpec node;
    if (parts.node) node = read_node_spec(read_section(*parts.node));
    IntactTopology topology = read_topology(read_section(parts.network));
    if (!parts.down) {
        AnyTopology any =
            std::visit([](auto&& t) -> AnyTopology { return std::move(t); }, std::move(topology));
        return whole.add_context([&] { return Machine(std::move(any), std::move(node), std::string(text)); });
    }
    const Failures failures = read_failures(read_section(*parts.down));
    return whole.add_context([&] {
        return Machine(DegradedTopology(std::move(topology), failures), std::move(node), std::string(text));
    });
}

}  // namespace topoloom
