// SPDX-License-Identifier: BSD-3-Clause
// Command line of jitter.
#pragma once

#include <string>

#include "../shared/command_line.hpp"

namespace jitter {

inline const char* const usage =
    "usage: jitter [--steps N] [--work SECONDS] [--noise SECONDS] [--probability P] [--seed N]\n"
    "              [--asynchronous] [--lag N] [--messages N] [--bytes N] [--stretch NAME]\n"
    "  --steps N        steps, each with work and an allreduce (default: 50)\n"
    "  --work SECONDS   work per rank and step (default: 0.012)\n"
    "  --noise SECONDS  length of a delay by the operating system (default: 0.01)\n"
    "  --probability P  probability of a delay per rank and step (default: 0.01)\n"
    "  --seed N         seed of the delays (default: 1)\n"
    "  --asynchronous   wait for the allreduce of step k after the work of step k + lag\n"
    "  --lag N          steps between start and completion of an asynchronous allreduce (default: 1)\n"
    "  --messages N     send to the N next ranks in the middle of a step (default: 0)\n"
    "  --bytes N        size of these messages (default: 1024)\n"
    "  --stretch NAME   earlier message that must be received before a send starts (default: none)\n"
    "                   none  no message\n"
    "                   same  the previous message to the same rank\n"
    "                   any   the previous message to any rank\n";

struct Options {
    double work = 0.012, noise = 0.01, probability = 0.01;
    int steps = 50, seed = 1, lag = 1, messages = 0, bytes = 1024;
    bool is_asynchronous = false;
    std::string stretch = "none";
};

inline void add_options(apps::CommandLine& line, Options& options) {
    line.add_number("--steps", 1, 1'000'000, options.steps);
    line.add_number("--work", 0, 1, options.work);
    line.add_number("--noise", 0, 1, options.noise);
    line.add_number("--probability", 0, 1, options.probability);
    line.add_number("--seed", 0, 1'000'000'000, options.seed);
    line.add_flag("--asynchronous", options.is_asynchronous);
    line.add_number("--lag", 1, 1000, options.lag);
    line.add_number("--messages", 0, 1'000'000, options.messages);
    line.add_number("--bytes", 1, 100'000'000, options.bytes);
    line.add_choice("--stretch", {"none", "same", "any"}, options.stretch);
}

inline std::string check_options(const apps::CommandLine& /*line*/, const Options& options, int ranks) {
    if (options.messages < ranks) return "";
    return "--messages is '" + std::to_string(options.messages) +
           "', expected at most the number of other ranks, " + std::to_string(ranks - 1);
}

}  // namespace jitter
