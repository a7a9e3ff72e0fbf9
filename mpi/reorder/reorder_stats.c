// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

#include "reorder.h"

struct reorder_stats reorder_totals;

void add_to_totals(const struct reorder_stats* stats) {
    reorder_totals.topologies += stats->topologies;
    reorder_totals.reordered += stats->reordered;
    reorder_totals.failed += stats->failed;
    reorder_totals.before += stats->before;
    reorder_totals.after += stats->after;
    reorder_totals.inter_node_bytes_before += stats->inter_node_bytes_before;
    reorder_totals.inter_node_bytes_after += stats->inter_node_bytes_after;
}

void add_failure_to_totals(const struct reorder_stats* stats, const char* reason) {
    if (stats->topologies == 0) return;  // rank 0 warns
    reorder_totals.topologies += stats->topologies;
    reorder_totals.failed += stats->topologies;
    print_not_reordered(reason);
}

void print_not_reordered(const char* reason) {
    static bool warned;
    if (!warned) fprintf(stderr, "topoloom: not reordered: %s\n", reason);
    warned = true;
}
