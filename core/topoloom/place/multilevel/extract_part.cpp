// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/multilevel/extract_part.hpp"

#include <algorithm>

#include "topoloom/base/parallel.hpp"
#include "topoloom/partition/graph_rows.hpp"
#include "topoloom/place/multilevel/cached_difference.hpp"

namespace topoloom::multilevel {

PartGraph extract_part(const DividedGraph& all, std::span<const Vertex> mine,
                       std::array<std::uint32_t, 2> within, std::span<const MachinePart> pieces,
                       int threads) {
    const MachineParts::PieceComparison between = all.machine.compare_pieces(pieces[0], pieces[1]);
    // Uses only the distance beyond the mean distance inside a piece, which remains in the same piece.
    const std::int64_t price = std::max<std::int64_t>(1, between.apart);
    const auto is_inside = [&](Part q) { return within[0] <= q.value && q.value <= within[1]; };
    PartGraph part;
    auto& [sub, bias] = part;
    sub.mass.resize(mine.size());
    bias.assign(pieces.size() == 2 ? mine.size() : 0, 0);
    for (std::size_t i = 0; i < mine.size(); ++i) {
        all.local[mine[i].value] = Vertex{i};
        sub.mass[i] = all.graph.mass[mine[i].value];
    }
    const Chunks chunks(mine.size(), 1U << 14);
    std::vector<partition::GraphRows> rows(chunks.size());
    parallel_for(chunks.size(), threads, [&](std::size_t c, int) {
        const auto [begin, end] = chunks[c];
        CachedDistanceDifference farther(between.farther, all.machine.part_count(), 8 * (end - begin));
        std::size_t edges = 0;
        for (const Vertex u : mine.subspan(begin, end - begin)) edges += all.graph.degree(u);
        rows[c].end.reserve(end - begin);
        rows[c].peer.reserve(edges);
        rows[c].weight.reserve(edges);
        for (std::size_t i = begin; i < end; ++i) {
            const auto peers = all.graph.peers(mine[i]);
            const auto weights = all.graph.weights(mine[i]);
            for (std::size_t e = 0; e < peers.size(); ++e) {
                const Part q = all.part_of[peers[e].value];
                if (is_inside(q)) {
                    rows[c].peer.push_back(all.local[peers[e].value]);
                    rows[c].weight.push_back(weights[e] * price);
                } else if (!bias.empty()) {
                    bias[i] += weights[e] * farther(q);
                }
            }
            rows[c].end.push_back(static_cast<std::uint32_t>(rows[c].peer.size()));
        }
    });
    partition::append_rows(sub, rows);
    if (std::ranges::all_of(bias, [](std::int64_t b) { return b == 0; })) bias.clear();
    return part;
}

}  // namespace topoloom::multilevel
