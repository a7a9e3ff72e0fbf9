// SPDX-License-Identifier: BSD-3-Clause
// Priority queue of vertices by gain, with updates.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom::partition {

/// An addressable 4-ary heap. Among vertices of equal gain, the one changed last comes first, which keeps a
/// search local (Hagen, Huang, Kahng, IEEE TCAD 16 (1997)). Every change is O(log size).
class GainHeap {
   public:
    explicit GainHeap(std::size_t vertices) : position_(vertices, no_index) {}

    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] bool contains(Vertex v) const { return position_[v.value] != no_index; }
    [[nodiscard]] Vertex top() const { return heap_.front().vertex; }
    [[nodiscard]] std::int64_t top_gain() const { return heap_.front().gain; }

    /// Inserts the vertex or updates its gain.
    void set(Vertex v, std::int64_t gain) {
        const Entry entry{gain, ++stamp_, v};
        if (contains(v)) {
            const std::uint32_t at = position_[v.value];
            const bool up = heap_[at] < entry;
            up ? sift_up(at, entry) : sift_down(at, entry);
        } else {
            heap_.push_back(entry);
            sift_up(static_cast<std::uint32_t>(heap_.size() - 1), entry);
        }
    }
    void erase(Vertex v) {
        const std::uint32_t at = position_[v.value];
        position_[v.value] = no_index;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (at == heap_.size()) return;
        if (at > 0 && heap_[(at - 1) / arity] < last) {
            sift_up(at, last);
        } else {
            sift_down(at, last);
        }
    }
    void clear() {
        for (const Entry& entry : heap_) position_[entry.vertex.value] = no_index;
        heap_.clear();
    }

   private:
    static constexpr std::uint32_t arity = 4;

    struct Entry {
        std::int64_t gain;
        std::uint32_t stamp;
        Vertex vertex;
        friend bool operator<(const Entry& a, const Entry& b) {
            return a.gain != b.gain ? a.gain < b.gain : a.stamp < b.stamp;
        }
    };

    void put(std::uint32_t at, const Entry& entry) {
        heap_[at] = entry;
        position_[entry.vertex.value] = at;
    }
    void sift_up(std::uint32_t at, const Entry& entry) {
        while (at > 0) {
            const std::uint32_t parent = (at - 1) / arity;
            if (!(heap_[parent] < entry)) break;
            put(at, heap_[parent]);
            at = parent;
        }
        put(at, entry);
    }
    void sift_down(std::uint32_t at, const Entry& entry) {
        const auto size = static_cast<std::uint32_t>(heap_.size());
        for (;;) {
            const std::uint32_t first = arity * at + 1;
            if (first >= size) break;
            std::uint32_t best = first;
            for (std::uint32_t child = first + 1; child < size && child < first + arity; ++child) {
                if (heap_[best] < heap_[child]) best = child;
            }
            if (!(entry < heap_[best])) break;
            put(at, heap_[best]);
            at = best;
        }
        put(at, entry);
    }

    std::vector<Entry> heap_;
    std::vector<std::uint32_t> position_;  // position of each vertex in the heap
    std::uint32_t stamp_ = 0;
};

}  // namespace topoloom::partition
