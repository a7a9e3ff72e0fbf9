// SPDX-License-Identifier: BSD-3-Clause
// Vectors for large arrays. They request huge pages, which are four times faster to allocate and cause fewer
// TLB misses.
#pragma once

#include <cstddef>
#include <vector>

namespace topoloom {

/// Allocates memory; blocks of at least 4 MiB are in huge pages if the system provides them. Throws
/// std::bad_alloc.
[[nodiscard]] void* allocate_big(std::size_t bytes);
void free_big(void* memory, std::size_t bytes) noexcept;

template <class T>
struct BigAllocator {
    using value_type = T;

    BigAllocator() = default;
    template <class Other>
    BigAllocator(const BigAllocator<Other>& /*other*/) {}

    T* allocate(std::size_t count) { return static_cast<T*>(allocate_big(count * sizeof(T))); }
    void deallocate(T* memory, std::size_t count) noexcept { free_big(memory, count * sizeof(T)); }
    friend bool operator==(const BigAllocator&, const BigAllocator&) { return true; }
};

template <class T>
using BigVector = std::vector<T, BigAllocator<T>>;

}  // namespace topoloom
