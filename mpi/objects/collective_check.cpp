// SPDX-License-Identifier: BSD-3-Clause
#include "collective_check.hpp"

#include <bit>
#include <cstdio>
#include <functional>
#include <vector>

#include "topoloom_archive.hpp"

extern "C" {
#include "abort_message.h"
#include "errors.h"
}

namespace topoloom::objects {

namespace {

/// The error of the lowest rank that has a fault.
struct FirstError {
    char text[480] = "";
    bool is_printed = false;
};

}  // namespace

std::int64_t hash_for_comparison(const std::string& text) {
    return static_cast<std::int64_t>(std::hash<std::string>()(text));
}
std::int64_t hash_for_comparison(double number) {
    return std::bit_cast<std::int64_t>(number + 0.0);  // -0 is 0
}

void check_on_all_ranks(MPI_Comm comm, const std::string& fault, std::initializer_list<CommonValue> values) {
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    std::vector<std::int64_t> least{fault.empty() ? ranks : rank};
    for (const CommonValue& one : values) {
        least.push_back(one.value);
        least.push_back(~one.value);
    }
    PMPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT64_T, MPI_MIN, comm);
    std::string text = fault;
    int first = static_cast<int>(least[0]);
    if (first == ranks) {
        for (std::size_t i = 0; i < values.size() && text.empty(); ++i)
            if (least[2 * i + 1] != ~least[2 * i + 2])
                text = std::string(values.begin()[i].name) + " is not the same on all ranks";
        if (text.empty()) return;
        first = 0;
    }
    FirstError error;
    if (rank == first) {
        std::snprintf(error.text, sizeof error.text, "%s", text.c_str());
        error.is_printed = is_fatal(comm);
        if (error.is_printed) print_before_abort("topoloom: topoloom_objects: %s\n", error.text);
    }
    // broadcast first, so that no rank ends the job before the error is printed
    PMPI_Bcast(&error, sizeof error, MPI_BYTE, first, comm);
    if (error.is_printed)
        PMPI_Comm_call_errhandler(comm, MPI_ERR_ARG);
    else
        raise_error(comm, MPI_ERR_ARG, "objects", "%s", error.text);
    throw ObjectsError(error.text);
}

}  // namespace topoloom::objects
