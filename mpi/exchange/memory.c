// SPDX-License-Identifier: BSD-3-Clause
// Memory of an exchange. All blocks are freed together.
#include <stdalign.h>
#include <stdlib.h>

#include "exchange.h"

struct memory_block {
    struct memory_block* next;
    alignas(max_align_t) char bytes[];
};

void* allocate_exchange_memory(struct exchange* exchange, size_t bytes) {
    struct memory_block* taken = malloc(sizeof *taken + bytes);
    if (taken == NULL) return NULL;
    taken->next = exchange->memory;
    exchange->memory = taken;
    return taken->bytes;
}

void free_exchange_memory(struct exchange* exchange) {
    while (exchange->memory != NULL) {
        struct memory_block* next = exchange->memory->next;
        free(exchange->memory);
        exchange->memory = next;
    }
}
