// SPDX-License-Identifier: BSD-3-Clause
// What is asked for: lines of words in a file that grows, which rank 0 alone has to see.
#ifndef TOPOLOOM_PROBE_ORDERS_H
#define TOPOLOOM_PROBE_ORDERS_H

/// Lines that have come together.
struct orders {
    char* text;   // owned
    char** each;  // owned; lines without their ends
    int count;
    long read;  // of the file, on rank 0
};

/// Waits for more lines, and lets all ranks know them: collective. False: the file is gone.
int read_orders(struct orders* orders, const char* file);
void free_orders(struct orders* orders);

#endif
