// SPDX-License-Identifier: BSD-3-Clause
// Command line of nbody.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

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
    bool help = false;
};

/// Parses the command line. Returns an error message, or an empty string.
inline std::string read_options(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--help") {
            options.help = true;
            continue;
        }
        const bool is_number = word == "--bodies" || word == "--steps";
        if (!is_number && word != "--gather" && word != "--order" && word != "--check")
            return "unknown option '" + word + "'; nbody --help lists them";
        if (++i == argc) return word + " needs a value";
        const std::string value = argv[i];
        if (is_number) {
            char* end = nullptr;
            const long number = std::strtol(value.c_str(), &end, 10);
            if (value.empty() || *end != '\0' || number < 1 || number > 100'000)
                return word + " is '" + value + "', expected a number from 1 to 100000";
            (word == "--bodies" ? options.bodies : options.steps) = static_cast<int>(number);
        } else if (word == "--gather") {
            if (std::ranges::find(gather_names, value) == gather_names.end())
                return "--gather is '" + value +
                       "', expected library, all-pairs, hypercube, ring or broadcast";
            options.gather = value;
        } else if (word == "--check") {
            if (value != "serial" && value != "sums")
                return "--check is '" + value + "', expected serial or sums";
            options.check = value;
        } else {
            options.order = value;
        }
    }
    return "";
}

}  // namespace nbody
