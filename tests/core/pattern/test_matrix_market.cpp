// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/readers/matrix_market.hpp"

#include "pattern/dense_matrix.hpp"
#include "pattern/refused_texts.hpp"

using namespace topoloom;

namespace {

const std::string general = "%%MatrixMarket matrix coordinate integer general\n";
const std::string symmetric = "%%MatrixMarket matrix coordinate integer symmetric\n";

}  // namespace

TEST_CASE("row i, column j gives the bytes from rank i - 1 to rank j - 1; repeated entries add up") {
    const auto graph =
        read_matrix_market(general + "% a comment\n\n3 3 6\n1 2 5\n3 1 7\n2 2 9\n1 2 6\n\n2 3 0\n2 1 1\n");
    Dense expected = empty_matrix(3);
    add(expected, 0, 1, 11, 2);
    add(expected, 2, 0, 7);
    add(expected, 1, 1, 9);
    add(expected, 1, 0, 1);
    CHECK(to_dense_matrix(graph) == expected);
    CHECK(graph.total_bytes() == Bytes{19});
}

TEST_CASE("a symmetric matrix is expanded to both halves, with its diagonal once") {
    Dense expected = empty_matrix(3);
    add(expected, 0, 1, 5);
    add(expected, 1, 0, 5);
    add(expected, 2, 1, 8);
    add(expected, 1, 2, 8);
    add(expected, 2, 2, 9);
    CHECK(to_dense_matrix(read_matrix_market(symmetric + "3 3 3\n2 1 5\n3 2 8\n3 3 9\n")) == expected);
    const std::string array = "%%MatrixMarket matrix array real symmetric\n3 3\n0\n5\n0\n0\n8.0\n9\n";
    CHECK(to_dense_matrix(read_matrix_market(array)) == expected);
}

TEST_CASE("arrays are stored by column") {
    Dense expected = empty_matrix(2);
    add(expected, 0, 0, 1);
    add(expected, 1, 0, 2);
    add(expected, 0, 1, 3);
    add(expected, 1, 1, 4);
    CHECK(to_dense_matrix(read_matrix_market(
              "%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n")) == expected);
}

