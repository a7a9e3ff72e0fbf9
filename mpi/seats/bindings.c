// SPDX-License-Identifier: BSD-3-Clause
// A plan of who is bound where: a table of text, one line per rank.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_names.h"
#include "seats.h"

static int by_name(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

static char* read_file(const char* name) {
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

/// One line into its seat; what is wrong with it, or NULL.
static const char* read_line(char* line, struct bindings* bindings) {
    char* rest;
    char* const rank_word = strtok_r(line, " ", &rest);
    char* const host = strtok_r(NULL, " ", &rest);
    char* const slot = strtok_r(NULL, " ", &rest);
    char* const cpus = strtok_r(NULL, " ", &rest);
    struct cpus set;
    if (cpus == NULL) return "expected: rank host slot cpus gpu nic";
    const int rank = atoi(rank_word);
    if (rank < 0 || rank >= bindings->rank_count) return "ranks are not counted from 0";
    if (bindings->seats[rank].slot >= 0) return "the rank was there before";
    if (strcmp(cpus, "-") != 0 && !cpus_from_text(cpus, &set)) return "expected CPUs, as 0-3,8";
    bindings->seats[rank] = (struct seat){.slot = atoi(slot), .cpus = strcmp(cpus, "-") == 0 ? NULL : cpus};
    bindings->host_of[rank] = host;
    return NULL;
}

static void index_hosts(struct bindings* bindings) {
    memcpy(bindings->hosts, bindings->host_of, (size_t)bindings->rank_count * sizeof *bindings->hosts);
    qsort(bindings->hosts, (size_t)bindings->rank_count, sizeof *bindings->hosts, by_name);
    for (int i = 0; i < bindings->rank_count; ++i)
        if (i == 0 || strcmp(bindings->hosts[i], bindings->hosts[bindings->host_count - 1]) != 0)
            bindings->hosts[bindings->host_count++] = bindings->hosts[i];
    for (int rank = 0; rank < bindings->rank_count; ++rank)
        bindings->seats[rank].host = bindings_host(bindings, bindings->host_of[rank]);
}

bool bindings_read(const char* file, struct bindings* bindings, char* why, int room) {
    *bindings = (struct bindings){.text = read_file(file)};
    if (bindings->text == NULL) {
        snprintf(why, (size_t)room, "cannot read %s: %s", file, strerror(errno));
        return false;
    }
    for (const char* at = bindings->text; *at != '\0'; at = strchr(at, '\n') + 1) {
        if (*at != '#') ++bindings->rank_count;
        if (strchr(at, '\n') == NULL) break;
    }
    const size_t count = bindings->rank_count > 0 ? (size_t)bindings->rank_count : 1;
    bindings->seats = malloc(count * sizeof *bindings->seats);
    bindings->hosts = malloc(count * sizeof *bindings->hosts);
    bindings->host_of = malloc(count * sizeof *bindings->host_of);
    const char* wrong = bindings->rank_count == 0 ? "it names no rank" : NULL;
    if (bindings->seats == NULL || bindings->hosts == NULL || bindings->host_of == NULL)
        wrong = "not enough memory";
    for (int rank = 0; wrong == NULL && rank < bindings->rank_count; ++rank) bindings->seats[rank].slot = -1;
    int number = 0;
    char* rest = bindings->text;
    for (char* line;
         wrong == NULL && (line = strsep(&rest, "\n")) != NULL && (*line != '\0' || rest != NULL);) {
        ++number;
        if (*line != '#') wrong = read_line(line, bindings);
    }
    if (wrong != NULL) {
        snprintf(why, (size_t)room, "%s, line %d: %s", file, number, wrong);
        bindings_free(bindings);
        return false;
    }
    index_hosts(bindings);
    return true;
}

void bindings_free(struct bindings* bindings) {
    free(bindings->seats);
    free(bindings->hosts);
    free(bindings->host_of);
    free(bindings->text);
    *bindings = (struct bindings){0};
}

int bindings_host(const struct bindings* bindings, const char* name) {
    return find_host(bindings->hosts, bindings->host_count, sizeof *bindings->hosts, name);
}
