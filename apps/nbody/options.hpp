// SPDX-License-Identifier: BSD-3-Clause
// Command line of nbody.
#pragma once

#include <string>

#include "../shared/command_line.hpp"
#include "allgather.hpp"

namespace nbody {

inline const char* const usage =
    "usage: nbody [--bodies N] [--steps N] [--gather NAME] [--order NAME] [--check NAME]\n"
    "  --bodies N     bodies per rank (default: 250)\n"
    "  --steps N      leapfrog steps (default: 10)\n"
    "  --gather NAME  allgather of positions in each step (default: library)\n"
    "                 library    MPI_Allgather\n"
    "                 all-pairs  direct messages between all pairs of ranks\n"
    "                 hypercube  recursive doubling\n"
    "                 ring       pass blocks around a ring, and compute while they are in flight\n"
    "                 broadcast  gather on rank 0, then broadcast\n"
    "  --order NAME   rank order (default: world)\n"
    "                 world      the launcher's order\n"
    "                 remap      topoloom_comm_order with the options in TOPOLOOM_ORDER\n"
    "                 other      of topoloom_comm_order, such as fastest-edge-first, channel-aware, random\n"
    "  --check NAME   checks in addition to momentum and energy (default: serial)\n"
    "                 serial  compare positions with a run on rank 0; with ring, for up to 1000 steps\n"
    "                 sums    none\n"
    "In SimGrid, a pair of bodies takes NS_PER_PAIR nanoseconds (environment variable).\n";

struct Options {
    int bodies = 250, steps = 10;
    std::string gather = "library", order = "world", check = "serial";
};

inline void add_options(apps::CommandLine& line, Options& options) {
    line.add_number("--bodies", 1, 100'000, options.bodies);
    line.add_number("--steps", 1, 100'000, options.steps);
    line.add_choice("--gather", {gather_names.begin(), gather_names.end()}, options.gather);
    line.add_text("--order", options.order);
    line.add_choice("--check", {"serial", "sums"}, options.check);
}

inline std::string check_options(const apps::CommandLine& /*line*/, const Options& /*options*/,
                                 int /*ranks*/) {
    return "";
}

}  // namespace nbody
