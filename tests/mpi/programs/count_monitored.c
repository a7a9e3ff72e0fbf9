// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: counts the messages that Open MPI's monitoring component records.
#include <stddef.h>
#include <string.h>

enum { MOST_RANKS = 64 };

static long sent[MOST_RANKS];

void messages_sent_to(long to[MOST_RANKS]) { memcpy(to, sent, sizeof sent); }

// Called by the component instead of its own function.
void mca_common_monitoring_record_pml(int world_rank, size_t bytes, int tag) {
    (void)bytes, (void)tag;
    ++sent[world_rank];
}
