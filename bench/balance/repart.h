/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks from standard input for programs that repartition them: counts, then arrays, all as text. */
#ifndef REPART_H
#define REPART_H

#include <stdio.h>
#include <stdlib.h>

struct repart {
    long tasks, edges, parts, periods, seed;
    double tolerance;
    long *first, *peer, *bytes; /* compressed sparse rows; each edge in both directions */
    long *load, *size, *owner;  /* by task */
};

static long* read_numbers(long count) {
    long* found = (long*)calloc((size_t)count + 1, sizeof *found);
    for (long i = 0; i < count; ++i)
        if (scanf("%ld", &found[i]) != 1) exit(2);
    return found;
}

static struct repart read_repart(void) {
    struct repart given;
    if (scanf("%ld %ld %ld %ld %ld %lf", &given.tasks, &given.edges, &given.parts, &given.periods,
              &given.seed, &given.tolerance) != 6)
        exit(2);
    given.first = read_numbers(given.tasks + 1);
    given.peer = read_numbers(given.edges);
    given.bytes = read_numbers(given.edges);
    given.load = read_numbers(given.tasks);
    given.size = read_numbers(given.tasks);
    given.owner = read_numbers(given.tasks);
    return given;
}

#endif
