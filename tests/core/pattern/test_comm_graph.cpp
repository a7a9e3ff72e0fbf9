// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/pattern/comm_graph.hpp"

#include "pattern/dense_matrix.hpp"

using namespace topoloom;

namespace {

struct EdgeArrays {
    std::vector<Rank> sources;
    std::vector<Rank> peers;
    std::vector<Bytes> bytes;
    std::vector<std::int64_t> messages;
};

EdgeArrays random_edges(std::size_t rank_count, std::size_t edge_count, std::uint64_t seed) {
    Rng rng(seed);
    EdgeArrays edges;
    for (std::size_t i = 0; i < edge_count; ++i) {
        edges.sources.push_back(Rank{std::size_t{rng.below(static_cast<std::uint32_t>(rank_count))}});
        edges.peers.push_back(Rank{std::size_t{rng.below(static_cast<std::uint32_t>(rank_count))}});
        edges.bytes.push_back(Bytes{rng.below(1000)});
        edges.messages.push_back(rng.below(5));
    }
    return edges;
}

Dense dense_of_edges(const EdgeArrays& edges, std::size_t rank_count) {
    Dense matrix = empty_matrix(rank_count);
    for (std::size_t i = 0; i < edges.sources.size(); ++i) {
        add(matrix, edges.sources[i].value, edges.peers[i].value, edges.bytes[i].value, edges.messages[i]);
    }
    return matrix;
}

CommGraph make_one_edge_graph(std::size_t rank_count, int u, int v, std::int64_t bytes,
                              std::int64_t messages = 1) {
    return CommGraph::from_edges(rank_count, std::vector{Rank{u}}, std::vector{Rank{v}},
                                 std::vector{Bytes{bytes}}, std::vector{messages});
}

}  // namespace

TEST_CASE("a graph from edges sums duplicates and stores the diagonal separately") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const std::size_t rank_count = 1 + seed;
        const EdgeArrays edges = random_edges(rank_count, 10 * seed, seed);
        const auto graph =
            CommGraph::from_edges(rank_count, edges.sources, edges.peers, edges.bytes, edges.messages);
        const Dense expected = dense_of_edges(edges, rank_count);
        CHECK(to_dense_matrix(graph) == expected);
        std::int64_t bytes = 0;
        std::int64_t messages = 0;
        for (std::size_t u = 0; u < rank_count; ++u) {
            for (std::size_t v = 0; v < rank_count; ++v) {
                if (u == v) continue;
                bytes += expected[u][v].bytes;
                messages += expected[u][v].messages;
            }
        }
        CHECK(graph.total_bytes().value == bytes);
        CHECK(graph.total_messages() == messages);
    }
}

TEST_CASE("rows are sorted by peer, with each peer once and never the rank itself") {
    const EdgeArrays edges = random_edges(30, 2000, 5);
    const auto graph = CommGraph::from_edges(30, edges.sources, edges.peers, edges.bytes, edges.messages);
    std::size_t count = 0;
    for (const Rank u : ids<Rank>(30)) {
        const auto peers = graph.peers(u);
        count += peers.size();
        CHECK(peers.size() == graph.degree(u));
        for (std::size_t i = 0; i < peers.size(); ++i) {
            CHECK(peers[i] != u);
            if (i > 0) CHECK(peers[i - 1] < peers[i]);
        }
    }
    CHECK(count == graph.edge_count());
    CHECK(count == graph.all_peers().size());
}

TEST_CASE("the symmetric graph equals the matrix plus its transpose") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const std::size_t rank_count = 1 + seed;
        const EdgeArrays edges = random_edges(rank_count, 10 * seed, seed);
        const auto graph =
            CommGraph::from_edges(rank_count, edges.sources, edges.peers, edges.bytes, edges.messages);
        Dense expected = empty_matrix(rank_count);
        const Dense matrix = to_dense_matrix(graph);
        for (std::size_t u = 0; u < rank_count; ++u) {
            for (std::size_t v = 0; v < rank_count; ++v) {
                if (u == v) continue;
                add(expected, u, v, matrix[u][v].bytes + matrix[v][u].bytes,
                    matrix[u][v].messages + matrix[v][u].messages);
            }
        }
        const auto symmetric = graph.symmetric();
        Dense found = to_dense_matrix(symmetric);
        for (std::size_t u = 0; u < rank_count; ++u) found[u][u] = {};
        CHECK(found == expected);
        CHECK(graph.symmetric_edge_count() == symmetric.edge_count());
        CHECK(symmetric.total_bytes().value == 2 * graph.total_bytes().value);
        CHECK(symmetric.total_messages() == 2 * graph.total_messages());
        // If every edge already has a reverse edge of equal amounts, all amounts double.
        Dense doubled = to_dense_matrix(symmetric.symmetric());
        for (std::size_t u = 0; u < rank_count; ++u) {
            doubled[u][u] = {};
            for (auto& entry : found[u]) entry = {2 * entry.bytes, 2 * entry.messages};
        }
        CHECK(doubled == found);
    }
}

