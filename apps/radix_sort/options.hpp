// SPDX-License-Identifier: BSD-3-Clause
// Command line of radix_sort.
#pragma once

#include <cstdint>
#include <string>

#include "../shared/command_line.hpp"

namespace radix_sort {

inline const char* const usage =
    "usage: radix_sort [--keys N] [--seed N] [--exchange NAME] [--dimensions N]\n"
    "  --keys N         keys per rank, from 0 to 16777216; fewer than 2^32 in total          [10000]\n"
    "  --seed N         seed of the keys, from 0 to 1000000000                               [1]\n"
    "  --exchange NAME  alltoallv: MPI_Alltoallv; combined: many-to-many of\n"
    "                   libtopoloom-objects along a mesh; sparse: topoloom_sparse_exchange;\n"
    "                   streams: libtopoloom-stream                                          [alltoallv]\n"
    "  --dimensions N   dimensions of the virtual mesh of streams, from 1 to 4               [2]\n";

struct Options {
    std::string exchange = "alltoallv";
    int keys = 10000, seed = 1, dimensions = 2;
};

inline void add_options(apps::CommandLine& line, Options& options) {
    line.add_number("--keys", 0, 1 << 24, options.keys);
    line.add_number("--seed", 0, 1'000'000'000, options.seed);
    line.add_choice("--exchange", {"alltoallv", "combined", "sparse", "streams"}, options.exchange);
    line.add_number("--dimensions", 1, 4, options.dimensions);
}

inline std::string check_options(const apps::CommandLine& line, const Options& options, int ranks) {
    if (line.has("--dimensions") && options.exchange != "streams")
        return "--dimensions needs --exchange streams";
    if (std::int64_t{options.keys} * ranks >= std::int64_t{1} << 32)
        return "--keys is " + std::to_string(options.keys) + ", expected fewer than 2^32 keys on all ranks";
    return "";
}

}  // namespace radix_sort
