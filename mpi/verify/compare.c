// SPDX-License-Identifier: BSD-3-Clause
// One rank beside its seat in the bindings.
#include "compare.h"

#include "host_names.h"

enum verdict compare(const struct bindings* bindings, int rank, const struct testimony* found) {
    const struct seat* seat = &bindings->seats[rank];
    struct cpus planned, allowed;
    if (!is_address(bindings->hosts[seat->host]) && bindings_host(bindings, found->host) != seat->host)
        return VERDICT_HOST;
    if (seat->cpus == NULL || !cpus_from_text(seat->cpus, &planned) || !cpus_from_text(found->cpus, &allowed))
        return VERDICT_OK;
    if (cpus_within(&allowed, &planned)) return VERDICT_OK;
    return cpus_within(&planned, &allowed) ? VERDICT_UNBOUND : VERDICT_CPUS;
}

void tell_uncompared(FILE* out, const struct bindings* bindings) {
    for (int host = 0; host < bindings->host_count; ++host) {
        if (!is_address(bindings->hosts[host])) continue;
        fprintf(out, "topoloom: hosts planned by their addresses, as %s, are not compared\n",
                bindings->hosts[host]);
        return;
    }
}

void explain(FILE* out, enum verdict verdict, const struct bindings* bindings, int rank,
             const struct testimony* found) {
    const struct seat* seat = &bindings->seats[rank];
    if (verdict == VERDICT_HOST)
        fprintf(out, "rank %d is on host %s, planned on %s", rank, found->host, bindings->hosts[seat->host]);
    if (verdict == VERDICT_CPUS)
        fprintf(out, "rank %d runs on CPUs %s of %s, planned on %s", rank, found->cpus, found->host,
                seat->cpus);
    if (verdict == VERDICT_UNBOUND)
        fprintf(out, "rank %d is not bound: it may run on CPUs %s of %s, planned on %s", rank, found->cpus,
                found->host, seat->cpus);
}
