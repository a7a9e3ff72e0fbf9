// SPDX-License-Identifier: BSD-3-Clause
// Parallel loops over fixed chunks, so that results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace topoloom {

/// Resolves a thread count: 0 means one per core.
[[nodiscard]] int thread_count(int wanted);

/// Runs body(chunk, worker) for chunk = 0 .. chunks-1 on up to `threads` threads (0: one per core). `worker`
/// numbers the thread, from 0 to threads - 1.
/// Chunks start in order. The first exception is rethrown once all threads have stopped.
void parallel_for(std::size_t chunks, int threads, const std::function<void(std::size_t, int)>& body);

/// The index range [begin, end).
struct Chunk {
    std::size_t begin;
    std::size_t end;
};

/// Splits `count` items into chunks of `size` items. The chunks do not depend on the number of threads.
class Chunks {
   public:
    Chunks(std::size_t count, std::size_t size) : count_(count), size_(size) {}
    [[nodiscard]] std::size_t size() const { return (count_ + size_ - 1) / size_; }
    Chunk operator[](std::size_t i) const { return {i * size_, std::min(count_, (i + 1) * size_)}; }

   private:
    std::size_t count_;
    std::size_t size_;
};

/// Sums part(chunk) over all chunks in chunk order, so that the result does not depend on the number of
/// threads.
template <class Sum, class Part>
[[nodiscard]] Sum parallel_sum(const Chunks& chunks, int threads, const Part& part) {
    std::vector<Sum> parts(chunks.size());
    parallel_for(chunks.size(), threads, [&](std::size_t i, int) { parts[i] = part(chunks[i]); });
    Sum sum{};
    for (const Sum& one : parts) sum += one;
    return sum;
}

}  // namespace topoloom
