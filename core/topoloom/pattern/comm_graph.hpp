// SPDX-License-Identifier: BSD-3-Clause
// Communication graph: bytes and messages between ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom {

/// Traffic from a rank to a peer, per iteration.
struct Edge {
    Rank peer;
    Bytes bytes;
    std::int64_t messages = 1;
};

/// Compressed sparse rows: the edges of rank u are [first[u], first[u+1]).
struct CommRows {
    BigVector<std::uint64_t> first = BigVector<std::uint64_t>(1, 0);
    BigVector<Rank> peers;
    BigVector<Bytes> bytes;
    BigVector<std::int64_t> messages;  ///< empty: 1 each
    std::vector<double> load;          ///< empty: 1 each
    BigVector<Bytes> self_bytes;       ///< if empty, 0 each; the same for self_messages
    BigVector<std::int64_t> self_messages;
};

/// A directed, weighted communication graph in compressed sparse rows: the edges of rank u are [first[u],
/// first[u+1]), in ascending order of peers, with one edge per peer. Self-messages are stored separately,
/// because their cost does not depend on the placement. Immutable; 20 bytes per edge.
class CommGraph {
   public:
    CommGraph() : first_(1, 0) {}

    /// Makes a graph of edges from sources[i] to peers[i]. Sums duplicates. `messages` and `load` may be
    /// empty (1 each). Throws Error for ranks out of range, negative or overflowing amounts, and loads that
    /// are negative or not finite.
    static CommGraph from_edges(std::size_t rank_count, std::span<const Rank> sources,
                                std::span<const Rank> peers, std::span<const Bytes> bytes,
                                std::span<const std::int64_t> messages = {}, std::vector<double> load = {});

    /// Makes a graph from compressed sparse rows: the edges of rank u are [first[u], first[u+1]), in any
    /// order. Sums duplicates. `messages` may be empty (1 each). The last three arguments have one entry per
    /// rank, or may be empty. Throws the same errors as from_edges(), and Error for inconsistent lengths or
    /// `first`.
    static CommGraph from_csr(std::span<const std::uint64_t> first, std::span<const Rank> peers,
                              std::span<const Bytes> bytes, std::span<const std::int64_t> messages = {},
                              std::vector<double> load = {}, std::span<const Bytes> self_bytes = {},
                              std::span<const std::int64_t> self_messages = {});

    /// Makes a graph from compressed sparse rows. Adopts the arrays if all rows ascend without duplicates.
    static CommGraph from_csr(CommRows rows);

    /// Calls emit(u, add) twice per rank u. emit must call add(Edge) for each edge of u, in any order. Rows
    /// are made in parallel and stored immediately, so no memory is needed besides the graph.
    template <class Emit>
    static CommGraph from_rows(std::size_t rank_count, const Emit& emit, std::vector<double> load = {},
                               int threads = 0);

    [[nodiscard]] std::size_t rank_count() const { return first_.size() - 1; }
    [[nodiscard]] std::size_t edge_count() const { return peer_.size(); }
    [[nodiscard]] std::size_t degree(Rank u) const { return first_[u.value + 1] - first_[u.value]; }

    [[nodiscard]] std::span<const Rank> peers(Rank u) const { return row(peer_, u); }
    [[nodiscard]] std::span<const Bytes> bytes(Rank u) const { return row(bytes_, u); }
    [[nodiscard]] std::span<const std::int64_t> messages(Rank u) const { return row(messages_, u); }

    /// Edges of u as `for (const Edge edge : graph.sends(u))`.
    class Row;
    [[nodiscard]] Row sends(Rank u) const;

    /// Compute load of a rank, by default 1.
    [[nodiscard]] double load(Rank u) const { return load_.empty() ? 1.0 : load_[u.value]; }
    [[nodiscard]] Bytes self_bytes(Rank u) const {
        return self_bytes_.empty() ? Bytes{} : self_bytes_[u.value];
    }
    [[nodiscard]] std::int64_t self_messages(Rank u) const {
        return self_messages_.empty() ? 0 : self_messages_[u.value];
    }

    /// Ranks that communicate through proxies, ascending; by default none. A slot receives the data of a
    /// proxied rank once for all ranks on the slot, and returns one combined message. See apply_proxies().
    [[nodiscard]] std::span<const Rank> proxied() const { return proxied_; }
    /// Sets the proxied ranks, in any order. Throws Error for duplicates and ranks out of range.
    [[nodiscard]] CommGraph with_proxies(std::vector<Rank> proxied) &&;

    /// Totals over all edges, without self-messages.
    [[nodiscard]] Bytes total_bytes() const { return total_bytes_; }
    [[nodiscard]] std::int64_t total_messages() const { return total_messages_; }

