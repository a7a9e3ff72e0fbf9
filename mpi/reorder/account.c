// SPDX-License-Identifier: BSD-3-Clause
// What came of all orders that this process has found as rank 0.
#include <stdio.h>

#include "reorder.h"

struct tally tally;

void account(const struct tally* worth) {
    tally.topologies += worth->topologies;
    tally.reordered += worth->reordered;
    tally.failed += worth->failed;
    tally.before += worth->before;
    tally.after += worth->after;
    tally.inter_node_bytes_before += worth->inter_node_bytes_before;
    tally.inter_node_bytes_after += worth->inter_node_bytes_after;
}

void account_lost(const struct tally* worth, const char* why) {
    if (worth->topologies == 0) return;  // rank 0 says it
    tally.topologies += worth->topologies;
    tally.failed += worth->topologies;
    say_not_reordered(why);
}

void say_not_reordered(const char* why) {
    static bool said;
    if (!said) fprintf(stderr, "topoloom: not reordered: %s\n", why);
    said = true;
}
