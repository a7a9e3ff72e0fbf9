// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/readers/dense_matrix.hpp"

#include "pattern/dense_matrix.hpp"
#include "pattern/refused_texts.hpp"

using namespace topoloom;

TEST_CASE("row i, column j of a dense matrix gives the bytes from rank i to rank j, in any number format") {
    Dense expected = empty_matrix(3);
    add(expected, 0, 1, 1000);
    add(expected, 1, 2, 20);
    add(expected, 2, 2, 3);
    for (const char* text : {"0 1000 0\n0 0 20\n0 0 3\n", "0\t1000\t0\t\n0\t0\t20\t\n0\t0\t3\t\n",
                             "0 1000 0\r\n0 0 20\r\n0 0 3", "\n 0 1e3 0\n\n0 0 20.0\n0.000e+00 0 3\n\n",
                             "0.0 1.000000000000000000e+03 0.0\n0 0 2e1\n0 0 3.\n"}) {
        CAPTURE(std::string(text));
        CHECK(to_dense_matrix(read_dense_matrix(text)) == expected);
    }
    CHECK(read_dense_matrix("0").rank_count() == 1);
}

TEST_CASE("dense matrices that are not square or have invalid byte counts are refused with the line") {
    check_refused(
        [](const std::string& text) { return read_dense_matrix(text); },
        {
            {"", "the text has no numbers; expected a square matrix, one row per line"},
            {"\n \n", "the text has no numbers; expected a square matrix, one row per line"},
            {"0 1\n", "line 2: expected row 2 of 2, but the text ends here"},
            {"0 1\n1 0\n0 0\n", "line 3: there are more rows than the 2 columns; the matrix must be square"},
            {"0 1 2\n1 0\n", "line 2: row 2 has 2 numbers, but the first has 3"},
            {"0 1\n\n1 0 0\n", "line 3: row 2 has 3 numbers, but the first has 2"},
            {"0 -1\n1 0\n", "line 1: a value must not be negative, but is -1"},
            {"0 1\nnan 0\n", "line 2: a value must be a number from 0 to 2^63, but is nan"},
            {"0 1.5\n1 0\n", "line 1: a value must be an integer, but is 1.5"},
            {"0,1\n1,0\n", "line 1: expected a value, found '0,1'"},
            {"\x93NUMPY\x01", "line 1: expected a value, found '\\x93NUMPY\\x01'"},
            {"a-very-long-word-that-is-cut-short-in-the-message",
             "line 1: expected a value, found 'a-very-long-word-tha...'"},
        });
}
