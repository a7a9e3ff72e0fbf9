// SPDX-License-Identifier: BSD-3-Clause
// Some launchers answer the first rank that ends badly by killing all others at once (SIGKILL, which nobody
// can catch). So that rank first asks the others on its node to leave their notes: by SIGURG, which is
// ignored where nobody listens.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

enum { most_environment = 1 << 20 };
static const char ending[] = ".topoloom";

/// Whether the process was started with our TOPOLOOM_RECORD: it is a rank of the same job.
static bool is_recorded(const char* process, const char* setting, char* buffer) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%.20s/environ", process);
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    size_t used = 0;
    for (ssize_t got = 1; got > 0 && used < most_environment; used += (size_t)(got > 0 ? got : 0))
        got = read(file, buffer + used, most_environment - used);
    close(file);
    return memmem(buffer, used, setting, strlen(setting) + 1) != NULL;  // with the final zero
}

static int notes_in(const char* folder) {
    int count = 0;
    DIR* files = opendir(folder);
    for (struct dirent* entry; files != NULL && (entry = readdir(files)) != NULL;) {
        const size_t length = strlen(entry->d_name), end = strlen(ending);
        count += length > end && strcmp(entry->d_name + length - end, ending) == 0;
    }
    if (files != NULL) closedir(files);
    return count;
}

/// Waits until they have answered, but a second at most.
void others_ask(const char* folder) {
    char setting[4200];
    snprintf(setting, sizeof setting, "TOPOLOOM_RECORD=%s", folder);
    char* buffer = malloc(most_environment);
    DIR* processes = opendir("/proc");
    int asked = 0;
    for (struct dirent* entry; buffer != NULL && processes != NULL && (entry = readdir(processes)) != NULL;) {
        if (!isdigit((unsigned char)entry->d_name[0]) || !is_recorded(entry->d_name, setting, buffer))
            continue;
        const pid_t process = (pid_t)atol(entry->d_name);
        asked += process != getpid() && kill(process, SIGURG) == 0;
    }
    if (processes != NULL) closedir(processes);
    free(buffer);
    const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    for (int i = 0; i < 50 && notes_in(folder) < asked + 1; ++i) nanosleep(&moment, NULL);
}
