// SPDX-License-Identifier: BSD-3-Clause
// Reads placement files as written by `topoloom map`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace topoloom {

/// What is read from a placement file; other keys are ignored. Does not check that the machine has these
/// slots.
struct PlacementFile {
    std::string machine;               // machine text for make_machine()
    std::vector<std::uint32_t> slots;  // slot of each rank
};

/// Throws Error, naming the line or the key.
[[nodiscard]] PlacementFile read_placement_file(std::string_view text);

}  // namespace topoloom
