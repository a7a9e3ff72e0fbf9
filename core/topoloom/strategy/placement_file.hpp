// SPDX-License-Identifier: BSD-3-Clause
// Placement files as `topoloom map` writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace topoloom {

/// The rest of the file says how the placement came about. Slots are checked by whoever has the machine.
struct PlacementFile {
    std::string machine;               // as make_machine() reads it
    std::vector<std::uint32_t> slots;  // of each rank
};

/// Throws Error that names the line, or the key.
[[nodiscard]] PlacementFile read_placement_file(std::string_view text);

}  // namespace topoloom
