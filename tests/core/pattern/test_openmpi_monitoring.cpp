// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/readers/monitoring.hpp"

#include "pattern/dense_matrix.hpp"
#include "pattern/refused_texts.hpp"

using namespace topoloom;

namespace {

// Output of Open MPI 4.1.4 for two of four ranks of a program with a ring exchange, a reduction, puts and
// gets; histograms are shortened.
const std::string rank_0 =
    "# POINT TO POINT\n"
    "E\t0\t1\t300 bytes\t3 msgs sent\t4,0,0,15,4,2,1,3\n"
    "I\t0\t1\t4292 bytes\t27 msgs sent\n"
    "I\t0\t3\t0 bytes\t4 msgs sent\t4,0,0,0\n"
    "# OSC\n"
    "S\t0\t1\t32 bytes\t1 msgs sent\n"
    "# COLLECTIVES\n"
    "C\t0\t1\t4292 bytes\t27 msgs sent\n"
    "D\tMPI_COMM_SELF\tprocs: 0\n"
    "O2A\t0\t0 bytes\t0 msgs sent\n"
    "A2O\t0\t0 bytes\t0 msgs sent\n"
    "A2A\t0\t0 bytes\t0 msgs sent\n"
    "D\tMPI COMMUNICATOR 4 SPLIT_TYPE FROM 3\tprocs: 0,1,2,3\n"
    "O2A\t0\t12432 bytes\t2 msgs sent\n";
const std::string rank_2 =
    "# POINT TO POINT\n"
    "E\t2\t3\t900 bytes\t3 msgs sent\t0,0,0,6,3,2,1\n"
    "I\t2\t3\t112 bytes\t12 msgs sent\n"
    "# OSC\n"
    "R\t2\t3\t64 bytes\t1 msgs sent\n"
    "# COLLECTIVES\n"
    "C\t2\t0\t148 bytes\t25 msgs sent\n";

}  // namespace

TEST_CASE("files of several ranks give one graph, in which the data of a get goes to the caller") {
    Dense expected = empty_matrix(4);
    add(expected, 0, 1, 300 + 4292 + 32, 3 + 27 + 1);
    add(expected, 0, 3, 0, 4);
    add(expected, 2, 3, 900 + 112, 3 + 12);
    add(expected, 3, 2, 64, 1);
    CHECK(to_dense_matrix(read_monitoring(rank_0 + rank_2)) == expected);
    CHECK(to_dense_matrix(read_monitoring(rank_2 + "\r\n" + rank_0)) == expected);
}

TEST_CASE("only the selected kinds of messages are counted") {
    const MonitoringKinds none{false, false, false, false};
    const auto total = [&](bool MonitoringKinds::* kind) {
        MonitoringKinds only = none;
        only.*kind = true;
        return read_monitoring(rank_0 + rank_2, only).total_bytes().value;
    };
    CHECK(total(&MonitoringKinds::external) == 1200);
    CHECK(total(&MonitoringKinds::internal) == 4404);
    CHECK(total(&MonitoringKinds::one_sided) == 96);
    CHECK(total(&MonitoringKinds::collective) == 4440);
    CHECK_THROWS_WITH_AS((void)read_monitoring(rank_0, none),
                         "no line has messages of the requested kinds; is this monitoring output?", Error);
}

TEST_CASE("phases of a rank are summed, and ranks that sent nothing count if the number of ranks is given") {
    const std::string line = "E\t0\t1\t10 bytes\t2 msgs sent\n";
    Dense expected = empty_matrix(5);
    add(expected, 0, 1, 20, 4);
    CHECK(to_dense_matrix(read_monitoring(line + line, {}, 5)) == expected);
    CHECK(read_monitoring(line).rank_count() == 2);
}

TEST_CASE("invalid monitoring lines are refused with the line and the reason") {
    constexpr const char* nothing = "no line has messages of the requested kinds; is this monitoring output?";
    check_refused(
        [](const auto& text) { return read_monitoring(text, {}, 4); },
        {
            {"", nothing},
            {"# POINT TO POINT\n\n", nothing},
            {"D\tMPI_COMM_WORLD\tprocs: 0\n", nothing},
            {"hello\n", "line 1: expected a kind of message (E, I, S, R or C), found 'hello'"},
            {"\x7f"
             "ELF\n",
             "line 1: expected a kind of message (E, I, S, R or C), found '\\x7fELF'"},
            {"#\nE\t0\n", "line 2: expected the destination, but the line ends here"},
            {"E\t-1\t0\t5 bytes\t1 msgs sent\n", "line 1: the source must not be negative, but is -1"},
            {"E\t0\t-1\t5 bytes\t1 msgs sent\n", "line 1: the destination must not be negative, but is -1"},
            {"E\t0\t9\t5 bytes\t1 msgs sent\n", "line 1: the destination is 9, but there are only 4 ranks"},
            {"E\t0\t1\t-5 bytes\t1 msgs sent\n",
             "line 1: the number of bytes must not be negative, but is -5"},
            {"E\t0\t1\tnan bytes\t1 msgs sent\n", "line 1: expected the number of bytes, found 'nan'"},
            {"E\t0\t1\t5 msgs\t1 bytes sent\n", "line 1: expected 'bytes', found 'msgs'"},
            {"E\t0\t1\t5 bytes\t1 msgs", "line 1: expected 'sent', but the text ends here"},
        });
    CHECK_THROWS_WITH_AS(
        (void)read_monitoring("E\t0\t4000000000\t5 bytes\t1 msgs sent\n"),
        "line 1: the destination is 4000000000; a file of this size can have at most 262179 ranks", Error);
}
