// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/comm_graph.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr std::size_t max_ranks = std::size_t{1} << 31;

/// Returns a + b for nonnegative a and b. Throws Error if the sum exceeds 64 bits.
std::int64_t add_checked(std::int64_t a, std::int64_t b, std::string_view what) {
    if (b > std::numeric_limits<std::int64_t>::max() - a) {
        fail("the ", what, " of this communication graph add up to more than 2^63; scale them down");
    }
    return a + b;
}

/// Throws Error unless the arrays have the shape of compressed sparse rows.
void check_csr(std::span<const std::uint64_t> first, std::span<const Rank> peers,
               std::span<const Bytes> bytes, std::span<const std::int64_t> messages) {
    if (first.empty() || first.front() != 0 || first.back() != peers.size() ||
        !std::is_sorted(first.begin(), first.end())) {
        fail("the row starts must rise from 0 to the number of edges, which is ", peers.size());
    }
    if (bytes.size() != peers.size() || (!messages.empty() && messages.size() != peers.size())) {
        fail("peers, bytes and messages must be equally long; they have ", peers.size(), ", ", bytes.size(),
             " and ", messages.size(), " entries");
    }
}

/// Throws Error unless each list is empty or has one entry per rank.
void check_self_messages(std::size_t rank_count, std::span<const Bytes> bytes,
                         std::span<const std::int64_t> messages) {
    if ((!bytes.empty() && bytes.size() != rank_count) ||
        (!messages.empty() && messages.size() != rank_count)) {
        fail("self-messages need one entry per rank, that is ", rank_count, "; there are ", bytes.size(),
             " bytes and ", messages.size(), " messages");
    }
}

bool are_nonnegative(std::span<const Bytes> bytes, std::span<const std::int64_t> messages) {
    return std::all_of(bytes.begin(), bytes.end(), [](Bytes b) { return b.value >= 0; }) &&
           std::all_of(messages.begin(), messages.end(), [](std::int64_t m) { return m >= 0; });
}

/// Whether a graph can adopt these rows unchanged: all rows ascend and contain no duplicates, self-messages
/// or invalid entries.
bool is_canonical(std::span<const std::uint64_t> first, std::span<const Rank> peers,
                  std::span<const Bytes> bytes, std::span<const std::int64_t> messages) {
    const std::size_t rank_count = first.size() - 1;
    for (std::size_t u = 0; u < rank_count; ++u) {
        for (std::uint64_t i = first[u]; i < first[u + 1]; ++i) {
            if (peers[i].value >= rank_count || peers[i].value == u) return false;
            if (i > first[u] && peers[i] <= peers[i - 1]) return false;
        }
    }
    return are_nonnegative(bytes, messages);
}

}  // namespace

void CommGraph::check_rank_count(std::size_t rank_count) {
    if (rank_count >= max_ranks) fail(rank_count, " ranks are too many: at most 2^31 - 1 are supported");
}

CommGraph::CommGraph(std::size_t rank_count) {
    check_rank_count(rank_count);
    first_.assign(rank_count + 1, 0);
    // Several threads fill these arrays, row by row. compute_totals() drops them if all entries are zero.
    self_bytes_.assign(rank_count, Bytes{});
    self_messages_.assign(rank_count, 0);
}

void CommGraph::check_edge(std::size_t rank_count, Rank u, const Edge& edge) {
    if (u.value >= rank_count || edge.peer.value >= rank_count) {
        fail("an edge joins ranks ", u.value, " and ", edge.peer.value, ", but there are only ", rank_count,
             " ranks");
    }
    if (edge.bytes.value < 0) {
        fail("rank ", u.value, " sends ", edge.bytes.value, " bytes to rank ", edge.peer.value,
             "; bytes must not be negative");
    }
    if (edge.messages < 0) {
        fail("rank ", u.value, " sends ", edge.messages, " messages to rank ", edge.peer.value,
             "; messages must not be negative");
    }
}

void CommGraph::merge_duplicates(std::vector<Edge>& row) {
    const auto by_peer = [](const Edge& a, const Edge& b) { return a.peer < b.peer; };
    if (!std::is_sorted(row.begin(), row.end(), by_peer)) std::sort(row.begin(), row.end(), by_peer);
    std::size_t kept = 0;
    for (const Edge& edge : row) {
        if (kept > 0 && row[kept - 1].peer == edge.peer) {
            Edge& same = row[kept - 1];
            same.bytes.value = add_checked(same.bytes.value, edge.bytes.value, "bytes");
            same.messages = add_checked(same.messages, edge.messages, "messages");
        } else {
            row[kept++] = edge;
        }
    }
    row.resize(kept);
}

void CommGraph::allocate_edges() {
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    const std::uint64_t count = first_.back();
    peer_.resize(count);
    bytes_.resize(count);
    messages_.resize(count);
}

