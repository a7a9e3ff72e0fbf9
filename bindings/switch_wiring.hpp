// SPDX-License-Identifier: BSD-3-Clause
// A machine's switches for Python.
#pragma once

#include <array>
#include <string_view>

#include "topoloom/network/kinds.hpp"
#include "topoloom/network/routes/paths.hpp"

namespace topoloom::python {

/// A fabric and its paths, made once for many simulations.
struct SwitchWiring {
    SwitchWiring(const Machine& machine, std::string_view routing)
        : fabric(machine), paths(fabric, routing_of(routing)) {}
    Fabric fabric;
    Paths paths;
};

inline constexpr std::array<Kind, 2> routers{{
    {"input-queued", "virtual channels with buffers at the inputs, in credits"},
    {"voq", "a queue for each output at each input (virtual output queues), in credits"},
}};

}  // namespace topoloom::python
