// SPDX-License-Identifier: BSD-3-Clause
// Command line of radix_sort.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>

namespace radix_sort {

inline const char* const usage =
    "usage: radix_sort [--keys N] [--seed N] [--exchange NAME] [--dimensions N]\n"
    "  --keys N         keys per rank, from 0 to 16777216; fewer than 2^32 in total          [10000]\n"
    "  --seed N         seed of the keys, from 0 to 1000000000                               [1]\n"
    "  --exchange NAME  alltoallv: MPI_Alltoallv; combined: many-to-many of\n"
    "                   libtopoloom-objects along a mesh; sparse: topoloom_sparse_exchange;\n"
    "                   streams: libtopoloom-stream                                          [alltoallv]\n"
    "  --dimensions N   dimensions of the virtual mesh of streams, from 1 to 4               [2]\n";

inline const std::array<std::string, 4> exchanges{"alltoallv", "combined", "sparse", "streams"};

struct Options {
    std::string exchange = "alltoallv";
    int keys = 10000, seed = 1, dimensions = 2;
    bool help = false;
};

/// Parses an integer of a range.
inline std::optional<int> parse_number(const std::string& text, int first, int last) {
    char* end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || value < first || value > last) return std::nullopt;
    return static_cast<int>(value);
}

/// Parses the command line. Returns an error message, or an empty string.
inline std::string read_options(int argc, char** argv, int ranks, Options& options) {
    struct Number {
        std::string name;
        int first, last;
        int* value;
    };
    const std::array<Number, 3> numbers{{{"--keys", 0, 1 << 24, &options.keys},
                                         {"--seed", 0, 1'000'000'000, &options.seed},
                                         {"--dimensions", 1, 4, &options.dimensions}}};
    bool has_dimensions = false;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--help" || word == "-h") {
            options.help = true;
            continue;
        }
        const auto* const number = std::ranges::find(numbers, word, &Number::name);
        if (word != "--exchange" && number == numbers.end())
            return "unknown option '" + word + "'; radix_sort --help lists them";
        if (++i == argc) return word + " needs a value";
        const std::string value = argv[i];
        if (word == "--exchange") {
            if (std::ranges::find(exchanges, value) == exchanges.end())
                return "--exchange is '" + value + "', expected alltoallv, combined, sparse or streams";
            options.exchange = value;
        } else if (const auto parsed = parse_number(value, number->first, number->last)) {
            *number->value = *parsed;
            has_dimensions |= word == "--dimensions";
        } else {
            return word + " is '" + value + "', expected a number from " + std::to_string(number->first) +
                   " to " + std::to_string(number->last);
        }
    }
    if (has_dimensions && options.exchange != "streams") return "--dimensions needs --exchange streams";
    if (1LL * options.keys * ranks >= 1LL << 32)
        return "--keys is " + std::to_string(options.keys) + ", expected fewer than 2^32 keys on all ranks";
    return "";
}

}  // namespace radix_sort
