// SPDX-License-Identifier: BSD-3-Clause
// The input of a strategy: texts of files, and the locations of the ranks.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace topoloom {

/// The input of a strategy. An empty text means that the file is not specified.
struct Setting {
    std::size_t ranks = 0;
    std::string machine;    // text of a machine file, see MachineFile
    std::string placement;  // text of a placement file, as written by `topoloom map`
    std::string decisions;  // JSON tables, as written by `topoloom collective rank --decisions`
    std::string schedule;   // one schedule for all operations that it supports
    /// By rank: its node number in the machine, or its rank in the placement; without either, any number that
    /// only the ranks of its node share. Empty: every rank is on a separate node.
    std::vector<std::int64_t> locations;
    /// The number of concurrent calls. Each is among the same number of consecutive ranks, so it must divide
    /// the number of ranks.
    std::size_t concurrent_calls = 1;

    friend auto operator<=>(const Setting&, const Setting&) = default;
};

}  // namespace topoloom
