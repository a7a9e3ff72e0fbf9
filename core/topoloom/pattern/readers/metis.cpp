// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/readers/metis.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "topoloom/pattern/readers/text_scanner.hpp"

namespace topoloom {

namespace {

struct MetisHeader {
    std::size_t vertices = 0;
    std::size_t edges = 0;
    bool vertex_sizes = false;
    bool vertex_weights = false;
    bool edge_weights = false;
};

void read_format(TextScanner& scan, MetisHeader& header) {
    const std::string_view fmt = scan.read_word("fmt");
    if (fmt.size() > 3 || fmt.find_first_not_of("01") != std::string_view::npos) {
        scan.fail_at_previous(
            "the header's fmt is '", TextScanner::quoted(fmt),
            "'; it must be up to three digits 0 or 1 for vertex sizes, vertex weights and edge weights");
    }
    const auto digit = [&](std::size_t place) {
        return fmt.size() > place && fmt[fmt.size() - 1 - place] == '1';
    };
    header.edge_weights = digit(0);
    header.vertex_weights = digit(1);
    header.vertex_sizes = digit(2);
    if (scan.at_line_end()) return;
    const std::int64_t weights = scan.read_count("ncon");
    if (weights > 1) {
        scan.fail_at_previous("the header announces ", weights,
                              " weights per vertex (ncon); a rank has one load, so keep one");
    }
}

MetisHeader read_metis_header(TextScanner& scan) {
    MetisHeader header;
    while (scan.at('%')) scan.skip_line();
    const std::int64_t vertices = scan.read_count("the number of vertices");
    if (vertices == 0) scan.fail_at_previous("the graph has no vertices");
    header.vertices = static_cast<std::size_t>(vertices);
    header.edges = static_cast<std::size_t>(scan.read_count("the number of edges"));
    if (!scan.at_line_end()) read_format(scan, header);
    scan.end_line();
    // The text has a line per vertex and ` v` twice per edge, so its length limits the allocation.
    if (header.vertices > scan.remaining() + 1 || header.edges > scan.remaining() / 2) {
        scan.fail_at_previous("the header announces ", header.vertices, " vertices and ", header.edges,
                              " edges, but only ", scan.remaining(), " bytes follow");
    }
    return header;
}

/// Throws Error with the line of vertex u, which is found by scanning the text again.
template <class... Parts>
[[noreturn]] void fail_at_vertex(std::string_view text, Rank u, const Parts&... parts) {
    TextScanner scan(text);
    std::uint64_t lines_before = std::uint64_t{u.value} + 1;
    while (lines_before > 0 || scan.at('%')) {
        if (!scan.at('%')) --lines_before;
        scan.skip_line();
    }
    scan.skip_line();
    scan.fail_at_previous("vertex ", u.value + 1, " ", parts...);
}

void read_vertex(TextScanner& scan, const MetisHeader& header, std::size_t u, CommRows& lists) {
    while (scan.at('%')) scan.skip_line();
    // The last line may have no line end; if the last vertex is isolated, the whole line may be missing.
    if (scan.at_end() && u + 1 < header.vertices) {
        scan.fail_expected("the line of vertex " + std::to_string(u + 1) + " of " +
                           std::to_string(header.vertices));
    }
    if (header.vertex_sizes) (void)scan.read_count("a vertex size");
    if (header.vertex_weights) lists.load.push_back(static_cast<double>(scan.read_count("a vertex weight")));
    while (!scan.at_line_end()) {
        const auto v = static_cast<std::uint64_t>(scan.read_count("a neighbor"));
        if (v - 1 >= header.vertices) {
            scan.fail_at_previous("vertex ", u + 1, " has neighbor ", v, ", but vertices are 1 to ",
                                  header.vertices);
        }
        if (v - 1 == u)
            scan.fail_at_previous("vertex ", v, " is its own neighbor, which METIS does not allow");
        lists.peers.push_back(Rank{v - 1});
        if (!header.edge_weights) continue;
        lists.bytes.push_back(Bytes{scan.read_count("an edge weight")});
        if (lists.bytes.back().value == 0)
            scan.fail_at_previous("the edge ", u + 1, " - ", v, " has weight 0; use 1 or more");
    }
    scan.end_line();
    lists.first.push_back(lists.peers.size());
}

/// Sorts the neighbors of u together with their weights.
void sort_list(CommRows& lists, std::size_t u, std::vector<std::pair<Rank, Bytes>>& pairs) {
    const auto begin = static_cast<std::ptrdiff_t>(lists.first[u]);
    const auto end = static_cast<std::ptrdiff_t>(lists.first[u + 1]);
    const auto peers = lists.peers.begin();
    if (std::is_sorted(peers + begin, peers + end)) return;
    if (lists.bytes.empty()) {
        std::sort(peers + begin, peers + end);
        return;
    }
    pairs.clear();
    for (auto i = begin; i < end; ++i) pairs.emplace_back(peers[i], lists.bytes[static_cast<std::size_t>(i)]);
    std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto i = begin; i < end; ++i) {
        std::tie(peers[i], lists.bytes[static_cast<std::size_t>(i)]) =
            pairs[static_cast<std::size_t>(i - begin)];
    }
}

void check_no_parallel_edges(std::string_view text, const CommRows& lists, std::size_t u) {
    for (std::uint64_t i = lists.first[u]; i + 1 < lists.first[u + 1]; ++i) {
        if (lists.peers[i] == lists.peers[i + 1]) {
            fail_at_vertex(text, Rank{u}, "names neighbor ", lists.peers[i].value + 1, " twice");
        }
    }
}

/// Throws Error unless every edge has both directions with the same weight. Vertices are visited in ascending
/// order, so u must be the first entry not yet visited in its neighbor's sorted list.
void check_symmetric(std::string_view text, const CommRows& lists) {
    BigVector<std::uint64_t> next(lists.first.begin(), lists.first.end() - 1);
    for (std::size_t u = 0; u + 1 < lists.first.size(); ++u) {
        for (std::uint64_t i = lists.first[u]; i < lists.first[u + 1]; ++i) {
            const Rank v = lists.peers[i];
            const std::uint64_t back = next[v.value]++;
            const bool there = back < lists.first[v.value + 1];
            if (there && lists.peers[back].value < u) {
                fail_at_vertex(text, v, "has neighbor ", lists.peers[back].value + 1,
                               ", but not in the other direction; METIS graphs list both");
            }
            if (!there || lists.peers[back].value != u) {
                fail_at_vertex(text, Rank{u}, "has neighbor ", v.value + 1,
                               ", but not in the other direction; METIS graphs list both");
            }
            if (!lists.bytes.empty() && lists.bytes[back] != lists.bytes[i]) {
                fail_at_vertex(text, Rank{u}, "has an edge of weight ", lists.bytes[i].value, " to vertex ",
                               v.value + 1, ", which has weight ", lists.bytes[back].value,
                               " in the other direction");
            }
        }
    }
}

}  // namespace

CommGraph read_metis(std::string_view text) {
    TextScanner scan(text);
    const MetisHeader header = read_metis_header(scan);
    CommRows lists;
    lists.first.reserve(header.vertices + 1);
    lists.peers.reserve(2 * header.edges);
    if (header.edge_weights) lists.bytes.reserve(2 * header.edges);
    for (std::size_t u = 0; u < header.vertices; ++u) read_vertex(scan, header, u, lists);
    scan.skip_empty_lines('%');
    if (!scan.at_end()) scan.fail_expected("nothing more after vertex " + std::to_string(header.vertices));
    std::vector<std::pair<Rank, Bytes>> pairs;
    for (std::size_t u = 0; u < header.vertices; ++u) {
        sort_list(lists, u, pairs);
        check_no_parallel_edges(text, lists, u);
    }
    check_symmetric(text, lists);
    if (lists.peers.size() != 2 * header.edges) {
        fail("the header announces ", header.edges, " edges, but the lines have ", lists.peers.size() / 2);
    }
    if (!header.edge_weights) lists.bytes.assign(lists.peers.size(), Bytes{1});
    return CommGraph::from_csr(std::move(lists));
}

}  // namespace topoloom
