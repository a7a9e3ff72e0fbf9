// SPDX-License-Identifier: BSD-3-Clause
// Command line of lanczos.
#pragma once

#include <string>

#include "../shared/command_line.hpp"

namespace lanczos {

inline const char* const usage =
    "usage: lanczos [--matrix FILE | --size N --nonzeros K] [--seed N] [--iterations N] [--order ORDER]\n"
    "               [--overlap]\n"
    "  --matrix FILE   symmetric Matrix Market file, coordinate format     (default: a random matrix)\n"
    "  --size N        rows of the random matrix                           (default: 2000)\n"
    "  --nonzeros K    mean number of nonzeros per row                     (default: 15)\n"
    "  --seed N        seed of matrix, permutation and start vector        (default: 1)\n"
    "  --iterations N  maximum number of basis vectors                     (default: 30)\n"
    "  --order ORDER   numbering of the ranks: by diagonals (dm) or columns (cm) of the lower triangle,\n"
    "                  or by those of the balanced grid (bdm, bcm)         (default: dm)\n"
    "  --overlap       overlap column collectives, row collectives and local products\n";

struct Options {
    std::string matrix;
    int size = 2000;
    int nonzeros = 15;
    int seed = 1;
    int iterations = 30;
    std::string order = "dm";
    bool overlap = false;
};

inline void add_options(apps::CommandLine& line, Options& options) {
    line.add_text("--matrix", options.matrix);
    line.add_number("--size", 1, 100'000'000, options.size);
    line.add_number("--nonzeros", 1, 100'000'000, options.nonzeros);
    line.add_number("--seed", 1, 100'000'000, options.seed);
    line.add_number("--iterations", 1, 100'000'000, options.iterations);
    line.add_choice("--order", {"dm", "cm", "bdm", "bcm"}, options.order);
    line.add_flag("--overlap", options.overlap);
}

/// Returns the odd number of rows of the largest grid with at most this number of ranks.
inline int find_grid_rows(int ranks) {
    int rows = 1;
    while ((rows + 2) * (rows + 3) / 2 <= ranks) rows += 2;
    return rows;
}

inline std::string check_options(const apps::CommandLine& line, const Options& /*options*/, int ranks) {
    if (line.has("--matrix") && (line.has("--size") || line.has("--nonzeros")))
        return "--matrix cannot be combined with --size or --nonzeros";
    const int rows = find_grid_rows(ranks), below = rows * (rows + 1) / 2;
    if (below == ranks) return "";
    return std::to_string(ranks) +
           " ranks are no triangular grid with an odd number of rows; the nearest numbers are " +
           std::to_string(below) + " and " + std::to_string((rows + 2) * (rows + 3) / 2);
}

}  // namespace lanczos