void CommGraph::store_row(Rank u, std::span<const Edge> edges) {
    std::uint64_t at = first_[u.value];
    for (const Edge& edge : edges) {
        if (edge.peer == u) {
            self_bytes_[u.value] = edge.bytes;
            self_messages_[u.value] = edge.messages;
            continue;
        }
        peer_[at] = edge.peer;
        bytes_[at] = edge.bytes;
        messages_[at] = edge.messages;
        ++at;
    }
}

void CommGraph::compute_totals() {
    for (const Bytes bytes : bytes_)
        total_bytes_.value = add_checked(total_bytes_.value, bytes.value, "bytes");
    for (const std::int64_t m : messages_) total_messages_ = add_checked(total_messages_, m, "messages");
    const auto nothing = [](const auto& amounts) {
        return std::all_of(amounts.begin(), amounts.end(),
                           [](const auto& a) { return a == std::decay_t<decltype(a)>{}; });
    };
    if (nothing(self_bytes_) && nothing(self_messages_)) {
        self_bytes_ = {};
        self_messages_ = {};
    }
}

void CommGraph::set_load(std::vector<double> load) {
    if (!load.empty() && load.size() != rank_count()) {
        fail("there are ", load.size(), " loads for ", rank_count(), " ranks; give one per rank");
    }
    for (std::size_t u = 0; u < load.size(); ++u) {
        if (!std::isfinite(load[u]) || load[u] < 0)
            fail("the load of rank ", u, " is ", load[u], "; it must be >= 0");
    }
    load_ = std::move(load);
}

CommGraph CommGraph::from_edges(std::size_t rank_count, std::span<const Rank> sources,
                                std::span<const Rank> peers, std::span<const Bytes> bytes,
                                std::span<const std::int64_t> messages, std::vector<double> load) {
    const std::size_t count = sources.size();
    if (peers.size() != count || bytes.size() != count || (!messages.empty() && messages.size() != count)) {
        fail("sources, peers, bytes and messages must be equally long; they have ", count, ", ", peers.size(),
             ", ", bytes.size(), " and ", messages.size(), " entries");
    }
    check_rank_count(rank_count);
    CommRows rows;
    rows.first.assign(rank_count + 1, 0);
    for (const Rank u : sources) {
        check_edge(rank_count, u, Edge{u, Bytes{}, 0});
        ++rows.first[u.value + 1];
    }
    std::partial_sum(rows.first.begin(), rows.first.end(), rows.first.begin());
    if (std::is_sorted(sources.begin(), sources.end())) {
        return from_csr(rows.first, peers, bytes, messages, std::move(load));
    }
    // A counting sort of the edges by source.
    rows.peers.resize(count);
    rows.bytes.resize(count);
    rows.messages.resize(messages.size());
    BigVector<std::uint64_t> next(rows.first.begin(), rows.first.end() - 1);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t place = next[sources[i].value]++;
        rows.peers[place] = peers[i];
        rows.bytes[place] = bytes[i];
        if (!messages.empty()) rows.messages[place] = messages[i];
    }
    rows.load = std::move(load);
    return from_csr(std::move(rows));
}

CommGraph CommGraph::from_csr(std::span<const std::uint64_t> first, std::span<const Rank> peers,
                              std::span<const Bytes> bytes, std::span<const std::int64_t> messages,
                              std::vector<double> load, std::span<const Bytes> self_bytes,
                              std::span<const std::int64_t> self_messages) {
    check_csr(first, peers, bytes, messages);
    const std::size_t rank_count = first.size() - 1;
    check_self_messages(rank_count, self_bytes, self_messages);
    if (is_canonical(first, peers, bytes, messages) && are_nonnegative(self_bytes, self_messages)) {
        CommRows rows;
        rows.first.assign(first.begin(), first.end());
        rows.peers.assign(peers.begin(), peers.end());
        rows.bytes.assign(bytes.begin(), bytes.end());
        rows.messages.assign(messages.begin(), messages.end());
        rows.self_bytes.assign(self_bytes.begin(), self_bytes.end());
        rows.self_messages.assign(self_messages.begin(), self_messages.end());
        rows.load = std::move(load);
        return adopt_rows(std::move(rows));
    }
    return from_rows(
        rank_count,
        [&](Rank u, const auto& add) {
            for (std::uint64_t i = first[u.value]; i < first[u.value + 1]; ++i) {
                add(Edge{peers[i], bytes[i], messages.empty() ? 1 : messages[i]});
            }
            if (self_bytes.empty() && self_messages.empty()) return;
            const Edge self{u, self_bytes.empty() ? Bytes{} : self_bytes[u.value],
                            self_messages.empty() ? 0 : self_messages[u.value]};
            if (self.bytes.value != 0 || self.messages != 0) add(self);
        },
        std::move(load));
}

