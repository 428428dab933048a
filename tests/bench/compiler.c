// Stands in for bisheng where the graph is measured and not the compiler: copies the source to -o, and writes the
// dependency file that -MF asks for. Knows #include "..." only. One call costs about as much as starting a process.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 256, kName = 4096 };

static const char *folders[kMost];
static char *found[kMost];
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
    found[found_count++] = strdup(path);
    for (char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n \t");
        if (strncmp(line, "#include", 8) != 0) continue;
        char *name = line + 8 + strspn(line + 8, " \t");
        if (*name == '"') include(path, name + 1, strcspn(name + 1, "\"\n"));
    }
    free(text);
}

int main(int count, char **words) {
    const char *arch = "", *output = NULL, *depfile = NULL, *target = NULL, *source = NULL;
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
        else if (strncmp(word, "--npu-arch=", 11) == 0)
            arch = word + 11;
        else if (word[0] != '-' && word[0] != '@')
            source = word;
    }
    char *text = source ? read_file(source) : NULL;
    FILE *file = text && output ? fopen(output, "wb") : NULL;
    if (!file) {
        fprintf(stderr, "bisheng: cannot compile %s to %s\n", source ? source : "nothing", output ? output : "nothing");
        return 1;
    }
    fprintf(file, "object %s\n%s", arch, text);
    if (fclose(file) != 0) return 1;
    if (depfile) {
        collect(source);
        file = fopen(depfile, "wb");
        if (!file) return 1;
        fprintf(file, "%s:", target ? target : output);
        for (int i = 0; i < found_count; ++i) fprintf(file, " %s", found[i]);
        fputs("\n", file);
        return fclose(file) != 0;
    }
    return 0;
}
