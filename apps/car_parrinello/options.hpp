// SPDX-License-Identifier: BSD-3-Clause
// Command line of car_parrinello.
#pragma once

#include <string>

#include "../shared/command_line.hpp"

namespace car_parrinello {

inline const char* const usage =
    "usage: car_parrinello [--states N] [--planes N] [--steps N] [--mapping NAME] [--bucket N]\n"
    "                      [--check NAME]\n"
    "  --states N      electronic states, at most the square of --planes (default: 32)\n"
    "  --planes N      planes of a state, N x N points each (default: 25)\n"
    "  --steps N       minimization steps (default: 2)\n"
    "  --mapping NAME  data that a rank keeps together (default: states)\n"
    "                  states  all planes of a state\n"
    "                  planes  the same plane of all states\n"
    "  --bucket N      states per message of a transposition (default: 1)\n"
    "  --check NAME    checks of the result (default: serial)\n"
    "                  serial  orthonormality, density, and the states of a serial run on rank 0\n"
    "                  sums    orthonormality and density\n"
    "In SimGrid, transforming a point, or a product in an overlap, takes NS_PER_POINT nanoseconds\n"
    "(environment variable).\n";

struct Options {
    int states = 32, planes = 25, steps = 2, bucket = 1;
    std::string mapping = "states", check = "serial";
};

inline void add_options(apps::CommandLine& line, Options& options) {
    line.add_number("--states", 1, 4096, options.states);
    line.add_number("--planes", 4, 200, options.planes);
    line.add_number("--steps", 1, 100'000, options.steps);
    line.add_choice("--mapping", {"states", "planes"}, options.mapping);
    line.add_number("--bucket", 1, 4096, options.bucket);
    line.add_choice("--check", {"serial", "sums"}, options.check);
}

inline std::string check_options(const apps::CommandLine& /*line*/, const Options& options, int /*ranks*/) {
    const int points = options.planes * options.planes;
    if (options.states <= points) return "";
    return "--states is " + std::to_string(options.states) + ", expected at most the square of --planes, " +
           std::to_string(points);
}

}  // namespace car_parrinello
