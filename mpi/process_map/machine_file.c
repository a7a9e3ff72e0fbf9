// SPDX-License-Identifier: BSD-3-Clause
// Parses lines `machine TEXT` and `node NUMBER HOST`. Skips lines `message ...`, `links ...` and `cost ...`, which
// libtopoloom parses. # begins a comment.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_names.h"
#include "machine_file.h"

struct host {
    char* name;
    int64_t node;
};

static int compare_names(const void* a, const void* b) {
    return strcmp(((const struct host*)a)->name, ((const struct host*)b)->name);
}

static bool add_host(struct machine_file* machine, const char* name, int64_t node) {
    if ((machine->host_count & (machine->host_count - 1)) == 0) {  // the array is full at powers of two
        const size_t capacity = machine->host_count == 0 ? 1 : 2 * machine->host_count;
        struct host* hosts = realloc(machine->hosts, capacity * sizeof *hosts);
        if (hosts == NULL) return false;
        machine->hosts = hosts;
    }
    char* copy = strdup(name);
    if (copy == NULL) return false;
    machine->hosts[machine->host_count++] = (struct host){copy, node};
    return true;
}

/// Parses one line. Returns an error message, or NULL.
static const char* parse_machine_line(struct machine_file* machine, char* line) {
    static const char no_memory[] = "not enough memory";
    line[strcspn(line, "#\n")] = '\0';
    char* rest = NULL;
    const char* word = strtok_r(line, " \t\r", &rest);
    if (word == NULL || strcmp(word, "message") == 0 || strcmp(word, "links") == 0 ||
        strcmp(word, "cost") == 0)
        return NULL;
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
    return add_host(machine, host, node) ? NULL : no_memory;
}

/// Returns a host that occurs on two lines, or NULL.
static const char* find_duplicate_host(const struct machine_file* machine) {
    for (size_t i = 1; i < machine->host_count; ++i)
        if (compare_names(&machine->hosts[i - 1], &machine->hosts[i]) == 0) return machine->hosts[i].name;
    return NULL;
}

bool read_machine_file(const char* name, struct machine_file* machine, char* error, size_t error_size) {
    *machine = (struct machine_file){NULL, NULL, 0};
    FILE* file = fopen(name, "re");
    if (file == NULL) {
        snprintf(error, error_size, "cannot read the machine file '%s'", name);
        return false;
    }
    bool ok = read_machine_stream(file, name, machine, error, error_size);
    fclose(file);
    if (ok && machine->text == NULL) {
        ok = false;
        snprintf(error, error_size, "%s: no line 'machine TEXT'", name);
        free_machine_file(machine);
    }
    return ok;
}

bool read_machine_stream(FILE* file, const char* name, struct machine_file* machine, char* error,
                         size_t error_size) {
    *machine = (struct machine_file){NULL, NULL, 0};
    char* line = NULL;
    size_t capacity = 0;
    const char* problem = NULL;
    for (int number = 1; problem == NULL && getline(&line, &capacity, file) >= 0; ++number) {
        problem = parse_machine_line(machine, line);
        if (problem != NULL) snprintf(error, error_size, "%s: line %d: %s", name, number, problem);
    }
    free(line);
    if (machine->host_count > 0)
        qsort(machine->hosts, machine->host_count, sizeof *machine->hosts, compare_names);
    const char* duplicate = find_duplicate_host(machine);
    if (problem == NULL && duplicate != NULL) {
        problem = "a host is given twice";
        snprintf(error, error_size, "%s: %s: %s", name, problem, duplicate);
    }
    if (problem != NULL) free_machine_file(machine);
    return problem == NULL;
}

void free_machine_file(struct machine_file* machine) {
    for (size_t i = 0; i < machine->host_count; ++i) free(machine->hosts[i].name);
    free(machine->hosts);
    free(machine->text);
}

int64_t find_node_of_host(const struct machine_file* machine, const char* host) {
    const int at = find_host(machine->hosts, (int)machine->host_count, sizeof *machine->hosts, host);
    return at < 0 ? -1 : machine->hosts[at].node;
}
