// SPDX-License-Identifier: BSD-3-Clause
// How all cores are used: fixed chunks of work, so that results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace topoloom {

/// How many threads may run: the given number, or one per core when 0.
[[nodiscard]] int thread_count(int wanted);

/// Runs body(chunk, worker) for chunk = 0 .. chunks-1 on up to `threads` threads (0: one per core); worker < threads.
/// Chunks start in order. The first exception is rethrown once all threads have stopped.
void parallel_for(std::size_t chunks, int threads, const std::function<void(std::size_t, int)>& body);

/// A piece [begin, end) of 0 .. count-1.
struct Chunk {
    std::size_t begin;
    std::size_t end;
};

/// `count` items cut into pieces of `size`; the cut depends on nothing else.
class Chunks {
   public:
    Chunks(std::size_t count, std::size_t size) : count_(count), size_(size) {}
    [[nodiscard]] std::size_t size() const { return (count_ + size_ - 1) / size_; }
    Chunk operator[](std::size_t i) const { return {i * size_, std::min(count_, (i + 1) * size_)}; }

   private:
    std::size_t count_;
    std::size_t size_;
};

/// Sum of part(chunk) over all chunks, added in the order of the chunks.
template <class Sum, class Part>
[[nodiscard]] Sum parallel_sum(const Chunks& chunks, int threads, const Part& part) {
    std::vector<Sum> parts(chunks.size());
    parallel_for(chunks.size(), threads, [&](std::size_t i, int) { parts[i] = part(chunks[i]); });
    Sum sum{};
    for (const Sum& one : parts) sum += one;
    return sum;
}

}  // namespace topoloom
