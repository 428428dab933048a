// Stands in for bisheng where builds are disturbed: what it writes holds the text of every file that was read, so that
// nothing stale goes unseen, and it takes its time in the middle of writing, so that a killed one leaves half a file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 256, kName = 4096 };

static const char *folders[kMost];
static char *found[kMost], *texts[kMost];
static int folder_count, found_count;

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    if (text) text[fread(text, 1, (size_t)size, file)] = 0;
    fclose(file);
    return text;
}

static void collect(const char *path);

static void include(const char *from, const char *name, size_t length) {
    const char *slash = strrchr(from, '/');
    char place[kName];
    for (int i = -1; i < folder_count; ++i) {
        const char *folder = i >= 0 ? folders[i] : from;
        int width = i >= 0 ? (int)strlen(folder) : slash ? (int)(slash - from) : 0;
        snprintf(place, sizeof place, "%.*s%s%.*s", width, folder, width ? "/" : "", (int)length, name);
        if (access(place, R_OK) == 0) {
            collect(place);
            return;
        }
    }
}

static void collect(const char *path) {
    for (int i = 0; i < found_count; ++i)
        if (strcmp(found[i], path) == 0) return;
    char *text = read_file(path);
    if (!text || found_count == kMost) return;
    texts[found_count] = text;
    found[found_count++] = strdup(path);
    for (char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n \t");
        if (strncmp(line, "#error", 6) == 0) {
            fprintf(stderr, "%s:1:2: error: %.*s\n", path, (int)strcspn(line, "\n"), line);
            exit(1);
        }
        if (strncmp(line, "#include", 8) != 0) continue;
        char *name = line + 8 + strspn(line + 8, " \t");
        if (*name == '"') include(path, name + 1, strcspn(name + 1, "\"\n"));
    }
}

// At most so many milliseconds as the file `delay` beside the program says.
static void take_time(const char *program) {
    char place[kName];
    const char *slash = strrchr(program, '/');
    snprintf(place, sizeof place, "%.*s/delay", slash ? (int)(slash - program) : 1, slash ? program : ".");
    char *text = read_file(place);
    int most = text ? atoi(text) : 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    srand((unsigned)now.tv_nsec ^ (unsigned)getpid());
    if (most > 0) usleep((useconds_t)(rand() % most) * 1000);
}

int main(int count, char **words) {
    const char *output = NULL, *depfile = NULL, *target = NULL, *source = NULL;
    char flags[1 << 16] = "";
    for (int i = 1; i < count; ++i) {
        const char *word = words[i];
        int more = i + 1 < count;
        if (strcmp(word, "-o") == 0 && more)
            output = words[++i];
        else if (strcmp(word, "-MF") == 0 && more)
            depfile = words[++i];
        else if (strcmp(word, "-MT") == 0 && more)
            target = words[++i];
        else if (strcmp(word, "-iquote") == 0 && more && folder_count < kMost)
            folders[folder_count++] = words[++i];
        else if (strcmp(word, "-x") == 0 && more)
            ++i;
        else if (strncmp(word, "-I", 2) == 0 && folder_count < kMost)
            folders[folder_count++] = word + 2;
        else if (word[0] == '@') {
            char *text = read_file(word + 1);
            if (!text) return 1;
            strncat(flags, text, sizeof flags - strlen(flags) - 2);
        } else if (word[0] != '-')
            source = word;
        else {
            strncat(flags, word, sizeof flags - strlen(flags) - 2);
            strcat(flags, "\n");
        }
    }
    if (!source || !output) {
        fprintf(stderr, "bisheng: error: nothing to do\n");
        return 1;
    }
    collect(source);
    take_time(words[0]);
    FILE *file = found_count ? fopen(output, "wb") : NULL;
    if (!file) {
        fprintf(stderr, "bisheng: error: cannot compile %s to %s\n", source, output);
        return 1;
    }
    fputs(flags, file);
    fflush(file);
    take_time(words[0]);
    for (int i = 0; i < found_count; ++i) fprintf(file, "== %s\n%s", found[i], texts[i]);
    if (fclose(file) != 0) return 1;
    if (depfile) {
        file = fopen(depfile, "wb");
        if (!file) return 1;
        fprintf(file, "%s:", target ? target : output);
        for (int i = 0; i < found_count; ++i) fprintf(file, " %s", found[i]);
        fputs("\n", file);
        return fclose(file) != 0;
    }
    return 0;
}
