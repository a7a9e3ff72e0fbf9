// SPDX-License-Identifier: BSD-3-Clause
// Reads orders: lines that are appended to a file, which only rank 0 needs to see.
#ifndef TOPOLOOM_PROBE_ORDERS_H
#define TOPOLOOM_PROBE_ORDERS_H

/// The lines of one read.
struct orders {
    char* text;    // owned
    char** lines;  // owned; without newlines
    int count;
    long read;  // bytes of the file so far, on rank 0
};

/// Waits for more lines and broadcasts them. 0: the file is gone, or nothing came for 10 minutes. Collective.
int read_orders(struct orders* orders, const char* file);
void free_orders(struct orders* orders);

#endif
