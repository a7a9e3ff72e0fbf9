// SPDX-License-Identifier: BSD-3-Clause
// Reads the planned bindings: a text table with one line per rank.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_names.h"
#include "process_map.h"

static int compare_names(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

static char* read_text_file(const char* name) {
    FILE* file = fopen(name, "r");
    char* text = NULL;
    size_t size = 0;
    if (file == NULL) return NULL;
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = ferror(file) ? NULL : strdup("");
    }
    fclose(file);
    return text;
}

/// Parses one line. Returns an error message, or NULL.
static const char* parse_binding_line(char* line, struct bindings* bindings) {
    char* rest;
    char* const rank_text = strtok_r(line, " ", &rest);
    char* const host = strtok_r(NULL, " ", &rest);
    char* const slot = strtok_r(NULL, " ", &rest);
    char* const cpus = strtok_r(NULL, " ", &rest);
    struct cpu_set parsed;
    if (cpus == NULL) return "expected: rank host slot cpus gpu nic";
    const int rank = atoi(rank_text);
    if (rank < 0 || rank >= bindings->rank_count) return "ranks must be 0 to the number of lines - 1";
    if (bindings->by_rank[rank].slot >= 0) return "the rank is given twice";
    if (strcmp(cpus, "-") != 0 && !parse_cpus(cpus, &parsed)) return "expected CPUs such as 0-3,8";
    bindings->by_rank[rank] =
        (struct binding){.slot = atoi(slot), .cpus = strcmp(cpus, "-") == 0 ? NULL : cpus};
    bindings->host_by_rank[rank] = host;
    return NULL;
}

static void index_hosts(struct bindings* bindings) {
    memcpy(bindings->hosts, bindings->host_by_rank, (size_t)bindings->rank_count * sizeof *bindings->hosts);
    qsort(bindings->hosts, (size_t)bindings->rank_count, sizeof *bindings->hosts, compare_names);
    for (int i = 0; i < bindings->rank_count; ++i)
        if (i == 0 || strcmp(bindings->hosts[i], bindings->hosts[bindings->host_count - 1]) != 0)
            bindings->hosts[bindings->host_count++] = bindings->hosts[i];
    for (int rank = 0; rank < bindings->rank_count; ++rank)
        bindings->by_rank[rank].host = find_bindings_host(bindings, bindings->host_by_rank[rank]);
}

bool read_bindings(const char* file, struct bindings* bindings, char* error, size_t error_size) {
    *bindings = (struct bindings){.text = read_text_file(file)};
    if (bindings->text == NULL) {
        snprintf(error, error_size, "cannot read %s: %s", file, strerror(errno));
        return false;
    }
    for (const char* at = bindings->text; *at != '\0'; at = strchr(at, '\n') + 1) {
        if (*at != '#') ++bindings->rank_count;
        if (strchr(at, '\n') == NULL) break;
    }
    const size_t count = bindings->rank_count > 0 ? (size_t)bindings->rank_count : 1;
    bindings->by_rank = malloc(count * sizeof *bindings->by_rank);
    bindings->hosts = malloc(count * sizeof *bindings->hosts);
    bindings->host_by_rank = malloc(count * sizeof *bindings->host_by_rank);
    const char* problem = bindings->rank_count == 0 ? "it has no ranks" : NULL;
    if (bindings->by_rank == NULL || bindings->hosts == NULL || bindings->host_by_rank == NULL)
        problem = "not enough memory";
    for (int rank = 0; problem == NULL && rank < bindings->rank_count; ++rank)
        bindings->by_rank[rank].slot = -1;
    int number = 0;
    char* rest = bindings->text;
    for (char* line;
         problem == NULL && (line = strsep(&rest, "\n")) != NULL && (*line != '\0' || rest != NULL);) {
        ++number;
        if (*line != '#') problem = parse_binding_line(line, bindings);
    }
    if (problem != NULL) {
        snprintf(error, error_size, "%s, line %d: %s", file, number, problem);
        free_bindings(bindings);
        return false;
    }
    index_hosts(bindings);
    return true;
}

void free_bindings(struct bindings* bindings) {
    free(bindings->by_rank);
    free(bindings->hosts);
    free(bindings->host_by_rank);
    free(bindings->text);
    *bindings = (struct bindings){0};
}

int find_bindings_host(const struct bindings* bindings, const char* name) {
    return find_host(bindings->hosts, bindings->host_count, sizeof *bindings->hosts, name);
}
