// SPDX-License-Identifier: BSD-3-Clause
// Some launchers answer the first rank that ends badly by killing all others at once (SIGKILL, which nobody
// can catch). So that rank first asks the others on its node to leave their notes: by SIGURG, which is
// ignored where nobody listens. It may be in a signal handler: no opendir, no malloc.
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

enum { most_environment = 1 << 20, most_names = 1 << 15 };
static const char ending[] = ".topoloom";
static char environment_[most_environment], names_[most_names];

struct entry {  // as the kernel writes it
    uint64_t inode, offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/// Counts the entries of a folder that are found to count.
static int count_in(const char* folder, bool (*counts)(const char* name, const char* setting),
                    const char* setting) {
    int count = 0;
    const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return 0;
    for (long got; (got = syscall(SYS_getdents64, file, names_, most_names)) > 0;)
        for (long at = 0; at < got;) {
            const struct entry* entry = (const struct entry*)(names_ + at);
            count += counts(entry->name, setting);
            at += entry->length;
        }
    close(file);
    return count;
}

/// Whether the process was started with our TOPOLOOM_RECORD: it is a rank of the same job.
static bool is_recorded(const char* process, const char* setting) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%.20s/environ", process);
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    size_t used = 0;
    for (ssize_t got = 1; got > 0 && used < most_environment; used += (size_t)(got > 0 ? got : 0))
        got = read(file, environment_ + used, most_environment - used);
    close(file);
    return memmem(environment_, used, setting, strlen(setting) + 1) != NULL;  // with the final zero
}

static bool ask(const char* process, const char* setting) {
    if (!isdigit((unsigned char)process[0]) || !is_recorded(process, setting)) return false;
    const pid_t id = (pid_t)atol(process);
    return id != getpid() && kill(id, SIGURG) == 0;
}

static bool is_note(const char* name, const char* setting) {
    (void)setting;
    const size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

/// Waits until they have answered, but a second at most.
void others_ask(const char* folder) {
    static char setting[4200];
    snprintf(setting, sizeof setting, "TOPOLOOM_RECORD=%s", folder);
    const int asked = count_in("/proc", ask, setting);
    const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    for (int i = 0; i < 50 && count_in(folder, is_note, NULL) < asked + 1; ++i) nanosleep(&moment, NULL);
}
