// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/hop_search.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"

namespace topoloom {

namespace {

constexpr std::size_t words = 4;
constexpr std::size_t width = 64 * words;  // roots of one search
using Roots = std::array<std::uint64_t, words>;

/// Out-links in rows.
struct Neighbors {
    std::vector<std::size_t> first;
    std::vector<std::uint32_t> to;

    Neighbors(std::size_t vertices, std::span<const LinkEnds> links)
        : first(vertices + 1, 0), to(links.size()) {
        for (const LinkEnds& link : links) ++first[link.from + 1];
        for (std::size_t v = 0; v < vertices; ++v) first[v + 1] += first[v];
        std::vector<std::size_t> next(first.begin(), first.end() - 1);
        for (const LinkEnds& link : links) to[next[link.from]++] = link.to;
    }
};

/// Searches from up to `width` roots at once: a bit for each says whether it has come to a vertex.
class Search {
   public:
    Search(const Neighbors& neighbors, const std::vector<bool>& relays)
        : neighbors_(neighbors),
          relays_(relays),
          seen_(relays.size()),
          here_(relays.size()),
          next_(relays.size()) {}

    /// Writes the hops from roots begin .. end-1 into their columns.
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
                if (level == 1 || relays_[u]) spread(u, reached);
                here_[u] = {};
            }
            if (!reached.empty() && level >= HopTable::unreached)
                fail("the machine graph has distances above ", HopTable::unreached - 1);
            for (const std::uint32_t v : reached) write(v, roots.begin, level, hops);
            std::swap(here_, next_);
            active.swap(reached);
            reached.clear();
        }
    }

   private:
    void spread(std::uint32_t u, std::vector<std::uint32_t>& reached) {
        for (std::size_t i = neighbors_.first[u]; i < neighbors_.first[u + 1]; ++i) {
            const std::uint32_t v = neighbors_.to[i];
            std::uint64_t fresh = 0;
            std::uint64_t before = 0;
            for (std::size_t w = 0; w < words; ++w) {
                before |= next_[v][w];
                next_[v][w] |= here_[u][w] & ~seen_[v][w];
                fresh |= next_[v][w];
            }
            if (fresh != 0 && before == 0) reached.push_back(v);
        }
    }
    void write(std::uint32_t v, std::size_t first_root, std::uint32_t level, HopTable::Hops& hops) {
        std::uint16_t* const to_v = hops.data() + v * relays_.size() + first_root;
        for (std::size_t w = 0; w < words; ++w) {
            seen_[v][w] |= next_[v][w];
            for (std::uint64_t bits = next_[v][w]; bits != 0; bits &= bits - 1) {
                to_v[64 * w + static_cast<std::size_t>(std::countr_zero(bits))] =
                    static_cast<std::uint16_t>(level);
            }
        }
    }

    const Neighbors& neighbors_;
    const std::vector<bool>& relays_;
    std::vector<Roots> seen_;
    std::vector<Roots> here_;  // came to the vertex with the last step
    std::vector<Roots> next_;
};

}  // namespace

HopTable::Hops search_hops(std::size_t vertices, std::span<const LinkEnds> links,
                           const std::vector<bool>& relays) {
    HopTable::require_memory(vertices);
    const Neighbors neighbors(vertices, links);
    HopTable::Hops hops(vertices * vertices, HopTable::unreached);
    const Chunks chunks(vertices, width);
    parallel_for(chunks.size(), 0,
                 [&](std::size_t c, int) { Search(neighbors, relays).run(chunks[c], hops); });
    return hops;
}

}  // namespace topoloom
