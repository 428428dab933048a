// timed REPORT PROGRAM ARGUMENT... runs a program and writes "status cpu wall peak" of it to REPORT: seconds, bytes.
//
// cpu is user and system time of all processes that were waited for, peak the memory of the largest one. Linux takes what
// its parent used into the peak of a new process, so that it has to be started by a small one.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

int main(int count, char **words) {
    if (count < 3) return 2;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        execvp(words[2], words + 2);
        _exit(127);
    }
    struct rusage used;
    int status = 0;
    if (child < 0 || wait4(child, &status, 0, &used) < 0) return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    double wall = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    FILE *report = fopen(words[1], "w");
    if (!report) return 1;
    fprintf(report, "%d %.6f %.6f %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            seconds(used.ru_utime) + seconds(used.ru_stime), wall, used.ru_maxrss * 1024);
    return fclose(report) != 0;
}
