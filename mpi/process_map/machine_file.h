// SPDX-License-Identifier: BSD-3-Clause
// The machine that the user describes, and the hosts of its nodes.
#ifndef TOPOLOOM_MACHINE_FILE_H
#define TOPOLOOM_MACHINE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct machine_file {
    char* text;
    struct host* hosts;  // by name
    size_t host_count;
};
/// False with the reason, which names file and line. Lines about what messages cost are for others.
bool read_machine_file(const char* name, struct machine_file* machine, char* why, size_t why_size);
/// The same of a file that is open, where `text` stays NULL without a machine; `name` is for the reason.
bool read_machine_stream(FILE* file, const char* name, struct machine_file* machine, char* why,
                         size_t why_size);
void free_machine_file(struct machine_file* machine);
/// Number of the node, by the rule of host_names.h; -1 = there is none of this name.
int64_t node_of_host(const struct machine_file* machine, const char* host);

#endif
