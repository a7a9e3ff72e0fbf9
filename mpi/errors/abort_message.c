// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "abort_message.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void print_before_abort(const char* format, ...) {
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fflush(stderr);
    struct stat status;
    if (fstat(STDERR_FILENO, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
    const struct timespec millisecond = {.tv_nsec = 1000000};
    for (int waited = 0, unread = 0; waited < 1000; ++waited) {
        if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0) return;
        nanosleep(&millisecond, NULL);
    }
}
