// SPDX-License-Identifier: BSD-3-Clause
// A machine and the hosts of its nodes: lines `machine TEXT` and `node NUMBER HOST`; # begins a comment.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reorder.h"

struct host {
    char* name;
    int64_t node;
};

static int by_name(const void* a, const void* b) {
    return strcmp(((const struct host*)a)->name, ((const struct host*)b)->name);
}

static bool add_host(struct machine_file* machine, const char* name, int64_t node) {
    if ((machine->host_count & (machine->host_count - 1)) == 0) {  // full at each power of two
        const size_t room = machine->host_count == 0 ? 1 : 2 * machine->host_count;
        struct host* hosts = realloc(machine->hosts, room * sizeof *hosts);
        if (hosts == NULL) return false;
        machine->hosts = hosts;
    }
    char* copy = strdup(name);
    if (copy == NULL) return false;
    machine->hosts[machine->host_count++] = (struct host){copy, node};
    return true;
}

/// Null where the line is right, else what is wrong with it.
static const char* read_line(struct machine_file* machine, char* line) {
    static const char no_memory[] = "not enough memory";
    line[strcspn(line, "#\n")] = '\0';
    char* rest = NULL;
    const char* word = strtok_r(line, " \t\r", &rest);
    if (word == NULL) return NULL;
    if (strcmp(word, "machine") == 0) {
        const char* text = strtok_r(NULL, " \t\r", &rest);
        if (text == NULL || strtok_r(NULL, " \t\r", &rest) != NULL) return "expected 'machine TEXT'";
        if (machine->text != NULL) return "the machine is given twice";
        machine->text = strdup(text);
        return machine->text == NULL ? no_memory : NULL;
    }
    const char* number = strtok_r(NULL, " \t\r", &rest);
    char* host = strtok_r(NULL, " \t\r", &rest);
    char* end = NULL;
    const long long node = number == NULL ? -1 : strtoll(number, &end, 10);
    if (strcmp(word, "node") != 0 || host == NULL || *end != '\0' || node < 0)
        return "expected 'machine TEXT' or 'node NUMBER HOST'";
    if (!add_host(machine, host, node)) return no_memory;
    char* domain = strchr(host, '.');
    if (domain == NULL) return NULL;
    *domain = '\0';  // processes may know their host by its short name
    return add_host(machine, host, node) ? NULL : no_memory;
}

bool read_machine_file(const char* name, struct machine_file* machine, char* why, size_t why_size) {
    *machine = (struct machine_file){NULL, NULL, 0};
    FILE* file = fopen(name, "re");
    if (file == NULL) {
        snprintf(why, why_size, "cannot read the machine file '%s'", name);
        return false;
    }
    char* line = NULL;
    size_t room = 0;
    const char* wrong = NULL;
    for (int number = 1; wrong == NULL && getline(&line, &room, file) >= 0; ++number) {
        wrong = read_line(machine, line);
        if (wrong != NULL) snprintf(why, why_size, "%s: line %d: %s", name, number, wrong);
    }
    free(line);
    fclose(file);
    if (wrong == NULL && machine->text == NULL) {
        wrong = "no line 'machine TEXT'";
        snprintf(why, why_size, "%s: %s", name, wrong);
    }
    if (wrong != NULL) {
        free_machine_file(machine);
        return false;
    }
    qsort(machine->hosts, machine->host_count, sizeof *machine->hosts, by_name);
    return true;
}

void free_machine_file(struct machine_file* machine) {
    for (size_t i = 0; i < machine->host_count; ++i) free(machine->hosts[i].name);
    free(machine->hosts);
    free(machine->text);
}

int64_t node_of_host(const struct machine_file* machine, const char* host) {
    char name[host_length];
    snprintf(name, sizeof name, "%s", host);
    for (;;) {
        const struct host wanted = {name, 0};
        const struct host* found =
            bsearch(&wanted, machine->hosts, machine->host_count, sizeof wanted, by_name);
        if (found != NULL) return found->node;
        char* domain = strchr(name, '.');
        if (domain == NULL) return -1;
        *domain = '\0';
    }
}
