// SPDX-License-Identifier: BSD-3-Clause
// Emulates NCCL: loads the plugin in NCCL_PROFILER_PLUGIN, and reports the events of a script.
//
//   nccl_stub VERSION THREADS RANKS_PER_PROCESS END < SCRIPT
//   nccl_stub VERSION THREADS EVENTS time|time-together
//
// Every thread of a rank runs the lines of the script that contain the rank:
//   communicator ID RANK...
//   collective COMMUNICATOR FUNCTION DATATYPE COUNT ROOT TIMES plan|graph|copy|symmetric
//   message COMMUNICATOR SOURCE TARGET DATATYPE COUNT TIMES
// COMMUNICATOR, FUNCTION and DATATYPE are indices. END is finalize, exit (without finalize), kill
// (kills rank 0) or terminate (SIGTERM on all ranks). With GIVE_RANKS, processes of one rank set
// its number as a launcher does.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nccl_stub.h"

enum { MOST = 64 };

struct step {
    int communicator, function, datatype, root, times;
    int source, target;  // ranks of a message; source is -1 for a collective
    size_t count;
    char how;  // first letter of the line's last word
};

struct communicator {
    uint64_t id;
    int ranks[MOST], size;
};

struct member {
    void* context;
    int place, mask;
};

static struct communicator communicators_[MOST];
static struct step steps_[4096];
static int communicator_count_, step_count_, version_, world_;
static const struct plugin* plugin_;
static _Thread_local int device_ = -1;

/// Replaces the CUDA function that the plugin calls.
int cuCtxGetDevice(int* device) {
    *device = device_;
    return device_ < 0;
}

static void write_field(char* event, int offset, const void* value, size_t bytes) {
    memcpy(event + offset, value, bytes);
}

static void write_word(char* event, int offset, const char* const* words, int number) {
    const unsigned char code = (unsigned char)number;
    if (version_ == 1)
        write_field(event, offset, &code, 1);
    else
        write_field(event, offset, &words[number], sizeof words[number]);
}

static void* start_event(const struct member* one, int type, void* parent, const struct step* step,
                         int function, int place) {
    const struct layout* layout = &LAYOUTS[version_];
    char event[BYTES] = {0};
    void* handle = NULL;
    const uint64_t kind = (uint64_t)type;
    write_field(event, 0, &kind, (size_t)layout->type_bytes);
    write_field(event, PARENT, &parent, sizeof parent);
    write_field(event, RANK, &one->place, sizeof one->place);
    if (type == COLLECTIVE_CALL) {
        const char captured = step->how == 'g';
        write_word(event, CALL_FUNCTION, FUNCTIONS, function);
        write_field(event, CALL_COUNT, &step->count, sizeof step->count);
        write_word(event, CALL_DATATYPE, DATATYPES, step->datatype);
        write_field(event, CALL_ROOT, &place, sizeof place);
        write_field(event, CALL_CAPTURED, &captured, 1);
    } else if (type == COLLECTIVE || type == MESSAGE || type == COPY_ENGINE) {
        const int is_message = type == MESSAGE;
        const uint64_t id = communicators_[step->communicator].id;
        if (layout->collective.id) write_field(event, layout->collective.id, &id, sizeof id);
        write_word(event, is_message ? layout->message.function : layout->collective.function, FUNCTIONS,
                   function);
        write_word(event, is_message ? layout->message.datatype : layout->collective.datatype, DATATYPES,
                   step->datatype);
        write_field(event, is_message ? layout->message.count : layout->collective.count, &step->count,
                    sizeof step->count);
        write_field(event, is_message ? layout->message.place : layout->collective.place, &place,
                    sizeof place);
    }
    plugin_->start(one->context, &handle, event);
    return handle;
}

/// Reports a kernel of a planned operation, and the end of the operation.
static void run_kernel(const struct member* one, void* operation, const struct step* step) {
    if (one->mask & KERNEL) plugin_->stop(start_event(one, KERNEL, operation, step, 0, 0));
    plugin_->stop(operation);
}