    /// Returns the undirected graph, in which each edge has the bytes and messages of both directions. For
    /// objectives based on distances. Keeps self-messages and loads, drops proxies. O(edges).
    [[nodiscard]] CommGraph symmetric() const;
    /// Returns the edge count of symmetric() without building the graph. O(edges * log degree).
    [[nodiscard]] std::size_t symmetric_edge_count() const;

    /// The underlying arrays, for readers and writers.
    [[nodiscard]] std::span<const std::uint64_t> first() const { return first_; }
    [[nodiscard]] std::span<const Rank> all_peers() const { return peer_; }
    [[nodiscard]] std::span<const Bytes> all_bytes() const { return bytes_; }
    [[nodiscard]] std::span<const std::int64_t> all_messages() const { return messages_; }
    /// One entry per rank, or no entries if all are 1 (loads) or 0 (self-messages).
    [[nodiscard]] std::span<const double> all_loads() const { return load_; }
    [[nodiscard]] std::span<const Bytes> all_self_bytes() const { return self_bytes_; }
    [[nodiscard]] std::span<const std::int64_t> all_self_messages() const { return self_messages_; }

   private:
    template <class T>
    [[nodiscard]] std::span<const T> row(const BigVector<T>& all, Rank u) const {
        return {all.data() + first_[u.value], degree(u)};
    }
    explicit CommGraph(std::size_t rank_count);
    /// Throws Error if there are too many ranks for 31-bit ids.
    static void check_rank_count(std::size_t rank_count);
    /// Makes a graph from rows that are sorted and without duplicates.
    static CommGraph adopt_rows(CommRows rows);
    /// Returns symmetric() with the same sparsity structure if every edge has a reverse edge, as in most
    /// patterns; otherwise nullopt.
    [[nodiscard]] std::optional<CommGraph> symmetric_same_structure() const;
    void allocate_edges();
    void store_row(Rank u, std::span<const Edge> edges);
    void compute_totals();
    void set_load(std::vector<double> load);
    /// Throws Error unless this is a valid edge of u in a graph of rank_count ranks.
    static void check_edge(std::size_t rank_count, Rank u, const Edge& edge);
    /// Sorts a row by peer and sums duplicates.
    static void merge_duplicates(std::vector<Edge>& row);

    BigVector<std::uint64_t> first_;
    BigVector<Rank> peer_;
    BigVector<Bytes> bytes_;
    BigVector<std::int64_t> messages_;
    std::vector<double> load_;
    BigVector<Bytes> self_bytes_;
    BigVector<std::int64_t> self_messages_;
    std::vector<Rank> proxied_;
    Bytes total_bytes_;
    std::int64_t total_messages_ = 0;
};

class CommGraph::Row {
   public:
    class iterator {
       public:
        iterator(const Row& row, std::size_t at) : row_(&row), at_(at) {}
        Edge operator*() const { return {row_->peers_[at_], row_->bytes_[at_], row_->messages_[at_]}; }
        iterator& operator++() {
            ++at_;
            return *this;
        }
        friend bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

       private:
        const Row* row_;
        std::size_t at_;
    };
    Row(const CommGraph& graph, Rank u)
        : peers_(graph.peers(u)), bytes_(graph.bytes(u)), messages_(graph.messages(u)) {}
    [[nodiscard]] iterator begin() const { return {*this, 0}; }
    [[nodiscard]] iterator end() const { return {*this, peers_.size()}; }
    [[nodiscard]] std::size_t size() const { return peers_.size(); }

   private:
    std::span<const Rank> peers_;
    std::span<const Bytes> bytes_;
    std::span<const std::int64_t> messages_;
};

inline CommGraph::Row CommGraph::sends(Rank u) const { return {*this, u}; }

template <class Emit>
CommGraph CommGraph::from_rows(std::size_t rank_count, const Emit& emit, std::vector<double> load,
                               int threads) {
    CommGraph graph(rank_count);
    const Chunks chunks(rank_count, 4096);
    const auto collect = [&](Rank u, std::vector<Edge>& row) {
        row.clear();
        emit(u, [&](Edge edge) {
            check_edge(rank_count, u, edge);
            row.push_back(edge);
        });
        merge_duplicates(row);
    };
    const auto each_row = [&](const auto& use) {
        parallel_for(chunks.size(), threads, [&](std::size_t c, int) {
            std::vector<Edge> row;
            for (std::size_t u = chunks[c].begin; u < chunks[c].end; ++u) {
                collect(Rank{u}, row);
                use(Rank{u}, row);
            }
        });
    };
    each_row([&](Rank u, std::span<const Edge> row) {
        const bool self = std::any_of(row.begin(), row.end(), [&](const Edge& e) { return e.peer == u; });
        graph.first_[u.value + 1] = row.size() - (self ? 1 : 0);
    });
    graph.allocate_edges();
    each_row([&](Rank u, std::span<const Edge> row) { graph.store_row(u, row); });
    graph.set_load(std::move(load));
    graph.compute_totals();
    return graph;
}

}  // namespace topoloom
