// SPDX-License-Identifier: BSD-3-Clause
// Command line of fft3d.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

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
    bool overlap = false, help = false;
    int steps = 1, charges = 0;
    double force_work = 0;
};

/// Parses an integer of a range; returns 0 if the text is anything else.
inline int parse_count(const std::string& text, int last) {
    char* end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    return text.empty() || *end != '\0' || value < 1 || value > last ? 0 : static_cast<int>(value);
}

inline bool parse_grid(std::string text, Extents& grid) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t cross = axis < 2 ? text.find('x') : text.size();
        if (cross == std::string::npos) return false;
        grid[axis] = parse_count(text.substr(0, cross), 4096);
        text.erase(0, cross + 1);
    }
    return std::ranges::min(grid) > 0 && 1LL * grid[0] * grid[1] * grid[2] <= 1 << 28;
}

inline bool parse_choice(const std::string& text, const std::vector<std::string>& choices, std::string& to) {
    to = text;
    return std::ranges::find(choices, text) != choices.end();
}

/// Parses the value of an option; returns what is allowed if it is invalid, or an empty string.
inline std::string read_value(const std::string& name, const std::string& value, Options& options) {
    if (name == "--mode") return parse_choice(value, {"fft", "pme"}, options.mode) ? "" : "fft or pme";
    if (name == "--grid")
        return parse_grid(value, options.grid)
                   ? ""
                   : "three numbers from 1 to 4096 such as 48x48x48, with a product up to 2^28";
    if (name == "--decomposition")
        return parse_choice(value, {"pencils", "slabs"}, options.decomposition) ? "" : "pencils or slabs";
    if (name == "--transpose")
        return parse_choice(value, {"library", "direct", "mesh", "grid", "hypercube"}, options.transpose)
                   ? ""
                   : "library, direct, mesh, grid or hypercube";
    if (name == "--steps")
        return (options.steps = parse_count(value, 1'000'000)) > 0 ? "" : "a number from 1 to 1000000";
    if (name == "--charges") {
        options.charges = parse_count(value, 100'000'000);
        return options.charges > 0 && options.charges % 2 == 0 ? "" : "an even number from 2 to 100000000";
    }
    char* end = nullptr;
    options.force_work = std::strtod(value.c_str(), &end);
    const bool is_valid =
        !value.empty() && *end == '\0' && options.force_work >= 0 && options.force_work <= 1000;
    return is_valid ? "" : "seconds from 0 to 1000";
}

/// Parses the command line. Returns an error message, or an empty string.
inline std::string read_options(int argc, char** argv, Options& options) {
    const std::vector<std::string> with_value{"--mode",  "--grid",    "--decomposition", "--transpose",
                                              "--steps", "--charges", "--force-work"};
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--overlap") {
            options.overlap = true;
        } else if (word == "--help" || word == "-h") {
            options.help = true;
        } else if (std::ranges::find(with_value, word) != with_value.end()) {
            if (++i == argc) return word + " needs a value";
            const std::string allowed = read_value(word, argv[i], options);
            if (!allowed.empty()) return word + " is '" + argv[i] + "', expected " + allowed;
        } else {
            return "unknown option '" + word + "'; fft3d --help lists them";
        }
    }
    if (options.charges > 0 && options.mode != "pme") return "--charges needs --mode pme";
    if (options.mode == "pme" && std::ranges::min(options.grid) < 4)
        return "--mode pme needs a --grid of 4 points or more along each axis";
    if (options.charges == 0)
        options.charges = std::max(2, options.grid[0] * options.grid[1] / 20 * options.grid[2]) / 2 * 2;
    return "";
}

}  // namespace fft3d