/// Reports a planned group; up to 2.27, NCCL reports its operations only if the group has a handle.
static void report_group(const struct member* one, void* call, const struct step* step, int type,
                         int function, int place) {
    void* group =
        one->mask & (GROUP | COLLECTIVE | MESSAGE) ? start_event(one, GROUP, NULL, step, 0, 0) : NULL;
    if (one->mask & type && (group != NULL || version_ >= 5))
        run_kernel(one, start_event(one, type, version_ >= 5 ? call : group, step, function, place), step);
    plugin_->stop(group);
}

static void report_collective(const struct member* one, const struct step* step) {
    const int type = step->how == 'c' ? COPY_ENGINE : COLLECTIVE;
    void* call = NULL;
    for (int i = 0; i < step->times; i++) {
        if (version_ >= 5 && (i == 0 || step->how != 'g')) {
            void* group = start_event(one, GROUP_CALL, NULL, step, 0, 0);
            call = start_event(one, COLLECTIVE_CALL, group, step, step->function, step->root);
            plugin_->stop(call);
            plugin_->stop(group);
        }
        if (step->how != 's') report_group(one, call, step, type, step->function, step->root);
    }
}

static void report_message(const struct member* one, const struct step* step) {
    const int sends = one->place == step->source;
    for (int i = 0; i < step->times; i++) {
        void* call = version_ >= 5 ? start_event(one, MESSAGE_CALL, NULL, step, sends ? 6 : 7, 0) : NULL;
        report_group(one, call, step, MESSAGE, sends ? 6 : 7, sends ? step->target : step->source);
        plugin_->stop(call);
    }
}

static void* run_steps(void* members) {
    for (const struct step* step = steps_; step < steps_ + step_count_; step++) {
        const struct member* one = (const struct member*)members + step->communicator;
        if (one->place < 0) continue;
        if (step->source < 0) report_collective(one, step);
        if (step->source == one->place) report_message(one, step);
        if (step->target == one->place && step->source >= 0) report_message(one, step);
    }
    return NULL;
}

static struct member init_communicator(uint64_t id, int place, int size) {
    struct member one = {NULL, place, 0};
    if (version_ < 4)
        plugin_->init(&one.context, &one.mask);
    else if (version_ == 4)
        plugin_->init(&one.context, &one.mask, "name", id, 1, size, place, NULL);
    else
        plugin_->init(&one.context, id, &one.mask, "name", 1, size, place, NULL);
    return one;
}

/// Terminates like torchrun, whose ranks may have children without a plugin.
static void terminate_process(void) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        raise(SIGTERM);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) exit(3);
    raise(SIGTERM);
    for (;;) pause();
}

static void run_as_ranks(int first, int count, int threads, const char* end) {
    struct member members[8][MOST];
    pthread_t running[8 * MOST];
    int started = 0;
    for (int r = 0; r < count; r++) {
        for (int c = 0; c < communicator_count_; c++) {
            const struct communicator* one = &communicators_[c];
            int place = one->size - 1;
            while (place >= 0 && one->ranks[place] != first + r) place--;
            device_ = r;
            members[r][c] =
                place >= 0 ? init_communicator(one->id, place, one->size) : (struct member){NULL, -1, 0};
        }
        for (int t = 0; t < threads; t++) pthread_create(&running[started++], NULL, run_steps, members[r]);
    }
    for (int t = 0; t < started; t++) pthread_join(running[t], NULL);
    if (strcmp(end, "terminate") == 0) terminate_process();
    if (strcmp(end, "kill") == 0 && first == 0) raise(SIGKILL);
    for (int r = 0; r < count && strcmp(end, "finalize") == 0; r++)
        for (int c = 0; c < communicator_count_; c++)
            if (members[r][c].context) plugin_->finalize(members[r][c].context);
}

