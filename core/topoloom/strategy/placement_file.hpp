// SPDX-License-Identifier: BSD-3-Clause
// Placement files as `topoloom map` writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace topoloom {

/// The required part of a placement file; other keys are ignored. Slots are not checked against the machine.
struct PlacementFile {
    std::string machine;               // text for make_machine()
    std::vector<std::uint32_t> slots;  // slot by rank
};

/// Throws Error, naming the line or the key.
[[nodiscard]] PlacementFile read_placement_file(std::string_view text);

}  // namespace topoloom
