// SPDX-License-Identifier: BSD-3-Clause
// Controls allocations of Topoloom's libraries: each allocation calls `may_allocate`, defined by
// the program. Requires _GNU_SOURCE.
#ifndef LIBRARY_MEMORY_H
#define LIBRARY_MEMORY_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Called for each allocation by one of the libraries; if false, the allocation fails.
static bool may_allocate(void);

/// File names of the libraries, including the preloaded one. Only libtopoloom uses the C++ library.
static const char* const libraries[] = {"libtopoloom-collective", "/collective-", "libtopoloom.so",
                                        "libstdc++.so"};
enum { library_count = sizeof libraries / sizeof *libraries, most_spans = 64 };
static struct {
    uintptr_t begin, end;
} spans[most_spans];
static int span_count;

static int record_library_span(struct dl_phdr_info* object, size_t size, void* unused) {
    (void)size, (void)unused;
    for (int l = 0; l < library_count; ++l) {
        if (strstr(object->dlpi_name, libraries[l]) == NULL) continue;
        for (int i = 0; i < object->dlpi_phnum && span_count < most_spans; ++i) {
            spans[span_count].begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            spans[span_count].end = spans[span_count].begin + object->dlpi_phdr[i].p_memsz;
            if (object->dlpi_phdr[i].p_type == PT_LOAD) ++span_count;
        }
        break;
    }
    return 0;
}

/// Enables the checks; earlier allocations always succeed.
static void record_library_spans(void) { dl_iterate_phdr(record_library_span, NULL); }

static bool can_allocate(const void* caller) {
    for (int i = 0; i < span_count; ++i)
        if ((uintptr_t)caller >= spans[i].begin && (uintptr_t)caller < spans[i].end) return may_allocate();
    return true;
}

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);

void* malloc(size_t size) { return can_allocate(__builtin_return_address(0)) ? __libc_malloc(size) : NULL; }

void* calloc(size_t number, size_t size) {
    return can_allocate(__builtin_return_address(0)) ? __libc_calloc(number, size) : NULL;
}

void* realloc(void* memory, size_t size) {
    return can_allocate(__builtin_return_address(0)) ? __libc_realloc(memory, size) : NULL;
}

#endif