TEST_CASE(
    "integers may be written in any notation of real numbers, and a pattern matrix has one byte per entry, "
    "times the scale") {
    for (const char* value :
         {"1024", "1024.0", "1.024e3", "1.0240000000000000E+03", "+1024", "10240e-1", "01024"}) {
        CAPTURE(value);
        const auto graph = read_matrix_market(
            "%%matrixmarket MATRIX Coordinate REAL General\r\n2 2 1\r\n1 2 " + std::string(value));
        CHECK(graph.bytes(Rank{0})[0] == Bytes{1024});
    }
    const auto pattern =
        read_matrix_market("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
    CHECK(pattern.total_bytes() == Bytes{2});
    ValueScale scale{.factor = 2.6};
    const auto scaled =
        read_matrix_market("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", &scale);
    CHECK(scaled.total_bytes() == Bytes{6});
    CHECK(scale.rounded == 1);
    CHECK(read_matrix_market(general + "2 2 1\n1 2 9223372036854775807\n").total_bytes().value == INT64_MAX);
}

TEST_CASE("invalid Matrix Market texts are refused with the line and the reason") {
    const auto banner = [](const char* rest) {
        return "%%MatrixMarket " + std::string(rest) + "\n2 2 1\n1 2 1\n";
    };
    check_refused(
        [](const std::string& text) { return read_matrix_market(text); },
        {
            {"", "line 1: expected %%MatrixMarket, but the text ends here"},
            {"2 2 1\n1 2 5\n", "line 1: expected %%MatrixMarket, found '2'"},
            {std::string("\x1f\x8b\x08\x00\x01", 5),
             "line 1: expected %%MatrixMarket, found '\\x1f\\x8b\\x08\\x00\\x01'"},
            {banner("vector coordinate integer general"),
             "line 1: this is a Matrix Market vector; only a matrix can be read"},
            {banner("matrix sparse integer general"),
             "line 1: unknown format 'sparse'; there are: coordinate, array"},
            {banner("matrix coordinate complex general"),
             "line 1: the entries are complex; bytes must be integer, real or pattern"},
            {banner("matrix coordinate float general"),
             "line 1: unknown field 'float'; there are: integer, real, pattern"},
            {banner("matrix array pattern general"),
             "line 1: a pattern must be in coordinate format, not array"},
            {banner("matrix coordinate real skew-symmetric"),
             "line 1: the matrix is skew-symmetric, so it has entries that are not bytes; store it as "
             "general or "
             "symmetric"},
            {banner("matrix coordinate real hermitian"),
             "line 1: the matrix is hermitian, so it has entries that are not bytes; store it as general "
             "or symmetric"},
            {banner("matrix coordinate real odd"),
             "line 1: unknown symmetry 'odd'; there are: general, symmetric"},
            {banner("matrix coordinate"),
             "line 1: expected the field (integer, real or pattern), but the line ends here"},
            {banner("matrix coordinate real general x"), "line 1: expected the end of the line, found 'x'"},
            {general, "line 2: expected the number of rows, but the text ends here"},
            {general + "2 3 1\n1 1 1\n",
             "line 2: the matrix has 2 rows and 3 columns; a communication matrix is square"},
            {general + "0 0 0\n", "line 2: the matrix is empty"},
            {general + "4000000000 4000000000 0\n",
             "line 2: the matrix has 4000000000 rows; a file of this size can have at most 262217"},
            {general + "2 2\n1 1 1\n", "line 2: expected the number of entries, but the line ends here"},
            {general + "2 2 -1\n", "line 2: the number of entries must not be negative, but is -1"},
            {general + "2 2 1000000000000\n1 1 1\n",
             "line 4: expected entry 2 of 1000000000000, but the text ends here"},
            {general + "2 2 1\n1 1 1\n2 2 2\n",
             "line 4: expected nothing more after the last entry, found '2'"},
            {general + "2 2 1\n0 1 1\n", "line 3: a row is 0, but the matrix has 1 to 2"},
            {general + "2 2 1\n1 3 1\n", "line 3: a column is 3, but the matrix has 1 to 2"},
            {general + "2 2 1\n-1 1 1\n", "line 3: a row must not be negative, but is -1"},
            {general + "2 2 1\n1 1\n", "line 3: expected a value, but the line ends here"},
            {general + "2 2 1\n1 1 1 1\n", "line 3: expected the end of the line, found '1'"},
            {general + "2 2 1\n1 2 -5\n", "line 3: a value must not be negative, but is -5"},
            {general + "2 2 1\n1 2 -0.5\n", "line 3: a value must not be negative, but is -0.5"},
            {general + "2 2 1\n1 2 0.5\n", "line 3: a value must be an integer, but is 0.5"},
            {general + "2 2 1\n1 2 nan\n", "line 3: a value must be a number from 0 to 2^63, but is nan"},
            {general + "2 2 1\n1 2 inf\n", "line 3: a value must be a number from 0 to 2^63, but is inf"},
            {general + "2 2 1\n1 2 1e19\n", "line 3: a value must be a number from 0 to 2^63, but is 1e19"},
            {general + "2 2 1\n1 2 9223372036854775808\n",
             "line 3: a value must be a number from 0 to 2^63, but is 9223372036854775808"},
            {general + "2 2 1\n1 2 5x\n", "line 3: expected a value, found '5x'"},
            {general + "2 2 1\n1 2 0x10\n", "line 3: expected a value, found '0x10'"},
            {symmetric + "2 2 1\n1 2 5\n",
             "line 3: entry (1, 2) is above the diagonal, but a symmetric matrix stores the part below "
             "only"},
            {"%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n",
             "line 6: expected row 2 of column 2, but the text ends here"},
            {"%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n5\n",
             "line 7: expected nothing more after the last entry, found '5'"},
            {"%%MatrixMarket matrix array integer general\n200000 200000\n1\n",
             "line 4: expected row 2 of column 1, but the text ends here"},
        });
    CHECK_THROWS_AS((void)read_matrix_market(general + "2 2 2\n1 2 9223372036854775807\n1 2 1\n"), Error);
}

TEST_CASE("a Matrix Market text with one changed byte is parsed or refused") {
    const std::string text = symmetric + "% made by hand\n5 5 5\n2 1 10\n3 1 1.5e1\n4 2 30\n5 3 40\n5 5 50\n";
    check_changed_bytes([](const std::string& changed) { return read_matrix_market(changed); }, text);
}
