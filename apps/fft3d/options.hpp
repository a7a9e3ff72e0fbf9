// SPDX-License-Identifier: BSD-3-Clause
// Command line of fft3d.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "../shared/command_line.hpp"

namespace fft3d {

inline const char* const usage =
    "usage: fft3d [--mode fft|pme] [--grid NXxNYxNZ] [--decomposition pencils|slabs] [--transpose NAME]\n"
    "             [--overlap] [--steps N] [--charges N] [--force-work SECONDS]\n"
    "  --mode NAME           fft: forward transforms; pme: particle-mesh Ewald steps  [fft]\n"
    "  --grid NXxNYxNZ       grid points, from 1 to 4096 along each axis              [48x48x48]\n"
    "  --decomposition NAME  pencils: blocks along two axes; slabs: along one axis    [pencils]\n"
    "  --transpose NAME      library: MPI_Alltoallv; direct, mesh, grid or hypercube:\n"
    "                        many-to-many of libtopoloom-objects by this strategy     [library]\n"
    "  --overlap             split each transposition into up to four parts, each sent while the next is\n"
    "                        transformed; do the force work while parts are in flight\n"
    "  --steps N             timed transforms or steps, from 1 to 1000000             [1]\n"
    "  --charges N           charges for pme, even, from 2 to 100000000               [a tenth of the grid]\n"
    "  --force-work SECONDS  force work per rank and step, from 0 to 1000             [0]\n";

using Extents = std::array<int, 3>;

struct Options {
    std::string mode = "fft", decomposition = "pencils", transpose = "library";
    Extents grid{48, 48, 48};
    bool overlap = false;
    int steps = 1, charges = 0;  // 0 charges: a tenth of the grid
    double force_work = 0;
};

inline bool parse_grid(const std::string& text, Extents& grid) {
    return apps::parse_extents(text, 4096, grid) &&
           std::int64_t{grid[0]} * grid[1] * grid[2] <= std::int64_t{1} << 28;
}

inline void add_options(apps::CommandLine& line, Options& options) {
    line.add_choice("--mode", {"fft", "pme"}, options.mode);
    line.add("--grid", "three numbers from 1 to 4096 such as 48x48x48, with a product up to 2^28",
             [&options](const std::string& text) { return parse_grid(text, options.grid); });
    line.add_choice("--decomposition", {"pencils", "slabs"}, options.decomposition);
    line.add_choice("--transpose", {"library", "direct", "mesh", "grid", "hypercube"}, options.transpose);
    line.add_flag("--overlap", options.overlap);
    line.add_number("--steps", 1, 1'000'000, options.steps);
    line.add("--charges", "an even number from 2 to 100000000", [&options](const std::string& text) {
        return apps::parse_number(text, 2, 100'000'000, options.charges) && options.charges % 2 == 0;
    });
    line.add_number("--force-work", 0, 1000, options.force_work);
}

inline std::string check_options(const apps::CommandLine& /*line*/, Options& options, int /*ranks*/) {
    if (options.charges > 0 && options.mode != "pme") return "--charges needs --mode pme";
    if (options.mode == "pme" && std::ranges::min(options.grid) < 4)
        return "--mode pme needs a --grid of 4 points or more along each axis";
    if (options.charges == 0)
        options.charges = std::max(2, options.grid[0] * options.grid[1] / 20 * options.grid[2]) / 2 * 2;
    return "";
}

}  // namespace fft3d
