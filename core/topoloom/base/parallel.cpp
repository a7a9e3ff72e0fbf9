// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/parallel.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace topoloom {

int thread_count(int wanted) {
    if (wanted > 0) return wanted;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(std::size_t chunks, int threads, const std::function<void(std::size_t, int)>& body) {
    const auto workers =
        static_cast<int>(std::min<std::size_t>(chunks, static_cast<std::size_t>(thread_count(threads))));
    if (workers <= 1) {
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) body(chunk, 0);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr problem;
    std::mutex problem_lock;
    const auto work = [&](int worker) {
        try {
            for (std::size_t chunk = next++; chunk < chunks; chunk = next++) body(chunk, worker);
        } catch (...) {
            const std::lock_guard hold(problem_lock);
            if (!problem) problem = std::current_exception();
            next = chunks;
        }
    };
    {
        std::vector<std::jthread> others;
        for (int worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
        work(0);
    }
    if (problem) std::rethrow_exception(problem);
}

}  // namespace topoloom
