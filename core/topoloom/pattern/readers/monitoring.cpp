// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/readers/monitoring.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "topoloom/pattern/readers/edge_list.hpp"
#include "topoloom/pattern/readers/text_scanner.hpp"

namespace topoloom {

namespace {

enum class LineUse { skip, count, reject };

LineUse choose_line_use(std::string_view kind, const MonitoringKinds& kinds) {
    const auto when = [](bool wanted) { return wanted ? LineUse::count : LineUse::skip; };
    if (kind == "E") return when(kinds.external);
    if (kind == "I") return when(kinds.internal);
    if (kind == "S" || kind == "R") return when(kinds.one_sided);
    if (kind == "C") return when(kinds.collective);
    if (kind == "D" || kind == "O2A" || kind == "A2O" || kind == "A2A") return LineUse::skip;
    return LineUse::reject;
}

void expect_word(TextScanner& scan, std::string_view word) {
    if (scan.at_line_end()) scan.fail_expected("'" + std::string(word) + "'");
    if (const auto found = scan.read_word(word); found != word) {
        scan.fail_at_previous("expected '", word, "', found '", TextScanner::quoted(found), "'");
    }
}

Rank read_rank(TextScanner& scan, std::string_view what, std::size_t rank_count) {
    const std::int64_t rank = scan.read_count(what);
    if (rank_count > 0 && rank >= static_cast<std::int64_t>(rank_count)) {
        scan.fail_at_previous(what, " is ", rank, ", but there are only ", rank_count, " ranks");
    }
    if (const std::int64_t most = max_ranks_read(scan.size()); rank >= most)
        scan.fail_at_previous(what, " is ", rank, "; a file of this size can have at most ", most, " ranks");
    return Rank{static_cast<std::size_t>(rank)};
}

}  // namespace

CommGraph read_monitoring(std::string_view text, MonitoringKinds kinds, std::size_t rank_count) {
    TextScanner scan(text);
    EdgeList edges;
    std::vector<std::int64_t> messages;
    std::size_t highest = 0;
    for (scan.skip_empty_lines('#'); !scan.at_end(); scan.skip_empty_lines('#')) {
        const std::string_view kind = scan.read_word("a kind of message");
        const LineUse use = choose_line_use(kind, kinds);
        if (use == LineUse::reject) {
            scan.fail_at_previous("expected a kind of message (E, I, S, R or C), found '",
                                  TextScanner::quoted(kind), "'");
        }
        if (use == LineUse::count) {
            Rank source = read_rank(scan, "the source", rank_count);
            Rank peer = read_rank(scan, "the destination", rank_count);
            highest = std::max<std::size_t>({highest, source.value, peer.value});
            if (kind == "R") std::swap(source, peer);
            edges.add(source, peer, Bytes{scan.read_count("the number of bytes")});
            expect_word(scan, "bytes");
            messages.push_back(scan.read_count("the number of messages"));
            expect_word(scan, "msgs");
            expect_word(scan, "sent");
        }
        // The rest of the line is a histogram of sizes, or the kind of the line is not counted.
        scan.skip_line();
    }
    if (messages.empty()) fail("no line has messages of the requested kinds; is this monitoring output?");
    return CommGraph::from_edges(rank_count > 0 ? rank_count : highest + 1, edges.sources, edges.peers,
                                 edges.bytes, messages);
}

}  // namespace topoloom
