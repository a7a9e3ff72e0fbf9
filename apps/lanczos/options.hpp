// SPDX-License-Identifier: BSD-3-Clause
// Command line of lanczos.
#pragma once

#include <cstdlib>
#include <map>
#include <string>

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
    bool help = false;
};

/// Parses the command line. Returns an error message, or an empty string.
inline std::string read_options(int argc, char** argv, Options& options) {
    const std::map<std::string, int*> counts{{"--size", &options.size},
                                             {"--nonzeros", &options.nonzeros},
                                             {"--seed", &options.seed},
                                             {"--iterations", &options.iterations}};
    bool is_random = false;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--overlap") {
            options.overlap = true;
        } else if (word == "--help" || word == "-h") {
            options.help = true;
        } else if (word == "--matrix" || word == "--order" || counts.contains(word)) {
            if (++i == argc) return word + " needs a value";
            const std::string value = argv[i];
            if (word == "--matrix") {
                options.matrix = value;
            } else if (word == "--order") {
                if (value != "dm" && value != "cm" && value != "bdm" && value != "bcm")
                    return "--order is '" + value + "', expected dm, cm, bdm or bcm";
                options.order = value;
            } else {
                char* end = nullptr;
                const long count = std::strtol(value.c_str(), &end, 10);
                if (value.empty() || *end != '\0' || count < 1 || count > 100'000'000)
                    return word + " is '" + value + "', expected a number from 1 to 100000000";
                *counts.at(word) = static_cast<int>(count);
                is_random |= word == "--size" || word == "--nonzeros";
            }
        } else {
            return "unknown option '" + word + "'; lanczos --help lists them";
        }
    }
    return is_random && !options.matrix.empty() ? "--matrix cannot be combined with --size or --nonzeros"
                                                : "";
}

}  // namespace lanczos
