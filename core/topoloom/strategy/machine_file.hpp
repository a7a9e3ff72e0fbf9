// SPDX-License-Identifier: BSD-3-Clause
// Machine files: a machine and its network model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "topoloom/schedule/cost/network_model.hpp"

namespace topoloom {

/// Lines `machine TEXT`, as make_machine() reads it; `node NUMBER HOST`, for those who look for their node; `message MOST
/// ALPHA BETA`, a line of the model's for messages of up to MOST bytes, - for any; `alone MOST ALPHA BETA`, one of those of
/// messages alone; `links MOST LATENCY BANDWIDTH`, its LinkFactors, likewise; `cost NAME VALUE`, an entry of MessageCosts;
/// and `inside` before any of these but `links`, of messages inside a node. Times are in seconds, of bytes in seconds per
/// byte; # begins a comment.
struct MachineFile {
    std::string machine;                // empty if there is no such line
    std::optional<NetworkModel> model;  // none if no message is
};

/// Throws Error that names the line.
[[nodiscard]] MachineFile read_machine_file(std::string_view text);

}  // namespace topoloom
