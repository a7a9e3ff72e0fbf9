// SPDX-License-Identifier: BSD-3-Clause
// Memory of an exchange, freed together at its end.
#include <stdalign.h>
#include <stdlib.h>

#include "exchange.h"

struct memory {
    struct memory* next;
    alignas(max_align_t) char bytes[];
};

void* exchange_alloc(struct exchange* exchange, size_t bytes) {
    struct memory* taken = malloc(sizeof *taken + bytes);
    if (taken == NULL) return NULL;
    taken->next = exchange->memory;
    exchange->memory = taken;
    return taken->bytes;
}

void exchange_free_all(struct exchange* exchange) {
    while (exchange->memory != NULL) {
        struct memory* next = exchange->memory->next;
        free(exchange->memory);
        exchange->memory = next;
    }
}
