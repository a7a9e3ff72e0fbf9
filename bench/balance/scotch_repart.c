/* SPDX-License-Identifier: BSD-3-Clause */
/* Repartitions tasks from standard input by Scotch, see repartitions.py: prints the owner of each task. */
#include <stdint.h>
#include <stdio.h>

#include <scotch.h>

#include "repart.h"

static SCOTCH_Num* repeat_numbers(const long* numbers, long count, long times) {
    SCOTCH_Num* copy = calloc((size_t)count + 1, sizeof *copy);
    for (long i = 0; i < count; ++i) copy[i] = (SCOTCH_Num)(numbers[i] * times);
    return copy;
}

int main(void) {
    const struct repart given = read_repart();
    SCOTCH_Num *first = repeat_numbers(given.first, given.tasks + 1, 1),
               *peer = repeat_numbers(given.peer, given.edges, 1);
    SCOTCH_Num* bytes = repeat_numbers(given.bytes, given.edges, given.periods);
    SCOTCH_Num *load = repeat_numbers(given.load, given.tasks, 1),
               *size = repeat_numbers(given.size, given.tasks, 1);
    SCOTCH_Num *before = repeat_numbers(given.owner, given.tasks, 1),
               *after = repeat_numbers(given.owner, given.tasks, 1);
    SCOTCH_Graph graph;
    SCOTCH_Strat how;
    SCOTCH_graphInit(&graph);
    SCOTCH_stratInit(&how);
    SCOTCH_randomSeed((SCOTCH_Num)given.seed);
    SCOTCH_randomReset();
    if (SCOTCH_graphBuild(&graph, 0, (SCOTCH_Num)given.tasks, first, first + 1, load, NULL,
                          (SCOTCH_Num)given.edges, peer, bytes) != 0 ||
        SCOTCH_stratGraphMapBuild(&how, SCOTCH_STRATQUALITY | SCOTCH_STRATREMAP, (SCOTCH_Num)given.parts,
                                  given.tolerance) != 0 ||
        SCOTCH_graphRepart(&graph, (SCOTCH_Num)given.parts, before, 1.0, size, &how, after) != 0)
        return 1;
    for (long i = 0; i < given.tasks; ++i) printf("%ld\n", (long)after[i]);
    return 0;
}
