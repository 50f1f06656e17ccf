// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapefiles.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/vec.h"

#include <glob.h>
#include <stdio.h>

#define FILE_ARENA_BYTES (256u << 20)

/* What tells that a file is another. */
struct file_sign {
    uint64_t device, inode;
    int64_t size, modified_ns, changed_ns;
};

struct target_file {
    char *path; /* owned */
    struct file_sign sign;
    int64_t read_mono_ns;
    struct arena *arena; /* of the groups; owned, NULL before the first good read */
    const struct scrapeconfig_group *groups;
    size_t n_groups;
    bool has_failed, is_there;
};

struct file_source {
    const struct scrapeconfig_job *job;
    const struct scrapeconfig_files *config;
    VEC(struct target_file) files;
};

struct scrapefiles {
    VEC(struct file_source) sources;
    size_t n_files;
};

static void free_arena(struct arena **arena)
{
    if (*arena)
        arena_done(*arena);
    memory_free(*arena);
}

static void forget_file(struct target_file *file)
{
    memory_free(file->path);
    free_arena(&file->arena);
}

void scrapefiles_free(struct scrapefiles *files)
{
    if (!files)
        return;
    VEC_EACH (&files->sources, source) {
        VEC_EACH (&source->files, file)
            forget_file(file);
        VEC_DONE(&source->files);
    }
    VEC_DONE(&files->sources);
    memory_free(files);
}

static void free_files(struct scrapefiles **files)
{
    scrapefiles_free(*files);
}

int scrapefiles_new(const struct scrapeconfig *config, struct scrapefiles **ret_files, struct error *err)
{
    AUTO(free_files) struct scrapefiles *files = MEMORY_NEW(struct scrapefiles, err);

    if (!files)
        return -1;
    for (size_t i = 0; i < config->n; i++) {
        for (size_t j = 0; j < config->jobs[i].n_files; j++) {
            struct file_source *source = VEC_PUSH(&files->sources, SIZE_MAX, err);

            if (!source)
                return -1;
            source->job = &config->jobs[i];
            source->config = &config->jobs[i].files[j];
        }
    }
    *ret_files = TAKE(files);
    return 0;
}

/* --- reading one --- */

/* Every group also says which file it is from. */
static int add_file_label(struct scrapeconfig_group *group, const char *path, struct arena *arena, struct error *err)
{
    struct configtree *labels = ARENA_NEW(arena, struct configtree, err), *label;

    label = labels ? ARENA_NEW(arena, struct configtree, err) : NULL;
    if (!label)
        return -1;
    *label = (struct configtree){ .kind = CONFIGTREE_TEXT, .key = SLICE("__meta_filepath"), .text = slice_from(path) };
    label->next = group->labels ? group->labels->first : NULL;
    *labels = (struct configtree){ .kind = CONFIGTREE_MAP, .first = label };
    group->labels = labels;
    return 0;
}

static int read_groups(const char *path, struct arena *arena, const struct scrapeconfig_group **ret_groups,
                       size_t *ret_n, struct error *err)
{
    const struct scrapeconfig_group *read;
    struct scrapeconfig_group *groups;
    const struct configtree *tree;
    struct slice own_path;
    size_t n;

    if (configtree_read(path, arena, &tree, err) < 0 || scrapeconfig_read_groups(tree, arena, &read, &n, err) < 0)
        return -1;
    own_path = arena_copy(arena, slice_from(path), err);
    groups = own_path.ptr ? ARENA_ARRAY(arena, struct scrapeconfig_group, n, err) : NULL;
    if (!groups)
        return -1;
    for (size_t i = 0; i < n; i++) {
        groups[i] = read[i];
        if (add_file_label(&groups[i], own_path.ptr, arena, err) < 0)
            return -1;
    }
    *ret_groups = groups;
    *ret_n = n;
    return 0;
}

/* Puts new groups in the place of the old ones, if they can be read. */
static int read_file(struct target_file *file, struct error *err)
{
    AUTO(free_arena) struct arena *arena = MEMORY_NEW(struct arena, err);

    if (!arena)
        return -1;
    arena_init(arena, FILE_ARENA_BYTES);
    if (read_groups(file->path, arena, &file->groups, &file->n_groups, err) < 0)
        return -1;
    free_arena(&file->arena);
    file->arena = TAKE(arena);
    return 0;
}

static struct file_sign sign_of(const struct stat *info)
{
    return (struct file_sign){
        .device = info->st_dev,
        .inode = info->st_ino,
        .size = info->st_size,
        .modified_ns = info->st_mtim.tv_sec * (int64_t)1000000000 + info->st_mtim.tv_nsec,
        .changed_ns = info->st_ctim.tv_sec * (int64_t)1000000000 + info->st_ctim.tv_nsec,
    };
}

static bool is_same_sign(const struct file_sign *a, const struct file_sign *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size && a->modified_ns == b->modified_ns &&
           a->changed_ns == b->changed_ns;
}

static void note_failure(struct target_file *file, const struct error *err)
{
    if (!file->has_failed)
        log_warn("scrape", "targets of '%s' could not be read, the earlier ones stay: %s", file->path, err->text);
    file->has_failed = true;
}