static void read_script(void) {
    char line[4096], how[16];
    while (fgets(line, sizeof line, stdin)) {
        struct step s = {.source = -1, .target = -1, .how = 'p'};
        int at = 0;
        if (strncmp(line, "communicator", 12) == 0) {
            struct communicator* one = &communicators_[communicator_count_++];
            one->id = strtoull(line + 12, NULL, 0);
            const char* word = strtok(line + 12, " ");
            while ((word = strtok(NULL, " ")) != NULL) {
                const int rank = one->ranks[one->size++] = atoi(word);
                if (rank >= world_) world_ = rank + 1;
            }
        } else if (sscanf(line, "collective %d %d %d %zu %d %d %15s", &s.communicator, &s.function,
                          &s.datatype, &s.count, &s.root, &s.times, how) == 7) {
            s.how = how[0];
            steps_[step_count_++] = s;
        } else if (sscanf(line, "message %d %d %d %d %zu %d%n", &s.communicator, &s.source, &s.target,
                          &s.datatype, &s.count, &s.times, &at) == 6) {
            steps_[step_count_++] = s;
        }
    }
}

static int run_script(int threads, int per_process, const char* end) {
    int failed = 0, status;
    read_script();
    for (int first = 0; first < world_; first += per_process) {
        if (fork() != 0) continue;
        if (per_process == 1 && getenv("GIVE_RANKS")) {
            char text[16];
            snprintf(text, sizeof text, "%d", first);
            setenv("RANK", text, 1);
            snprintf(text, sizeof text, "%d", world_);
            setenv("WORLD_SIZE", text, 1);
        }
        run_as_ranks(first, first + per_process < world_ ? per_process : world_ - first, threads, end);
        exit(0);
    }
    while (wait(&status) > 0) failed |= WIFEXITED(status) && WEXITSTATUS(status);
    return failed;
}

struct timed {
    struct member* one;
    long events;
    double seconds;
};

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// Reports collectives of 64 sizes; apart from filling descriptors, all time is the plugin's.
static void* time_events(void* given) {
    struct timed* timed = given;
    struct step steps[64];
    for (int i = 0; i < 64; i++) steps[i] = (struct step){0, 4, 7, 0, 1, -1, -1, 1000u + (unsigned)i, 'p'};
    const double began = cpu_seconds();
    for (long i = 0; i < timed->events; i++)
        start_event(timed->one, version_ >= 5 ? COLLECTIVE_CALL : COLLECTIVE, NULL, &steps[i % 64], 4, 0);
    timed->seconds = cpu_seconds() - began;
    return NULL;
}

static int time_plugin(int threads, long events, int together) {
    pthread_t running[MOST];
    struct member members[MOST];
    struct timed timed[MOST];
    double seconds = 0;
    communicators_[0].id = 1000;  // events before version 4 contain the id
    for (int t = 0; t < threads; t++) {
        members[t] = t == 0 || !together ? init_communicator(1000u + (unsigned)t, 0, 8) : members[0];
        timed[t] = (struct timed){&members[t], events, 0};
        pthread_create(&running[t], NULL, time_events, &timed[t]);
    }
    for (int t = 0; t < threads; t++) pthread_join(running[t], NULL);
    for (int t = 0; t < threads; t++) seconds += timed[t].seconds;
    for (int t = 0; t < (together ? 1 : threads); t++) plugin_->finalize(members[t].context);
    printf("%.2f\n", 1e9 * seconds / ((double)events * threads));
    return 0;
}

int main(int count, char** words) {
    const char* path = getenv("NCCL_PROFILER_PLUGIN");
    if (count != 5 || path == NULL) return 2;
    char symbol[32];
    version_ = atoi(words[1]);
    if (version_ < 1 || version_ > NEWEST) return 2;
    snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", version_);
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    plugin_ = library ? dlsym(library, symbol) : NULL;
    if (plugin_ == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const int threads = atoi(words[2]);
    if (strncmp(words[4], "time", 4) == 0) return time_plugin(threads, atol(words[3]), words[4][4] == '-');
    return run_script(threads, atoi(words[3]), words[4]);
}
