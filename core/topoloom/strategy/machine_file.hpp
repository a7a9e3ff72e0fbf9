// SPDX-License-Identifier: BSD-3-Clause
// Machine files: a machine and its network model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "topoloom/schedule/cost/network_model.hpp"

namespace topoloom {

/// A machine file consists of these lines: `machine TEXT`, as for make_machine(); `node NUMBER HOST`, the
/// host name of a node; `message MOST ALPHA BETA`, costs of messages of up to MOST bytes (-: any size);
/// `alone MOST ALPHA BETA`, costs of single messages; `links MOST LATENCY BANDWIDTH`, LinkFactors; `cost NAME
/// VALUE`, a member of MessageCosts. `inside` before a line other than `links` refers to messages inside a
/// node. Times are in seconds, times per byte in s/byte; # starts a comment.
struct MachineFile {
    std::string machine;                // machine text; empty without a `machine` line
    std::optional<NetworkModel> model;  // network model; none without message costs
};

/// Throws Error, naming the line.
[[nodiscard]] MachineFile read_machine_file(std::string_view text);

}  // namespace topoloom