TEST_CASE("the symmetric graph keeps loads and self-messages of ranks") {
    const auto graph =
        CommGraph::from_edges(2, std::vector{Rank{0}, Rank{1}}, std::vector{Rank{1}, Rank{1}},
                              std::vector{Bytes{5}, Bytes{7}}, std::vector<std::int64_t>{1, 2}, {1.5, 2.5});
    const auto symmetric = graph.symmetric();
    CHECK(symmetric.load(Rank{0}) == 1.5);
    CHECK(symmetric.load(Rank{1}) == 2.5);
    CHECK(symmetric.self_bytes(Rank{1}) == Bytes{7});
    CHECK(symmetric.self_messages(Rank{1}) == 2);
    CHECK(symmetric.self_messages(Rank{0}) == 0);
}

TEST_CASE("compressed rows give the graph of the same edges, in any order and with duplicates") {
    const std::vector<std::uint64_t> first{0, 3, 3, 4};
    const std::vector<Rank> peers{Rank{2}, Rank{1}, Rank{2}, Rank{0}};
    const std::vector<Bytes> bytes{Bytes{1}, Bytes{2}, Bytes{3}, Bytes{4}};
    const auto graph =
        CommGraph::from_csr(first, peers, bytes, {}, {}, std::vector{Bytes{9}, Bytes{0}, Bytes{0}},
                            std::vector<std::int64_t>{2, 0, 1});
    Dense expected = empty_matrix(3);
    add(expected, 0, 2, 4, 2);
    add(expected, 0, 1, 2);
    add(expected, 2, 0, 4);
    add(expected, 0, 0, 9, 2);
    add(expected, 2, 2, 0, 1);
    CHECK(to_dense_matrix(graph) == expected);
}

TEST_CASE("moving arrays into a graph gives the same graph as copying them") {
    const EdgeArrays edges = random_edges(20, 300, 7);
    const auto graph = CommGraph::from_edges(20, edges.sources, edges.peers, edges.bytes, edges.messages);
    const auto copied = [](const auto& span) {
        using Value = typename std::decay_t<decltype(span)>::value_type;
        return BigVector<Value>(span.begin(), span.end());
    };
    CommRows rows;
    rows.first = copied(graph.first());
    rows.peers = copied(graph.all_peers());
    rows.bytes = copied(graph.all_bytes());
    rows.messages = copied(graph.all_messages());
    rows.self_bytes = copied(graph.all_self_bytes());
    rows.self_messages = copied(graph.all_self_messages());
    CHECK(to_dense_matrix(CommGraph::from_csr(rows)) == to_dense_matrix(graph));
    // With a duplicate edge the arrays cannot be used unchanged.
    rows.peers.push_back(rows.peers.back());
    rows.bytes.push_back(Bytes{7});
    rows.messages.push_back(3);
    ++rows.first.back();
    const auto longer = CommGraph::from_csr(rows);
    CHECK(longer.edge_count() == graph.edge_count());
    CHECK(longer.total_bytes() == graph.total_bytes() + Bytes{7});
    CHECK(longer.total_messages() == graph.total_messages() + 3);
}

TEST_CASE("a graph built from the arrays of a graph equals it") {
    const EdgeArrays edges = random_edges(20, 300, 6);
    const auto graph = CommGraph::from_edges(20, edges.sources, edges.peers, edges.bytes, edges.messages);
    const auto again =
        CommGraph::from_csr(graph.first(), graph.all_peers(), graph.all_bytes(), graph.all_messages(), {},
                            graph.all_self_bytes(), graph.all_self_messages());
    CHECK(to_dense_matrix(again) == to_dense_matrix(graph));
}

