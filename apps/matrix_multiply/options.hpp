// SPDX-License-Identifier: BSD-3-Clause
// Command line of matrix_multiply, and the process grid of each algorithm.
#pragma once

#include <mpi.h>

#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "../shared/command_line.hpp"

namespace matrix_multiply {

inline const char* const usage =
    "usage: matrix_multiply [--algorithm NAME] [--grid PxQ] [--copies C] [--block N] [--broadcast NAME]\n"
    "                       [--tiles] [--overlap] [--times N] [--seed N] [--output FILE]\n"
    "  --algorithm NAME  fox (q x q ranks), summa (P x Q ranks) or summa3d (q x q x C ranks; C copies\n"
    "                    of A and B, C divides q)                           (default: summa)\n"
    "  --grid PxQ        rows and columns of ranks, for summa               (default: nearly square)\n"
    "  --copies C        copies of A and B, for summa3d                     (default: as many as possible)\n"
    "  --block N         block width; matrices have N x lcm(P, Q) rows      (default: 128)\n"
    "  --broadcast NAME  library (MPI_Bcast) or pipeline (chains with 64 KiB segments, by Topoloom)\n"
    "                                                                       (default: library)\n"
    "  --tiles           give each node a compact tile of the grid          (default: rank i has cell i)\n"
    "  --overlap         broadcast the next block during multiplication by the current one\n"
    "  --times N         number of products                                 (default: 3)\n"
    "  --seed N          seed of the matrices                               (default: 1)\n"
    "  --output FILE     write the product, row by row, as binary doubles\n";

/// Extents of the process grid.
struct Grid {
    int layers = 1, rows = 0, columns = 0;
};

struct Options {
    std::string algorithm = "summa", broadcast = "library", output;
    Grid grid;       // rows = 0: chosen
    int copies = 0;  // 0: chosen
    int block = 128;
    int times = 3;
    int seed = 1;
    bool tiles = false, overlap = false;
};

inline bool parse_grid(const std::string& text, Grid& grid) {
    std::array<int, 2> sides{};
    const bool is_valid = apps::parse_extents(text, 100'000, sides);
    grid = {1, sides[0], sides[1]};
    return is_valid;
}

inline void add_options(apps::CommandLine& line, Options& options) {
    line.add_choice("--algorithm", {"fox", "summa", "summa3d"}, options.algorithm);
    line.add("--grid", "two numbers such as 2x4",
             [&options](const std::string& text) { return parse_grid(text, options.grid); });
    line.add_number("--copies", 1, 100'000, options.copies);
    line.add_number("--block", 1, 100'000, options.block);
    line.add_choice("--broadcast", {"library", "pipeline"}, options.broadcast);
    line.add_flag("--tiles", options.tiles);
    line.add_flag("--overlap", options.overlap);
    line.add_number("--times", 1, 100'000, options.times);
    line.add_number("--seed", 1, 100'000, options.seed);
    line.add_text("--output", options.output);
}

/// Returns the side of the square layers of a grid with this number of copies, or 0 if there is none.
inline int find_side(int ranks, int copies) {
    const int side = static_cast<int>(std::lround(std::sqrt(ranks / copies)));
    return side * side * copies == ranks && side % copies == 0 ? side : 0;
}

/// Returns the number of copies for this number of ranks, or 0 if there is no grid.
inline int find_copies(const Options& options, int ranks) {
    if (options.algorithm == "fox") return find_side(ranks, 1) > 0 ? 1 : 0;
    if (options.copies > 0) return find_side(ranks, options.copies) > 0 ? options.copies : 0;
    for (int copies = static_cast<int>(std::cbrt(ranks) + 0.5); copies > 0; --copies)
        if (find_side(ranks, copies) > 0) return copies;
    return 0;
}

/// Returns an error message if an MPI call cannot count the elements of a block, or an empty string.
inline std::string check_block(const Options& options) {
    const auto [layers, rows, columns] = options.grid;
    const double size = 1.0 * options.block * std::lcm(rows, columns);
    return size * size / rows / columns < 0x1p31
               ? ""
               : "--block is " + std::to_string(options.block) + ", too large";
}

/// Chooses the extents of the grid. Returns an error message, or an empty string.
inline std::string check_options(const apps::CommandLine& line, Options& options, int ranks) {
    if (line.has("--grid") && options.algorithm != "summa") return "--grid is only for --algorithm summa";
    if (line.has("--copies") && options.algorithm != "summa3d")
        return "--copies is only for --algorithm summa3d";
    if (options.algorithm == "summa") {
        if (options.grid.rows == 0) {
            int sides[2] = {0, 0};
            MPI_Dims_create(ranks, 2, sides);
            options.grid = {1, sides[0], sides[1]};
        }
        const long wanted = 1L * options.grid.rows * options.grid.columns;
        return wanted == ranks ? check_block(options)
                               : "--grid needs " + std::to_string(wanted) + " ranks, but there are " +
                                     std::to_string(ranks);
    }
    const int copies = find_copies(options, ranks);
    if (copies > 0) {
        const int side = find_side(ranks, copies);
        options.grid = {copies, side, side};
        return check_block(options);
    }
    int below = ranks, above = ranks;
    while (below > 0 && find_copies(options, below) == 0) --below;
    while (find_copies(options, above) == 0) ++above;
    const std::string shape =
        options.algorithm == "fox" ? "q x q ranks" : "q x q x C ranks, where C divides q";
    return options.algorithm + " needs " + shape + ", but there are " + std::to_string(ranks) +
           "; the nearest numbers are " + (below > 0 ? std::to_string(below) + " and " : "") +
           std::to_string(above);
}

}  // namespace matrix_multiply
