// SPDX-License-Identifier: BSD-3-Clause
#include "agreement.hpp"

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

/// What the first rank with a fault says.
struct Said {
    char text[480] = "";
    bool is_printed = false;
};

}  // namespace

std::int64_t to_compare(const std::string& text) {
    return static_cast<std::int64_t>(std::hash<std::string>()(text));
}
std::int64_t to_compare(double number) {
    return std::bit_cast<std::int64_t>(number + 0.0);  // -0 is 0
}

void agree(MPI_Comm comm, const std::string& fault, std::initializer_list<Common> values) {
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    std::vector<std::int64_t> least{fault.empty() ? ranks : rank};
    for (const Common& one : values) {
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
    Said said;
    if (rank == first) {
        std::snprintf(said.text, sizeof said.text, "%s", text.c_str());
        said.is_printed = is_fatal(comm);
        if (said.is_printed) print_before_abort("topoloom: topoloom_objects: %s\n", said.text);
    }
    PMPI_Bcast(&said, sizeof said, MPI_BYTE, first,
               comm);  // so that none ends the job before that is printed
    if (said.is_printed)
        PMPI_Comm_call_errhandler(comm, MPI_ERR_ARG);
    else
        raise_error(comm, MPI_ERR_ARG, "objects", "%s", said.text);
    throw ObjectsError(said.text);
}

}  // namespace topoloom::objects
