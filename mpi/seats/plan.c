// SPDX-License-Identifier: BSD-3-Clause
// The plan as a table of text, a line a rank.
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
static const char* read_line(char* line, struct plan* plan) {
    char* rest;
    char* const rank_word = strtok_r(line, " ", &rest);
    char* const host = strtok_r(NULL, " ", &rest);
    char* const slot = strtok_r(NULL, " ", &rest);
    char* const cpus = strtok_r(NULL, " ", &rest);
    struct cpus set;
    if (cpus == NULL) return "expected: rank host slot cpus gpu nic";
    const int rank = atoi(rank_word);
    if (rank < 0 || rank >= plan->rank_count) return "ranks are not counted from 0";
    if (plan->seats[rank].slot >= 0) return "the rank was there before";
    if (strcmp(cpus, "-") != 0 && !cpus_from_text(cpus, &set)) return "expected CPUs, as 0-3,8";
    plan->seats[rank] = (struct seat){.slot = atoi(slot), .cpus = strcmp(cpus, "-") == 0 ? NULL : cpus};
    plan->host_of[rank] = host;
    return NULL;
}

static void index_hosts(struct plan* plan) {
    memcpy(plan->hosts, plan->host_of, (size_t)plan->rank_count * sizeof *plan->hosts);
    qsort(plan->hosts, (size_t)plan->rank_count, sizeof *plan->hosts, by_name);
    for (int i = 0; i < plan->rank_count; ++i)
        if (i == 0 || strcmp(plan->hosts[i], plan->hosts[plan->host_count - 1]) != 0)
            plan->hosts[plan->host_count++] = plan->hosts[i];
    for (int rank = 0; rank < plan->rank_count; ++rank)
        plan->seats[rank].host = plan_host(plan, plan->host_of[rank]);
}

bool plan_read(const char* file, struct plan* plan, char* why, int room) {
    *plan = (struct plan){.text = read_file(file)};
    if (plan->text == NULL) {
        snprintf(why, (size_t)room, "cannot read %s: %s", file, strerror(errno));
        return false;
    }
    for (const char* at = plan->text; *at != '\0'; at = strchr(at, '\n') + 1) {
        if (*at != '#') ++plan->rank_count;
        if (strchr(at, '\n') == NULL) break;
    }
    const size_t count = plan->rank_count > 0 ? (size_t)plan->rank_count : 1;
    plan->seats = malloc(count * sizeof *plan->seats);
    plan->hosts = malloc(count * sizeof *plan->hosts);
    plan->host_of = malloc(count * sizeof *plan->host_of);
    const char* wrong = plan->rank_count == 0 ? "it names no rank" : NULL;
    if (plan->seats == NULL || plan->hosts == NULL || plan->host_of == NULL) wrong = "not enough memory";
    for (int rank = 0; wrong == NULL && rank < plan->rank_count; ++rank) plan->seats[rank].slot = -1;
    int number = 0;
    char* rest = plan->text;
    for (char* line;
         wrong == NULL && (line = strsep(&rest, "\n")) != NULL && (*line != '\0' || rest != NULL);) {
        ++number;
        if (*line != '#') wrong = read_line(line, plan);
    }
    if (wrong != NULL) {
        snprintf(why, (size_t)room, "%s, line %d: %s", file, number, wrong);
        plan_free(plan);
        return false;
    }
    index_hosts(plan);
    return true;
}

void plan_free(struct plan* plan) {
    free(plan->seats);
    free(plan->hosts);
    free(plan->host_of);
    free(plan->text);
    *plan = (struct plan){0};
}

int plan_host(const struct plan* plan, const char* name) {
    return find_host(plan->hosts, plan->host_count, sizeof *plan->hosts, name);
}
