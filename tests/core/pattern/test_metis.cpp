// SPDX-License-Identifier: BSD-3-Clause
#include <sstream>
#include <string>

#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/readers/metis.hpp"

#include "pattern/dense_matrix.hpp"
#include "pattern/refused_texts.hpp"

using namespace topoloom;

namespace {

/// 1 - 2 (weight 5), 2 - 3 (weight 7), and 4 alone.
Dense path_and_isolated_rank() {
    Dense matrix = empty_matrix(4);
    add(matrix, 0, 1, 5);
    add(matrix, 1, 0, 5);
    add(matrix, 1, 2, 7);
    add(matrix, 2, 1, 7);
    return matrix;
}

std::string write_graph(const CommGraph& graph) {
    std::ostringstream text;
    text << graph.rank_count() << ' ' << graph.edge_count() / 2 << " 1\n";
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) text << ' ' << edge.peer.value + 1 << ' ' << edge.bytes.value;
        text << '\n';
    }
    return text.str();
}

}  // namespace

TEST_CASE("an edge of weight w gives w bytes in each direction, and an empty line is an isolated rank") {
    CHECK(to_dense_matrix(read_metis("4 2 1\n2 5\n1 5 3 7\n2 7\n\n")) == path_and_isolated_rank());
}

TEST_CASE("comments, blanks, unsorted lists, CR LF and a missing last line end change nothing") {
    for (const char* text :
         {"% made by hand\n4 2 1\n2 5\n1 5 3 7\n2 7\n\n", "4 2 1\n2 5\n%\n%%\n1 5 3 7\n2 7\n\n%end\n",
          "4 2 1\n2 5\n3 7 1 5\n2 7\n\n", "4 2 1\r\n2 5\r\n1 5 3 7\r\n2 7\r\n\r\n",
          "  4\t2  1 \n2 5 \n 1  5 3\t7\n2 7\n  \n", "4 2 1\n2 5\n1 5 3 7\n2 7\n",
          "4 2 1\n2 5\n1 5 3 7\n2 7\n\n\n\n", "4 2 001\n2 5\n1 5 3 7\n2 7\n\n",
          "4 2 01\n2 5\n1 5 3 7\n2 7\n\n", "4 2 1 1\n2 5\n1 5 3 7\n2 7\n\n"}) {
        CAPTURE(std::string(text));
        CHECK(to_dense_matrix(read_metis(text)) == path_and_isolated_rank());
    }
}

TEST_CASE("edges have weight 1 unless the header declares weights") {
    for (const char* text :
         {"3 2\n2\n1 3\n2\n", "3 2 0\n2\n1 3\n2\n", "3 2 000\n2\n1 3\n2\n", "3 2 00\n2\n1 3\n2"}) {
        CAPTURE(std::string(text));
        const auto graph = read_metis(text);
        CHECK(graph.total_bytes() == Bytes{4});
        CHECK(graph.total_messages() == 4);
        CHECK(graph.load(Rank{0}) == 1);
    }
}

TEST_CASE("vertex weights are loads and vertex sizes are skipped") {
    struct WeightedText {
        const char* text;
        double load;
        std::int64_t bytes;
    };
    for (const WeightedText& row :
         {WeightedText{"2 1 10\n3 2\n4 1\n", 3, 1}, WeightedText{"2 1 010\n3 2\n4 1\n", 3, 1},
          WeightedText{"2 1 11\n3 2 9\n4 1 9\n", 3, 9}, WeightedText{"2 1 011 1\n3 2 9\n4 1 9\n", 3, 9},
          WeightedText{"2 1 100\n8 2\n8 1\n", 1, 1}, WeightedText{"2 1 101\n8 2 9\n8 1 9\n", 1, 9},
          WeightedText{"2 1 110\n8 3 2\n8 4 1\n", 3, 1}, WeightedText{"2 1 111\n8 3 2 9\n8 4 1 9\n", 3, 9}}) {
        CAPTURE(std::string(row.text));
        const auto graph = read_metis(row.text);
        CHECK(graph.load(Rank{0}) == row.load);
        CHECK(graph.load(Rank{1}) == (row.load == 1 ? 1 : 4));
        CHECK(graph.bytes(Rank{0})[0].value == row.bytes);
    }
}

