// SPDX-License-Identifier: BSD-3-Clause
#include "compare.h"

#include "host_names.h"

enum verdict compare_rank(const struct bindings* bindings, int rank, const struct affinity* actual) {
    const struct binding* binding = &bindings->by_rank[rank];
    struct cpu_set planned, allowed;
    if (!is_ip_address(bindings->hosts[binding->host]) &&
        find_bindings_host(bindings, actual->host) != binding->host)
        return VERDICT_HOST;
    if (binding->cpus == NULL || !parse_cpus(binding->cpus, &planned) || !parse_cpus(actual->cpus, &allowed))
        return VERDICT_OK;
    if (is_cpu_subset(&allowed, &planned)) return VERDICT_OK;
    return is_cpu_subset(&planned, &allowed) ? VERDICT_UNBOUND : VERDICT_CPUS;
}

void print_uncompared_hosts(FILE* out, const struct bindings* bindings) {
    for (int host = 0; host < bindings->host_count; ++host) {
        if (!is_ip_address(bindings->hosts[host])) continue;
        fprintf(out, "topoloom: hosts planned by their addresses, as %s, are not compared\n",
                bindings->hosts[host]);
        return;
    }
}

void print_verdict(FILE* out, enum verdict verdict, const struct bindings* bindings, int rank,
                   const struct affinity* actual) {
    const struct binding* binding = &bindings->by_rank[rank];
    if (verdict == VERDICT_HOST)
        fprintf(out, "rank %d is on host %s, planned on %s", rank, actual->host,
                bindings->hosts[binding->host]);
    if (verdict == VERDICT_CPUS)
        fprintf(out, "rank %d runs on CPUs %s of %s, planned on %s", rank, actual->cpus, actual->host,
                binding->cpus);
    if (verdict == VERDICT_UNBOUND)
        fprintf(out, "rank %d is not bound: it may run on CPUs %s of %s, planned on %s", rank, actual->cpus,
                actual->host, binding->cpus);
}

int print_misplaced_ranks(FILE* out, const struct bindings* bindings, const struct affinity_report* report) {
    if (bindings->rank_count != report->count) {
        fprintf(out, "topoloom: the plan is for %d ranks, but there are %d\n", bindings->rank_count,
                report->count);
        return report->count;
    }
    int misplaced = 0;
    for (int rank = 0; rank < report->count; ++rank) {
        const struct affinity actual = get_affinity(report, rank);
        const enum verdict verdict = compare_rank(bindings, rank, &actual);
        if (verdict == VERDICT_OK) continue;
        ++misplaced;
        // a single write per line, so that it does not interleave with output of other ranks
        char line[1024] = "";
        FILE* const buffer = fmemopen(line, sizeof line, "w");
        FILE* const text = buffer != NULL ? buffer : out;
        fputs("topoloom: ", text);
        print_verdict(text, verdict, bindings, rank, &actual);
        fputc('\n', text);
        if (buffer != NULL) fclose(buffer);
        fputs(line, out);
    }
    return misplaced;
}
