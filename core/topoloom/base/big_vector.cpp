// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/big_vector.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace topoloom {

namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::align_val_t alignment{huge_page};

bool is_big(std::size_t bytes) { return bytes >= 2 * huge_page; }

}  // namespace

void* allocate_big(std::size_t bytes) {
    if (!is_big(bytes)) return ::operator new(bytes);
    void* memory = ::operator new(bytes, alignment);
#ifdef MADV_HUGEPAGE
    // The kernel may ignore this advice.
    (void)madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
    return memory;
}

void free_big(void* memory, std::size_t bytes) noexcept {
    if (is_big(bytes)) {
        ::operator delete(memory, alignment);
    } else {
        ::operator delete(memory);
    }
}

}  // namespace topoloom