CommGraph CommGraph::from_csr(CommRows rows) {
    check_csr(rows.first, rows.peers, rows.bytes, rows.messages);
    check_self_messages(rows.first.size() - 1, rows.self_bytes, rows.self_messages);
    if (is_canonical(rows.first, rows.peers, rows.bytes, rows.messages) &&
        are_nonnegative(rows.self_bytes, rows.self_messages)) {
        return adopt_rows(std::move(rows));
    }
    return from_csr(rows.first, rows.peers, rows.bytes, rows.messages, std::move(rows.load), rows.self_bytes,
                    rows.self_messages);
}

CommGraph CommGraph::adopt_rows(CommRows rows) {
    check_rank_count(rows.first.size() - 1);
    CommGraph graph;
    graph.first_ = std::move(rows.first);
    graph.peer_ = std::move(rows.peers);
    graph.bytes_ = std::move(rows.bytes);
    graph.messages_ = std::move(rows.messages);
    if (graph.messages_.empty()) graph.messages_.assign(graph.peer_.size(), 1);
    graph.set_load(std::move(rows.load));
    graph.self_bytes_ = std::move(rows.self_bytes);
    graph.self_messages_ = std::move(rows.self_messages);
    graph.self_bytes_.resize(graph.rank_count());
    graph.self_messages_.resize(graph.rank_count(), 0);
    graph.compute_totals();
    return graph;
}

CommGraph CommGraph::with_proxies(std::vector<Rank> proxied) && {
    std::ranges::sort(proxied);
    if (!proxied.empty() && proxied.back().value >= rank_count())
        fail("rank ", proxied.back().value, " cannot be proxied: there are only ", rank_count(), " ranks");
    if (const auto twice = std::ranges::adjacent_find(proxied); twice != proxied.end())
        fail("rank ", twice->value, " is named twice among the proxied ranks");
    proxied_ = std::move(proxied);
    return std::move(*this);
}

std::optional<CommGraph> CommGraph::symmetric_same_structure() const {
    CommRows rows;
    rows.bytes.reserve(edge_count());
    rows.messages.reserve(edge_count());
    // If the structure is symmetric, the row of v consists of the sources of the edges to v, in ascending
    // order.
    BigVector<std::uint64_t> back(first_.begin(), first_.end() - 1);
    for (const Rank u : ids<Rank>(rank_count())) {
        for (std::uint64_t i = first_[u.value]; i < first_[u.value + 1]; ++i) {
            const Rank v = peer_[i];
            const std::uint64_t k = back[v.value]++;
            if (k == first_[v.value + 1] || peer_[k] != u) return {};
            rows.bytes.push_back(Bytes{add_checked(bytes_[i].value, bytes_[k].value, "bytes")});
            rows.messages.push_back(add_checked(messages_[i], messages_[k], "messages"));
        }
    }
    rows.first = first_;
    rows.peers = peer_;
    rows.load = load_;
    rows.self_bytes = self_bytes_;
    rows.self_messages = self_messages_;
    return adopt_rows(std::move(rows));
}

std::size_t CommGraph::symmetric_edge_count() const {
    std::size_t count = 2 * edge_count();
    for (const Rank u : ids<Rank>(rank_count())) {
        for (const Rank v : peers(u)) count -= std::ranges::binary_search(peers(v), u) ? 1 : 0;
    }
    return count;
}

CommGraph CommGraph::symmetric() const {
    if (std::optional<CommGraph> both_ways = symmetric_same_structure()) return *std::move(both_ways);
    // The transpose. Its rows ascend because sources are visited in order.
    BigVector<std::uint64_t> start(rank_count() + 1, 0);
    for (const Rank v : peer_) ++start[v.value + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    BigVector<Edge> received(edge_count());
    {
        BigVector<std::uint64_t> next(start.begin(), start.end() - 1);
        for (const Rank u : ids<Rank>(rank_count())) {
            for (const Edge edge : sends(u))
                received[next[edge.peer.value]++] = Edge{u, edge.bytes, edge.messages};
        }
    }
    return from_rows(
        rank_count(),
        [&](Rank u, const auto& add) {
            // Merge both ascending lists, so that long rows need no sorting.
            std::uint64_t k = start[u.value];
            const auto add_received = [&](std::uint32_t end) {
                for (; k < start[u.value + 1] && received[k].peer.value < end; ++k) add(received[k]);
            };
            bool self_due = self_bytes(u).value != 0 || self_messages(u) != 0;
            const auto add_self = [&] {
                add_received(u.value);
                if (std::exchange(self_due, false)) add(Edge{u, self_bytes(u), self_messages(u)});
            };
            for (const Edge edge : sends(u)) {
                if (self_due && u < edge.peer) add_self();
                add_received(edge.peer.value);
                add(edge);
            }
            add_self();
            add_received(std::numeric_limits<std::uint32_t>::max());
        },
        load_);
}

}  // namespace topoloom
