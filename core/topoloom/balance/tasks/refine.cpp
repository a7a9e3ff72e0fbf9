// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/refine.hpp"

#include <queue>
#include <utility>

namespace topoloom {

namespace {

constexpr int max_passes = 10;
/// Smaller relative gains are rounding errors.
constexpr double least_gain = 1e-9;
/// Vertices examined between two polls.
constexpr std::size_t looks_per_poll = 4096;

class RefinementPass {
   public:
    explicit RefinementPass(TaskPartition& parts)
        : parts_(parts),
          version_(parts.part_of_vertex().size(), 0),
          has_moved_(parts.part_of_vertex().size(), 0) {}

    /// Runs one pass. Returns the gain.
    double run() {
        for (const Vertex v : parts_.level().graph.vertices())
            if (parts_.has_remote_neighbor(v)) offer(v);
        const std::size_t patience = 100 + parts_.part_of_vertex().size() / 20;
        const double least = least_gain * parts_.cost();
        double gained = 0, best = 0;
        std::size_t best_at = 0;
        while (!heap_.empty() && log_.size() - best_at < patience) {
            const Entry entry = heap_.top();
            heap_.pop();
            if (has_moved_[entry.vertex.value] != 0 || entry.version != version_[entry.vertex.value])
                continue;
            // Ranks may have filled up since this move was put on the heap.
            const std::optional<VertexMove> move = parts_.best_move(entry.vertex);
            if (!move) continue;
            if (move->gain < entry.gain) {
                offer(entry.vertex);
                continue;
            }
            gained += move->gain;
            apply(entry.vertex, move->to);
            if (gained <= best + least) continue;
            best = gained;
            best_at = log_.size();
        }
        while (log_.size() > best_at) {
            parts_.move(log_.back().first, log_.back().second);
            log_.pop_back();
        }
        return best;
    }

   private:
    struct Entry {
        double gain;
        std::uint32_t stamp;
        Vertex vertex;
        std::uint32_t version;
        friend bool operator<(const Entry& a, const Entry& b) {
            return a.gain != b.gain ? a.gain < b.gain : a.stamp < b.stamp;
        }
    };

    void offer(Vertex v) {
        if (++looks_ % looks_per_poll == 0) parts_.poll();
        const std::uint32_t version = ++version_[v.value];
        if (const std::optional<VertexMove> move = parts_.best_move(v))
            heap_.push({move->gain, ++stamp_, v, version});
    }
    void apply(Vertex v, Part to) {
        log_.emplace_back(v, parts_[v]);
        has_moved_[v.value] = 1;
        parts_.move(v, to);
        for (const Vertex u : parts_.level().graph.peers(v))
            if (has_moved_[u.value] == 0) offer(u);
    }

    TaskPartition& parts_;
    std::vector<std::uint32_t> version_;
    std::vector<char> has_moved_;
    std::priority_queue<Entry> heap_;
    std::vector<std::pair<Vertex, Part>> log_;  // vertices and their previous parts
    std::uint32_t stamp_ = 0;
    std::size_t looks_ = 0;
};

}  // namespace

void refine_parts(TaskPartition& parts) {
    for (int i = 0; i < max_passes && RefinementPass(parts).run() > 0; ++i) {
    }
}

}  // namespace topoloom
