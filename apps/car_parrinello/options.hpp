// SPDX-License-Identifier: BSD-3-Clause
// Command line of car_parrinello.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

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
    bool help = false;
};

/// A number that an option sets.
struct Number {
    const char* name;
    int least, most;
    int* value;
};

/// Sets a number. Returns an error message, or an empty string.
inline std::string set_number(const Number& number, const std::string& text) {
    char* end = nullptr;
    const long read = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || read < number.least || read > number.most)
        return std::string(number.name) + " is '" + text + "', expected a number from " +
               std::to_string(number.least) + " to " + std::to_string(number.most);
    *number.value = static_cast<int>(read);
    return "";
}

/// Sets the value of an option. Returns an error message, or an empty string.
inline std::string set_option(const std::string& word, const std::string& value, Options& options) {
    const Number numbers[] = {{"--states", 1, 4096, &options.states},
                              {"--planes", 4, 200, &options.planes},
                              {"--steps", 1, 100'000, &options.steps},
                              {"--bucket", 1, 4096, &options.bucket}};
    for (const Number& number : numbers)
        if (word == number.name) return set_number(number, value);
    if (word == "--mapping") {
        options.mapping = value;
        return value == "states" || value == "planes"
                   ? ""
                   : "--mapping is '" + value + "', expected states or planes";
    }
    options.check = value;
    return value == "serial" || value == "sums" ? "" : "--check is '" + value + "', expected serial or sums";
}

/// Parses the command line. Returns an error message, or an empty string.
inline std::string read_options(int argc, char** argv, Options& options) {
    const std::array names{"--states", "--planes", "--steps", "--bucket", "--mapping", "--check"};
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--help") {
            options.help = true;
            continue;
        }
        if (std::ranges::find(names, word) == names.end())
            return "unknown option '" + word + "'; car_parrinello --help lists them";
        if (++i == argc) return word + " needs a value";
        if (const std::string problem = set_option(word, argv[i], options); !problem.empty()) return problem;
    }
    if (options.states > options.planes * options.planes)
        return "--states is " + std::to_string(options.states) +
               ", expected at most the square of --planes, " +
               std::to_string(options.planes * options.planes);
    return "";
}

}  // namespace car_parrinello
