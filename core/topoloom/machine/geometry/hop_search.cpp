// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/geometry/hop_search.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"

namespace topoloom {

namespace {

constexpr std::size_t words = 4;
constexpr std::size_t width = 64 * words;  // number of roots per search
using Roots = std::array<std::uint64_t, words>;

/// The source vertices of each vertex's incoming links.
struct IncomingLinks {
    std::vector<std::size_t> first;
    std::vector<std::uint32_t> from;

    IncomingLinks(std::size_t vertices, std::span<const RowLink> links)
        : first(vertices + 1, 0), from(links.size()) {
        for (const RowLink& link : links) ++first[link.to + 1];
        for (std::size_t v = 0; v < vertices; ++v) first[v + 1] += first[v];
        std::vector<std::size_t> next(first.begin(), first.end() - 1);
        for (const RowLink& link : links) from[next[link.to]++] = link.from;
    }
};

/// Searches backwards from up to `width` roots at once. Each vertex has one bit per root, set if the vertex
/// reaches the root.
class MultiSourceSearch {
   public:
    MultiSourceSearch(const IncomingLinks& incoming, const std::vector<bool>& relays)
        : incoming_(incoming),
          relays_(relays),
          seen_(relays.size()),
          here_(relays.size()),
          next_(relays.size()) {}

    /// Writes the rows of roots begin .. end-1.
    void run(Chunk roots, HopTable::Hops& hops) {
        std::ranges::fill(seen_, Roots{});
        std::vector<std::uint32_t> active;
        for (std::size_t root = roots.begin; root < roots.end; ++root) {
            const std::size_t bit = root - roots.begin;
            here_[root][bit / 64] = seen_[root][bit / 64] = std::uint64_t{1} << bit % 64;
            hops[root * relays_.size() + root] = 0;
            active.push_back(static_cast<std::uint32_t>(root));
        }
        std::vector<std::uint32_t> reached;
        for (std::uint32_t level = 1; !active.empty(); ++level) {
            for (const std::uint32_t u : active) {
                if (level == 1 || relays_[u]) propagate_from(u, reached);
                here_[u] = {};
            }
            if (!reached.empty() && level >= HopTable::unreached)
                fail("the machine graph has distances above ", HopTable::unreached - 1);
            sort_vertices(reached);
            for (const std::uint32_t v : reached) write_hops(v, roots.begin, level, hops);
            std::swap(here_, next_);
            active.swap(reached);
            reached.clear();
        }
    }

   private:
    void propagate_from(std::uint32_t u, std::vector<std::uint32_t>& reached) {
        for (std::size_t i = incoming_.first[u]; i < incoming_.first[u + 1]; ++i) {
            const std::uint32_t v = incoming_.from[i];
            std::uint64_t found = 0;
            std::uint64_t before = 0;
            for (std::size_t w = 0; w < words; ++w) {
                before |= next_[v][w];
                next_[v][w] |= here_[u][w] & ~seen_[v][w];
                found |= next_[v][w];
            }
            if (found != 0 && before == 0) reached.push_back(v);
        }
    }
    /// Sorts the vertices, so that consecutive writes to a row are close in memory.
    void sort_vertices(std::vector<std::uint32_t>& reached) const {
        if (reached.size() < next_.size() / 32) {
            std::ranges::sort(reached);
            return;
        }
        reached.clear();
        for (std::uint32_t v = 0; v < next_.size(); ++v) {
            if (next_[v] != Roots{}) reached.push_back(v);
        }
    }
    void write_hops(std::uint32_t v, std::size_t first_root, std::uint32_t level, HopTable::Hops& hops) {
        for (std::size_t w = 0; w < words; ++w) {
            seen_[v][w] |= next_[v][w];
            for (std::uint64_t bits = next_[v][w]; bits != 0; bits &= bits - 1) {
                const std::size_t root =
                    first_root + 64 * w + static_cast<std::size_t>(std::countr_zero(bits));
                hops[root * relays_.size() + v] = static_cast<std::uint16_t>(level);
            }
        }
    }

    const IncomingLinks& incoming_;
    const std::vector<bool>& relays_;
    std::vector<Roots> seen_;
    std::vector<Roots> here_;  // roots that the vertex reached in the last step
    std::vector<Roots> next_;
};

}  // namespace

HopTable::Hops search_hops(std::size_t vertices, std::size_t ends, std::span<const RowLink> links,
                           const std::vector<bool>& relays) {
    HopTable::require_memory(vertices, ends);
    const IncomingLinks incoming(vertices, links);
    HopTable::Hops hops(vertices * ends, HopTable::unreached);
    const Chunks chunks(ends, width);
    parallel_for(chunks.size(), 0,
                 [&](std::size_t c, int) { MultiSourceSearch(incoming, relays).run(chunks[c], hops); });
    return hops;
}

}  // namespace topoloom
