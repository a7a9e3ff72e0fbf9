// SPDX-License-Identifier: BSD-3-Clause
// The input of a strategy: texts of files, and locations of ranks.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace topoloom {

/// Texts are empty if nothing is given.
struct Setting {
    std::size_t ranks = 0;
    std::string machine;    // a machine file: see MachineFile
    std::string placement;  // JSON, as `topoloom map` writes it
    std::string decisions;  // JSON, as `topoloom collective --decisions` writes it; tables one after another
    std::string schedule;   // one for all operations that it does
    /// By rank: the number of its node in the machine, its rank in the placement, or without either a number that only
    /// the ranks of its node have. Empty: every rank is on a node of its own.
    std::vector<std::int64_t> locations;
    /// The number of calls that run at once, each among as many ranks that follow each other; divides the ranks.
    std::size_t concurrent_calls = 1;

    friend auto operator<=>(const Setting&, const Setting&) = default;
};

}  // namespace topoloom
