// SPDX-License-Identifier: BSD-3-Clause
// Reads commands: lines appended to a file that only rank 0 accesses.
#ifndef TOPOLOOM_PROBE_ORDERS_H
#define TOPOLOOM_PROBE_ORDERS_H

/// The lines that were read by one call.
struct commands {
    char* text;    // owned
    char** lines;  // array of lines without newlines; owned
    int count;
    long read;  // number of bytes of the file read so far, on rank 0
};

/// Waits for new lines and broadcasts them. Returns 0 if the file was removed, or after 10 minutes without new lines.
/// Collective.
int read_commands(struct commands* commands, const char* file);
void free_commands(struct commands* commands);

#endif