TEST_CASE("inconsistent compressed rows are refused") {
    const std::vector<Rank> peers{Rank{1}};
    const std::vector<Bytes> bytes{Bytes{1}};
    using Starts = std::vector<std::uint64_t>;
    for (const Starts& first : {Starts{}, Starts{0}, Starts{1, 1, 1}, Starts{0, 2, 1}, Starts{0, 0, 2}}) {
        CHECK_THROWS_AS((void)CommGraph::from_csr(first, peers, bytes), Error);
    }
    const Starts first{0, 1, 1};
    CHECK_NOTHROW((void)CommGraph::from_csr(first, peers, bytes));
    CHECK_THROWS_AS((void)CommGraph::from_csr(first, peers, {}), Error);
    CHECK_THROWS_AS((void)CommGraph::from_csr(first, peers, bytes, std::vector<std::int64_t>{1, 2}), Error);
    CHECK_THROWS_AS((void)CommGraph::from_csr(first, peers, bytes, {}, {1.0}), Error);
    CHECK_THROWS_AS((void)CommGraph::from_csr(first, peers, bytes, {}, {}, std::vector{Bytes{1}}), Error);
    CHECK_THROWS_AS((void)CommGraph::from_csr(Starts{0, 1}, peers, bytes), Error);
}

TEST_CASE("rows built on one thread and on several give the same graph" * doctest::test_suite("threads")) {
    const auto emit = [](Rank u, const auto& add) {
        for (std::uint32_t step = 1; step < 20; ++step)
            add(Edge{Rank{(u.value * step) % 10'000}, Bytes{step}});
    };
    const auto one = CommGraph::from_rows(10'000, emit, {}, 1);
    const auto four = CommGraph::from_rows(10'000, emit, {}, 4);
    CHECK(std::ranges::equal(one.first(), four.first()));
    CHECK(std::ranges::equal(one.all_peers(), four.all_peers()));
    CHECK(std::ranges::equal(one.all_bytes(), four.all_bytes()));
    CHECK(std::ranges::equal(one.all_messages(), four.all_messages()));
    CHECK(std::ranges::equal(one.all_self_bytes(), four.all_self_bytes()));
}

TEST_CASE("errors of invalid edges name ranks and amounts") {
    CHECK_THROWS_WITH_AS(make_one_edge_graph(2, 0, 7, 1),
                         "an edge joins ranks 0 and 7, but there are only 2 ranks", Error);
    CHECK_THROWS_AS(make_one_edge_graph(2, 7, 0, 1), Error);
    CHECK_THROWS_WITH_AS(make_one_edge_graph(2, 0, 1, -5),
                         "rank 0 sends -5 bytes to rank 1; bytes must not be negative", Error);
    CHECK_THROWS_AS(make_one_edge_graph(2, 0, 1, 5, -1), Error);
    CHECK_THROWS_AS((void)CommGraph::from_edges(std::size_t{1} << 40, {}, {}, {}), Error);
    CHECK_THROWS_AS((void)CommGraph::from_edges(2, std::vector{Rank{0}}, {}, {}), Error);
}

TEST_CASE("sums of bytes or messages beyond 64 bits are refused") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const std::vector<Rank> sources{Rank{0}, Rank{0}};
    for (const int second : {1, 2}) {  // a second edge to the same peer, and one to another peer
        const std::vector<Rank> peers{Rank{1}, Rank{second}};
        CHECK_THROWS_AS((void)CommGraph::from_edges(3, sources, peers, std::vector{Bytes{most}, Bytes{1}}),
                        Error);
        CHECK_THROWS_AS((void)CommGraph::from_edges(3, sources, peers, std::vector{Bytes{1}, Bytes{1}},
                                                    std::vector{most, std::int64_t{1}}),
                        Error);
    }
    CHECK(make_one_edge_graph(2, 0, 1, most).total_bytes().value == most);
}

TEST_CASE("loads are 1 by default, and must be finite, not negative, and one per rank") {
    const auto with_load = [](std::vector<double> load) {
        return CommGraph::from_edges(2, {}, {}, {}, {}, std::move(load));
    };
    CHECK(with_load({}).load(Rank{1}) == 1);
    CHECK(with_load({0, 2.5}).load(Rank{1}) == 2.5);
    CHECK_THROWS_AS((void)with_load({1}), Error);
    CHECK_THROWS_AS((void)with_load({1, -1}), Error);
    CHECK_THROWS_AS((void)with_load({1, std::numeric_limits<double>::quiet_NaN()}), Error);
    CHECK_THROWS_AS((void)with_load({1, std::numeric_limits<double>::infinity()}), Error);
}
