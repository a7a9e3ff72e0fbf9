// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string>

#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/readers/dense_matrix.hpp"
#include "topoloom/pattern/readers/edge_text.hpp"
#include "topoloom/pattern/readers/matrix_market.hpp"

#include "pattern/dense_matrix.hpp"
#include "pattern/refused_texts.hpp"

using namespace topoloom;

namespace {

CommGraph read_edges(const std::string& text) { return read_edge_list(text); }
CommGraph read_arcs(const std::string& text) { return read_dimacs(text); }

const std::string arcs = "c roads\np sp 3 3\na 1 2 10\na 2 3 20\na 1 2 5\n";

}  // namespace

TEST_CASE("edge lists and DIMACS files are the matrix of their edges") {
    Dense expected = empty_matrix(3);
    add(expected, 0, 1, 10);
    add(expected, 0, 1, 5);
    add(expected, 1, 2, 20);
    CHECK(to_dense_matrix(read_edges("# roads\n0 1 10\n\n1\t2\t2e1\r\n0 1 5")) == expected);
    CHECK(to_dense_matrix(read_arcs(arcs)) == expected);
}

TEST_CASE("columns of an edge list have any order, and messages are counted") {
    const std::array columns{EdgeColumn::messages, EdgeColumn::target, EdgeColumn::bytes, EdgeColumn::source};
    const CommGraph graph = read_edge_list("7 1 100 0\n0 0 0 3\n", columns);
    CHECK(graph.rank_count() == 4);
    CHECK(graph.total_bytes().value == 100);
    CHECK(graph.total_messages() == 7);
    CHECK(read_edges("0 1 100 7\n").total_messages() == 7);
}

TEST_CASE("a scale makes bytes of fractions and counts those that it rounds") {
    ValueScale exact{.factor = 100};
    CHECK(read_edge_list("0 1 0.57\n1 0 2.5e-1\n", {}, &exact).total_bytes().value == 57 + 25);
    CHECK(exact.rounded == 0);
    ValueScale rounding{.factor = 10};
    CHECK(read_dense_matrix("0 0.57\n0.01 0\n", &rounding).total_bytes().value == 6);
    CHECK(rounding.rounded == 2);
    ValueScale market{.factor = 2};
    const std::string text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.5\n";
    CHECK(read_matrix_market(text, &market).total_bytes().value == 1);
    ValueScale large{.factor = 1e18};
    CHECK_THROWS_WITH_AS((void)read_dimacs("p sp 2 1\na 1 2 10\n", &large),
                         "line 2: the number of bytes times the scale is 2^63 bytes or more", Error);
}

TEST_CASE("invalid edge lists are refused with the line") {
    check_refused(read_edges,
                  {
                      {"", "line 1: expected an edge: source, target, bytes, but the text ends here"},
                      {"0 1\n",
                       "line 1: expected three or four numbers: source, target, bytes, messages, but the "
                       "line ends here"},
                      {"0 1 5\n0 1\n", "line 2: expected the number of bytes, but the line ends here"},
                      {"0 1 5\n0 1 5 2\n", "line 2: expected the end of the line, found '2'"},
                      {"0 1 5 0\n", "line 1: an edge has 5 bytes in 0 messages"},
                      {"0 1 -5\n", "line 1: the number of bytes must not be negative, but is -5"},
                      {"0 1 0.5\n", "line 1: the number of bytes must be an integer, but is 0.5"},
                      {"0 x 5\n", "line 1: expected the target, found 'x'"},
                      {"0 4000000000 5\n",
                       "line 1: the target is 4000000000; a file of this size can have at most 262159 ranks"},
                  });
    check_changed_bytes(read_edges, "0 1 10 1\n1 2 20 1\n2 0 30 1\n");
}

TEST_CASE("invalid DIMACS files are refused with the line") {
    check_refused(
        read_arcs,
        {
            {"c x\n", "line 2: expected the problem (p sp NODES ARCS), but the text ends here"},
            {"a 1 2 3\n", "line 1: expected the problem (p sp NODES ARCS), found 'a'"},
            {"p edge 3 1\n", "line 1: the problem is 'edge'; only sp (shortest paths) has arcs with values"},
            {"p sp 0 0\n", "line 1: the graph has no nodes"},
            {"p sp 2 1\na 0 1 5\n", "line 2: the source is 0, but the graph has nodes 1 to 2"},
            {"p sp 2 1\na 1 3 5\n", "line 2: the target is 3, but the graph has nodes 1 to 2"},
            {"p sp 2 2\na 1 2 5\n", "line 3: expected arc 2 of 2, but the text ends here"},
            {"p sp 2 1\np sp 2 1\n", "line 2: expected an arc (a), found 'p'"},
            {"p sp 999999999 0\n",
             "line 1: the graph has 999999999 nodes; a file of this size can have at most 262161"},
        });
    check_changed_bytes(read_arcs, arcs);
}
