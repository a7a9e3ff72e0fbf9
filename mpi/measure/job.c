// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "job.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "abort_message.h"

void exit_with_problem(const struct job* job, const char* format, ...) {
    if (job->output != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fputs("problem ", job->output);
        vfprintf(job->output, format, arguments);
        fputc('\n', job->output);
        va_end(arguments);
        fclose(job->output);
    }
    MPI_Finalize();
    exit(0);
}

static FILE* open_file_in_folder(const char* folder, const char* name, const char* mode) {
    char* path = NULL;
    FILE* file = asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : fopen(path, mode);
    if (file == NULL) {
        print_before_abort(
            "topoloom: rank 0 cannot open '%s' in '%s'; start in a folder that its host sees\n", name,
            folder);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    free(path);
    return file;
}

static void broadcast_text(struct job* job, const char* folder) {
    int rank = 0, length = 0;
    size_t capacity = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        FILE* file = open_file_in_folder(folder, "cases", "re");
        length = (int)getdelim(&job->text, &capacity, '\0', file);
        fclose(file);
        job->output = open_file_in_folder(folder, "samples", "we");
    }
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank != 0) job->text = malloc((size_t)length + 1);
    MPI_Bcast(job->text, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    job->text[length] = '\0';
}

static void read_job_line(struct job* job, char* line) {
    char* value = strchr(line, ' ');
    if (value == NULL) return;
    *value++ = '\0';
    if (strcmp(line, "operation") == 0) {
        job->operation = find_operation(value);
        job->our_call = find_our_operation(value);
    }
    if (strcmp(line, "ranks") == 0) job->ranks = atoi(value);
    if (strcmp(line, "root") == 0) job->root = atoi(value);
    if (strcmp(line, "repeats") == 0) job->repeats = atoi(value);
    if (strcmp(line, "trace") == 0) job->trace = value;
    if (strcmp(line, "way") == 0) job->variants[job->variant_count++] = value;
    if (strcmp(line, "case") == 0) {
        struct sized_case* one = &job->cases[job->case_count++];
        one->bytes = (int)strtol(value, &value, 10);
        one->variant = atoi(value);
    }
}

void read_job(struct job* job, const char* folder) {
    *job = (struct job){.text = NULL};
    broadcast_text(job, folder);
    size_t lines = 1;
    for (const char* at = job->text; *at != '\0'; ++at) lines += *at == '\n';
    job->variants = malloc(lines * sizeof *job->variants);
    job->cases = malloc(lines * sizeof *job->cases);
    char* rest = job->text;
    for (char* line; (line = strsep(&rest, "\n")) != NULL;) read_job_line(job, line);
}

void free_job(struct job* job) {
    if (job->output != NULL) fclose(job->output);
    free(job->text);
    free(job->variants);
    free(job->cases);
}
