// SPDX-License-Identifier: BSD-3-Clause
// Reads a machine file: the machine, and the host of each node.
#ifndef TOPOLOOM_MACHINE_FILE_H
#define TOPOLOOM_MACHINE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct machine_file {
    char* text;
    struct host* hosts;  // hosts of the nodes, sorted by name
    size_t host_count;
};
/// Returns false on failure, with the reason, file and line in `error`.
bool read_machine_file(const char* name, struct machine_file* machine, char* error, size_t error_size);
/// The same for an open file. If the file has no machine, `text` is NULL. `name` is used in error messages.
bool read_machine_stream(FILE* file, const char* name, struct machine_file* machine, char* error,
                         size_t error_size);
void free_machine_file(struct machine_file* machine);
/// Returns the node of a host, which is looked up by find_host; -1 = none.
int64_t find_node_of_host(const struct machine_file* machine, const char* host);

#endif
