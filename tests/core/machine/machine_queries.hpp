// SPDX-License-Identifier: BSD-3-Clause
// Query helpers for machines: links of a route, loads of alltoall, error messages.
#pragma once

#include <string>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/text/machine_text.hpp"

/// Names of the links on a route. A link that carries only a share has the share appended.
inline std::vector<std::string> route_names(const topoloom::Machine& machine, topoloom::Node a,
                                            topoloom::Node b) {
    std::vector<std::string> names;
    topoloom::with_topology(machine, [&](const auto& t) {
        t.route(a, b, [&](topoloom::Link link, double share) {
            names.push_back(t.link_name(link) + (share == 1 ? "" : " * " + std::to_string(share)));
        });
    });
    return names;
}

/// Number of messages on every link if every node sends one message to every other node.
template <class T>
std::vector<double> alltoall_loads(const T& topology) {
    std::vector<double> loads(topology.link_count(), 0.0);
    for (const topoloom::Node a : topoloom::ids<topoloom::Node>(topology.node_count())) {
        for (const topoloom::Node b : topoloom::ids<topoloom::Node>(topology.node_count()))
            topology.route(a, b, [&](topoloom::Link link, double share) { loads[link.value] += share; });
    }
    return loads;
}

/// The error message of make_machine() for an invalid text.
inline std::string error_message_of(const std::string& text) {
    try {
        return "none: " + topoloom::make_machine(text).describe();
    } catch (const topoloom::Error& error) {
        return error.what();
    }
}