/* Reads the file if it is due. Only running out of memory is an error here. */
static int look_at(struct target_file *file, const struct scrapeconfig_files *config, int64_t now_mono_ns,
                   struct scrapefiles_look *look, struct error *err)
{
    struct file_sign sign = { 0 };
    struct stat info;

    if (fs_stat(file->path, &info, err) == 0)
        sign = sign_of(&info);
    if (file->arena && is_same_sign(&sign, &file->sign) && now_mono_ns - file->read_mono_ns < config->refresh_ns &&
        !file->has_failed)
        return 0;
    if (read_file(file, err) < 0) {
        if (err->code == ERR_MEMORY)
            return -1;
        note_failure(file, err);
        look->n_failures++;
        return 0;
    }
    file->sign = sign;
    file->read_mono_ns = now_mono_ns;
    file->has_failed = false;
    look->is_changed = true;
    return 0;
}

/* --- finding them --- */

static struct target_file *find_file(struct scrapefiles *files, struct file_source *source, const char *path,
                                     struct error *err)
{
    struct target_file *added;
    size_t bytes = strlen(path) + 1;
    char *own;

    VEC_EACH (&source->files, file)
        if (strcmp(file->path, path) == 0)
            return file;
    if (files->n_files == SCRAPEFILES_MAX) {
        error_set(err, ERR_LIMIT, "there are more than %d files of targets; '%.64s' is not read", SCRAPEFILES_MAX,
                  path);
        return NULL;
    }
    own = memory_alloc(bytes, err);
    added = own ? VEC_PUSH(&source->files, SCRAPEFILES_MAX, err) : NULL;
    if (!added) {
        memory_free(own);
        return NULL;
    }
    memcpy(own, path, bytes);
    added->path = own;
    files->n_files++;
    return added;
}

static int look_at_matches(struct scrapefiles *files, struct file_source *source, const glob_t *found,
                           int64_t now_mono_ns, struct scrapefiles_look *look, struct error *err)
{
    for (size_t i = 0; i < found->gl_pathc; i++) {
        struct target_file *file = find_file(files, source, found->gl_pathv[i], err);

        if (!file && err->code == ERR_MEMORY)
            return -1;
        if (!file) {
            LOG_EVERY(60, LOG_WARN, "scrape", "%s", err->text);
            look->n_failures++;
            continue;
        }
        file->is_there = true;
        look->n_files++;
        if (look_at(file, source->config, now_mono_ns, look, err) < 0)
            return -1;
    }
    return 0;
}

static int look_for(struct scrapefiles *files, struct file_source *source, struct slice pattern, int64_t now_mono_ns,
                    struct scrapefiles_look *look, struct error *err)
{
    struct slice directory = pattern.ptr[0] == '/' ? SLICE("") : source->config->directory;
    AUTO(buffer_done) struct buffer path;
    glob_t found = { 0 };
    int result, code;

    buffer_init(&path, 0);
    buffer_printf(&path, "%.*s%.*s", SLICE_ARG(directory), SLICE_ARG(pattern));
    if (buffer_check(&path, err) < 0)
        return -1;
    code = glob(path.data, 0, NULL, &found);
    if (code == GLOB_NOSPACE)
        return error_set(err, ERR_MEMORY, "no memory to look for '%.96s'", path.data);
    result = code == 0 ? look_at_matches(files, source, &found, now_mono_ns, look, err) : 0;
    globfree(&found);
    return result;
}

static void forget_missing(struct scrapefiles *files, struct file_source *source, struct scrapefiles_look *look)
{
    size_t n = 0;

    for (size_t i = 0; i < source->files.n; i++) {
        struct target_file *file = &source->files.items[i];

        if (file->is_there) {
            source->files.items[n++] = *file;
            continue;
        }
        look->is_changed = look->is_changed || file->n_groups > 0;
        forget_file(file);
        files->n_files--;
    }
    source->files.n = n;
}

int scrapefiles_refresh(struct scrapefiles *files, int64_t now_mono_ns, struct scrapefiles_look *ret_look,
                        struct error *err)
{
    struct scrapefiles_look look = { 0 };

    VEC_EACH (&files->sources, source) {
        VEC_EACH (&source->files, file)
            file->is_there = false;
        for (const struct configtree *node = source->config->patterns->first; node; node = node->next)
            if (node->text.len > 0 && look_for(files, source, node->text, now_mono_ns, &look, err) < 0)
                return -1;
        forget_missing(files, source, &look);
    }
    *ret_look = look;
    return 0;
}

int scrapefiles_each(struct scrapefiles *files,
                     int (*visit)(void *context, const struct scrapeconfig_job *job,
                                  const struct scrapeconfig_group *group, struct error *err),
                     void *context, struct error *err)
{
    VEC_EACH (&files->sources, source)
        VEC_EACH (&source->files, file)
            for (size_t i = 0; i < file->n_groups; i++)
                if (visit(context, source->job, &file->groups[i], err) < 0)
                    return -1;
    return 0;
}
