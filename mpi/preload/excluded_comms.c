// SPDX-License-Identifier: BSD-3-Clause
// Table of the communicators whose calls are never replaced.
#include "preload.h"

_Atomic(MPI_Comm) preload_excluded_comms[1 << excluded_bits];
_Atomic(struct comm_record*) preload_excluded_records[1 << excluded_bits];

void exclude_comm(MPI_Comm comm, struct comm_record* record) {
    _Atomic(MPI_Comm)* slot = get_excluded_slot(comm);
    // The record changes first. A concurrent call on the communicator that was here before may be counted here.
    atomic_store_explicit(&preload_excluded_records[slot - preload_excluded_comms], record,
                          memory_order_relaxed);
    atomic_store_explicit(slot, comm, memory_order_relaxed);
}

void include_comm(MPI_Comm comm) {
    atomic_compare_exchange_strong(get_excluded_slot(comm), &comm, (MPI_Comm)0);
}
