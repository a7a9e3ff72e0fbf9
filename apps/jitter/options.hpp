// SPDX-License-Identifier: BSD-3-Clause
// Command line of jitter.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

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
    bool is_asynchronous = false, help = false;
    std::string stretch = "none";
};

/// Parses a number from `least` to `most`. Returns false if it is none.
inline bool parse_number(const std::string& text, double least, double most, double& number) {
    char* end = nullptr;
    number = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0' && number >= least && number <= most;
}

/// Parses the command line for a number of ranks. Returns an error message, or an empty string.
inline std::string read_options(int argc, char** argv, int ranks, Options& options) {
    struct {
        const char* name;
        double least, most;
        double* real;
        int* whole;
    } const numbers[] = {
        {"--steps", 1, 1e6, nullptr, &options.steps},
        {"--work", 0, 1, &options.work, nullptr},
        {"--noise", 0, 1, &options.noise, nullptr},
        {"--probability", 0, 1, &options.probability, nullptr},
        {"--seed", 0, 1e9, nullptr, &options.seed},
        {"--lag", 1, 1000, nullptr, &options.lag},
        {"--messages", 0, ranks - 1.0, nullptr, &options.messages},
        {"--bytes", 1, 1e8, nullptr, &options.bytes},
    };
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--asynchronous" || word == "--help") {
            (word == "--help" ? options.help : options.is_asynchronous) = true;
            continue;
        }
        bool is_known = word == "--stretch";
        for (const auto& number : numbers) is_known |= word == number.name;
        if (!is_known) return "unknown option '" + word + "'; jitter --help lists them";
        if (++i == argc) return word + " needs a value";
        const std::string value = argv[i];
        if (word == "--stretch") {
            if (value != "none" && value != "same" && value != "any")
                return "--stretch is '" + value + "', expected none, same or any";
            options.stretch = value;
        }
        for (const auto& number : numbers) {
            if (word != number.name) continue;
            double read = 0;
            const bool is_valid = parse_number(value, number.least, number.most, read);
            const int whole = is_valid ? static_cast<int>(read) : 0;
            if (!is_valid || (number.whole != nullptr && whole != read)) {
                char range[64];
                std::snprintf(range, sizeof range, "%.9g to %.9g", number.least, number.most);
                return word + " is '" + value + "', expected " +
                       (number.whole != nullptr ? "a whole number from " : "a number from ") + range;
            }
            if (number.whole != nullptr)
                *number.whole = whole;
            else
                *number.real = read;
        }
    }
    return "";
}

}  // namespace jitter
