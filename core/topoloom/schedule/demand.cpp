// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/demand.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"

namespace topoloom {

Demand::Demand(std::size_t ranks, std::size_t degree, Bytes bytes)
    : ranks_(ranks), degree_(degree), bytes_(bytes) {
    if (ranks == 0 || ranks >= std::size_t{1} << 31)
        fail("many-to-many: ", ranks, " ranks; there must be 1 to 2147483647");
    if (degree >= ranks)
        fail("many-to-many: ", degree, " partners of each of ", ranks, " ranks; there are 0 to ", ranks - 1);
    constexpr std::int64_t most = std::int64_t{1} << 62;
    if (bytes.value < 0 || bytes.value > most / static_cast<std::int64_t>(ranks))
        fail("many-to-many: ", bytes.value,
             " bytes per pair; there must be 0 or more, at most 2^62 per rank");
}

Demand::Demand(CommGraph graph) : ranks_(graph.rank_count()), targets_(std::move(graph)) {
    if (ranks_ == 0) fail("many-to-many: a graph without ranks");
    std::vector<Rank> from, to;
    from.reserve(targets_.edge_count());
    max_bytes_.resize(ranks_);
    for (const Rank origin : ids<Rank>(ranks_)) {
        from.insert(from.end(), targets_.degree(origin), origin);
        for (const Bytes bytes : targets_.bytes(origin))
            max_bytes_[origin.value] = std::max(max_bytes_[origin.value], bytes);
    }
    origins_ = CommGraph::from_edges(ranks_, targets_.all_peers(), from, targets_.all_bytes());
}

const Bytes* Demand::edge(Rank origin, Rank target) const {
    const std::span<const Rank> peers = targets_.peers(origin);
    const auto found = std::lower_bound(peers.begin(), peers.end(), target);
    return found != peers.end() && *found == target ? &targets_.bytes(origin)[found - peers.begin()]
                                                    : nullptr;
}

Bytes Demand::bytes(Rank origin, Rank target) const {
    if (is_regular()) return is_target(origin, target) ? bytes_ : Bytes{0};
    const Bytes* found = edge(origin, target);
    return found == nullptr ? Bytes{0} : *found;
}

Demand::DemandSum Demand::sum_demand(Rank origin, const EveryNth& targets) const {
    DemandSum found;
    if (is_regular()) {
        const std::size_t end = origin.value + degree_ + 1;  // the range may wrap around after the last rank
        found.targets = targets.count_below(std::min(end, ranks_)) - targets.count_below(origin.value + 1) +
                        (end > ranks_ ? targets.count_below(end - ranks_) : 0);
        found.bytes = bytes_ * static_cast<std::int64_t>(found.targets);
        return found;
    }
    const std::span<const Rank> peers = targets_.peers(origin);
    for (std::size_t i = 0; i < peers.size(); ++i) {
        if (!targets.has(peers[i].value)) continue;
        found.bytes += targets_.bytes(origin)[i];
        ++found.targets;
    }
    return found;
}

}  // namespace topoloom
