// SPDX-License-Identifier: BSD-3-Clause
// Command line of halo3d.
#pragma once

#include <array>
#include <string>

#include "../shared/command_line.hpp"

namespace halo3d {

inline const char* const usage =
    "usage: halo3d [--grid PXxPYxPZ] [--cells N] [--steps N] [--periodic] [--reorder] [--report] [--bytes]\n"
    "  --grid PXxPYxPZ  ranks along each axis, the last one fastest   (default: MPI_Dims_create)\n"
    "  --cells N        cells along each edge of a rank's cube        (default: 16)\n"
    "  --steps N        Jacobi steps                                  (default: 20)\n"
    "  --periodic       periodic boundaries                           (default: zero outside)\n"
    "  --reorder        allow MPI to reorder the ranks of the grid\n"
    "  --report         print the host and core of each rank\n"
    "  --bytes          print the bytes that all exchanges send, by formula\n";

struct Options {
    std::array<int, 3> grid = {0, 0, 0};  // number of ranks along each axis; 0 = let MPI choose
    int cells = 16;
    int steps = 20;
    bool periodic = false;
    bool reorder = false;
    bool report = false;
    bool bytes = false;
};

inline void add_options(apps::CommandLine& line, Options& options) {
    line.add("--grid", "three numbers such as 4x2x2", [&options](const std::string& text) {
        return apps::parse_extents(text, 1'000'000, options.grid);
    });
    line.add_number("--cells", 1, 1'000'000, options.cells);
    line.add_number("--steps", 1, 1'000'000, options.steps);
    line.add_flag("--periodic", options.periodic);
    line.add_flag("--reorder", options.reorder);
    line.add_flag("--report", options.report);
    line.add_flag("--bytes", options.bytes);
}

inline std::string check_options(const apps::CommandLine& /*line*/, const Options& options, int ranks) {
    const long long wanted = 1LL * options.grid[0] * options.grid[1] * options.grid[2];
    if (options.grid[0] == 0 || wanted == ranks) return "";
    return "--grid needs " + std::to_string(wanted) + " ranks, but there are " + std::to_string(ranks);
}

}  // namespace halo3d