TEST_CASE("a written graph is parsed back to the same graph") {
    const auto graph = random_geometric(500, Bytes{123'456'789'012}, 1, 6);
    CHECK(to_dense_matrix(read_metis(write_graph(graph))) == to_dense_matrix(graph));
}

TEST_CASE("invalid METIS graphs are refused with the line and the reason") {
    check_refused(
        read_metis,
        {
            {"", "line 1: expected the number of vertices, but the text ends here"},
            {"\n", "line 1: expected the number of vertices, but the line ends here"},
            {"% only a comment\n", "line 2: expected the number of vertices, but the text ends here"},
            {"graph\n", "line 1: expected the number of vertices, found 'graph'"},
            {"\x89PNG\r\n\x1a\n", "line 1: expected the number of vertices, found '\\x89PNG'"},
            {"0 0\n", "line 1: the graph has no vertices"},
            {"-3 2\n", "line 1: the number of vertices must not be negative, but is -3"},
            {"3\n", "line 1: expected the number of edges, but the line ends here"},
            {"3 99999999999999999999\n",
             "line 1: the number of edges 99999999999999999999 does not fit in 64 bits"},
            {"3 2 7\n2\n1 3\n2\n",
             "line 1: the header's fmt is '7'; it must be up to three digits 0 or 1 for vertex sizes, "
             "vertex weights "
             "and edge weights"},
            {"3 2 0001\n2\n1 3\n2\n",
             "line 1: the header's fmt is '0001'; it must be up to three digits 0 or 1 for vertex sizes, "
             "vertex "
             "weights and edge weights"},
            {"2 1 10 2\n1 1 2\n1 1 1\n",
             "line 1: the header announces 2 weights per vertex (ncon); a rank has one load, so keep "
             "one"},
            {"2 1 0 1 5\n2\n1\n", "line 1: expected the end of the line, found '5'"},
            {"2000000000 5\n1 2\n",
             "line 1: the header announces 2000000000 vertices and 5 edges, but only 4 bytes follow"},
            {"2 2000000000\n2\n1\n",
             "line 1: the header announces 2 vertices and 2000000000 edges, but only 4 bytes follow"},
            {"3 1\n2\n", "line 3: expected the line of vertex 2 of 3, but the text ends here"},
            {"3 2\n2\n1 3\n2\n1\n", "line 5: expected nothing more after vertex 3, found '1'"},
            {"2 1\n3\n1\n", "line 2: vertex 1 has neighbor 3, but vertices are 1 to 2"},
            {"2 1\n0\n1\n", "line 2: vertex 1 has neighbor 0, but vertices are 1 to 2"},
            {"2 1\n2\n1 99999999999\n", "line 3: vertex 2 has neighbor 99999999999, but vertices are 1 to 2"},
            {"2 1\n-2\n1\n", "line 2: a neighbor must not be negative, but is -2"},
            {"2 1\n2.5\n1\n", "line 2: expected a neighbor, found '2.5'"},
            {"2 1\nnan\n1\n", "line 2: expected a neighbor, found 'nan'"},
            {"2 1\n1\n1\n", "line 2: vertex 1 is its own neighbor, which METIS does not allow"},
            {"2 1 1\n2 0\n1 0\n", "line 2: the edge 1 - 2 has weight 0; use 1 or more"},
            {"2 1 1\n2 -4\n1 -4\n", "line 2: an edge weight must not be negative, but is -4"},
            {"2 1 1\n2\n1\n", "line 2: expected an edge weight, but the line ends here"},
            {"2 1 1\n2 nan\n1 nan\n", "line 2: expected an edge weight, found 'nan'"},
            {"2 1 10\n-1 2\n1 1\n", "line 2: a vertex weight must not be negative, but is -1"},
            {"2 2\n2 2\n1 1\n", "line 2: vertex 1 names neighbor 2 twice"},
            {"%\n2 1\n%\n2\n%\n\n",
             "line 4: vertex 1 has neighbor 2, but not in the other direction; METIS graphs list both"},
            {"3 1\n\n\n1\n",
             "line 4: vertex 3 has neighbor 1, but not in the other direction; METIS graphs list both"},
            {"3 2\n2\n1\n1 2\n",
             "line 4: vertex 3 has neighbor 1, but not in the other direction; METIS graphs list both"},
            {"3 2\n3\n1\n1\n",
             "line 3: vertex 2 has neighbor 1, but not in the other direction; METIS graphs list both"},
            {"2 1 1\n2 5\n1 6\n",
             "line 2: vertex 1 has an edge of weight 5 to vertex 2, which has weight 6 in the other "
             "direction"},
            {"3 1\n2\n1 3\n2\n", "the header announces 1 edges, but the lines have 2"},
        });
}

TEST_CASE("a truncated METIS graph is refused unless only the last line end is missing") {
    const std::string text = "4 3 1\n2 15\n1 15 3 17\n2 17 4 19\n3 19\n";
    for (std::size_t length = 0; length + 1 < text.size(); ++length) {
        CAPTURE(length);
        CHECK_THROWS_AS((void)read_metis(text.substr(0, length)), Error);
    }
    CHECK_NOTHROW((void)read_metis(text.substr(0, text.size() - 1)));
}

TEST_CASE("a METIS graph with one changed byte is parsed or refused") {
    const std::string text = write_graph(random_geometric(20, Bytes{1000}, 1, 4));
    check_changed_bytes(read_metis, text);
}
