// SPDX-License-Identifier: BSD-3-Clause
// Command line of halo3d.
#pragma once

#include <array>
#include <cstdlib>
#include <optional>
#include <string>

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
    bool help = false;
};

/// Parses an integer from 1 to a million.
inline std::optional<int> parse_count(const std::string& text) {
    char* end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || value < 1 || value > 1'000'000) return std::nullopt;
    return static_cast<int>(value);
}

/// Parses the command line. Returns an error message, or an empty string.
inline std::string read_options(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--periodic")
            options.periodic = true;
        else if (word == "--reorder")
            options.reorder = true;
        else if (word == "--report")
            options.report = true;
        else if (word == "--bytes")
            options.bytes = true;
        else if (word == "--help" || word == "-h")
            options.help = true;
        else if (word == "--grid" || word == "--cells" || word == "--steps") {
            if (++i == argc) return word + " needs a value";
            std::string value = argv[i];
            if (word == "--grid") {
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    const std::size_t cross = axis < 2 ? value.find('x') : value.size();
                    const auto count = parse_count(value.substr(0, cross));
                    if (cross == std::string::npos || !count) {
                        return std::string("--grid is '") + argv[i] +
                               "', expected three numbers such as 4x2x2";
                    }
                    options.grid[axis] = *count;
                    value.erase(0, cross + 1);
                }
                continue;
            }
            const auto count = parse_count(value);
            if (!count) return word + " is '" + value + "', expected a number from 1 to 1000000";
            (word == "--cells" ? options.cells : options.steps) = *count;
        } else {
            return "unknown option '" + word + "'; halo3d --help lists them";
        }
    }
    return "";
}

}  // namespace halo3d
