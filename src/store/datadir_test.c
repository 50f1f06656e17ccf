// SPDX-License-Identifier: Apache-2.0
#include "store/datadir.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/test.h"
#include "pack/checksum.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *place(const char *name)
{
    static char paths[8][300];
    static unsigned next;
    char *path = paths[next++ % ARRAY_LEN(paths)];

    snprintf(path, sizeof(paths[0]), "%s/%s", test_directory(), name);
    return path;
}

static void write_text(const char *path, const char *text)
{
    struct error err;

    CHECK_OK(fs_write_file(path, slice_from(text), &err), &err);
}

/* Reads a FORMAT of these lines and the checksum that belongs to them. */
static int parse(const char *lines, uint64_t *ret_seed, struct error *err)
{
    char text[256];

    snprintf(text, sizeof(text), "%scheck %08x\n", lines, checksum_crc32c(0, slice_from(lines)));
    return datadir_parse_format(text, strlen(text), ret_seed, err);
}

/* --- FORMAT --- */

TEST(datadir_reads_the_format)
{
    uint64_t seed = 0;
    struct error err;

    CHECK_OK(parse("hearth store 1.0\nseed 0123456789abcdef\n", &seed, &err), &err);
    CHECK_EQ(seed, 0x0123456789abcdef);
    /* A newer minor version may say more. */
    CHECK_OK(parse("hearth store 1.77\nflavour sweet\nseed ff\nmore\n", &seed, &err), &err);
    CHECK_EQ(seed, 0xff);
}

TEST(datadir_refuses_a_newer_major_version_and_says_which)
{
    uint64_t seed = 42;
    struct error err;

    CHECK_ERROR(parse("hearth store 2.0\n", &seed, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "it has format 2.0, which is newer than this hearth knows (1.1)");
    CHECK_HAS(err.text, "nothing was changed");
    /* What else a newer one says, nobody here knows. */
    CHECK_ERROR(datadir_parse_format("hearth store 2.0\n", 17, &seed, &err), &err, ERR_VERSION);
    CHECK_ERROR(parse("hearth store 18446744073709551615.3\nseed 1\n", &seed, &err), &err, ERR_VERSION);
    CHECK_EQ(seed, 42);
}

TEST(datadir_refuses_formats_that_are_none)
{
    static const struct {
        const char *lines, *words;
    } bad[] = {
        { "", "does not begin with 'hearth store '" },
        { "something else\n", "does not begin" },
        { "hearth store \nseed 1\n", "no version" },
        { "hearth store one\nseed 1\n", "no version such as 'hearth store 1.1'" },
        { "hearth store 1\nseed 1\n", "no version" },
        { "hearth store 1.\nseed 1\n", "no version" },
        { "hearth store .0\nseed 1\n", "no version" },
        { "hearth store -1.0\nseed 1\n", "no version" },
        { "hearth store 1.0\n", "no line 'seed'" },
        { "hearth store 1.0\nseed \n", "no line 'seed'" },
        { "hearth store 1.0\nseed xyz\n", "no line 'seed'" },
        { "hearth store 1.0\nseed 00123456789abcdef0\n", "no line 'seed'" },
        { "hearth store 1.0\nseedling 1\n", "no line 'seed'" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        uint64_t seed = 42;
        struct error err;

        CHECK_ERROR(parse(bad[i].lines, &seed, &err), &err, ERR_CORRUPT);
        CHECK_HAS(err.text, bad[i].words);
        CHECK_EQ(seed, 42);
    }
}

TEST(datadir_notices_every_change_of_the_format)
{
    char text[128];
    struct error err;
    uint64_t seed = 42;
    size_t len;

    snprintf(text, sizeof(text), "hearth store 1.0\nseed 0123456789abcdef\n");
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "check %08x\n", checksum_crc32c(0, slice_from(text)));
    len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        CHECK(datadir_parse_format(text, i, &seed, &err) < 0 || i == len - 1);
        for (unsigned bit = 0; bit < 8; bit++) {
            text[i] ^= (char)(1 << bit);
            /* A letter of the checksum may become a capital one. */
            CHECK(datadir_parse_format(text, len, &seed, &err) < 0 || seed == 0x0123456789abcdef);
            text[i] ^= (char)(1 << bit);
        }
    }
    CHECK_OK(datadir_parse_format(text, len, &seed, &err), &err);
}

/* --- the directory --- */

/* Every file below `path`: name, size, time of change and a hash of the content. */
static void print_tree(const char *path, struct buffer *out)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(fs_list(path, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        const char *below = arena_printf(&arena, &err, "%s/%s", path, listing.names[i]);
        struct stat info;
        struct buffer content;

        CHECK_OK(fs_stat(below, &info, &err), &err);
        buffer_printf(out, "%s %lld.%09ld\n", below, (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
        if (S_ISDIR(info.st_mode)) {
            print_tree(below, out);
            continue;
        }
        buffer_init(&content, 0);
        CHECK_OK(fs_read_file(below, 0, &content, &err), &err);
        buffer_printf(out, "  %zu %016llx\n", content.len, (unsigned long long)hash_bytes64(buffer_slice(&content), 1));
        buffer_done(&content);
    }
}

TEST(datadir_makes_a_directory_and_finds_it_again)
{
    struct datadir datadir;
    struct buffer format;
    struct error err;
    uint64_t seed;

    CHECK_OK(datadir_open(&datadir, place("a/b/"), false, &err), &err);
    seed = datadir.seed;
    CHECK_TEXT(datadir.path, place("a/b"));
    CHECK_TEXT(datadir.profiles, place("a/b/profiles"));
    CHECK_TEXT(datadir.meta, place("a/b/meta"));
    CHECK_TEXT(datadir.quarantine, place("a/b/quarantine"));
    CHECK_TEXT(datadir.scratch, place("a/b/tmp"));
    write_text(place("a/b/tmp/left"), "over");
    datadir_close(&datadir);
    buffer_init(&format, 0);
    CHECK_OK(fs_read_file(place("a/b/FORMAT"), 0, &format, &err), &err);
    CHECK_HAS(buffer_slice(&format), "hearth store 1.1\nseed ");
    CHECK_HAS(buffer_slice(&format), "\ncheck ");
    buffer_done(&format);
    CHECK_OK(datadir_open(&datadir, place("a/b"), false, &err), &err);
    CHECK_EQ(datadir.seed, seed);
    /* What was on its way is gone. */
    CHECK_ERROR(fs_size(place("a/b/tmp/left"), &seed, &err), &err, ERR_NOT_FOUND);
    datadir_close(&datadir);
}

/* Opens the directory with a FORMAT of these lines, and checks what they are afterwards. */
static void check_format_becomes(const char *lines, bool is_read_only, const char *wanted)
{
    char text[256];
    struct datadir datadir;
    struct buffer format;
    struct error err;

    snprintf(text, sizeof(text), "%scheck %08x\n", lines, checksum_crc32c(0, slice_from(lines)));
    write_text(place("a/FORMAT"), text);
    CHECK_OK(datadir_open(&datadir, place("a"), is_read_only, &err), &err);
    datadir_close(&datadir);
    snprintf(text, sizeof(text), "%scheck %08x\n", wanted, checksum_crc32c(0, slice_from(wanted)));
    buffer_init(&format, 0);
    CHECK_OK(fs_read_file(place("a/FORMAT"), 0, &format, &err), &err);
    CHECK_TEXT(buffer_slice(&format), text);
    buffer_done(&format);
}

TEST(datadir_says_the_present_minor_version_once_it_writes)
{
    struct error err;

    CHECK_OK(fs_make_directories(place("a"), 0700, &err), &err);
    check_format_becomes("hearth store 1.0\nseed 12\n", true, "hearth store 1.0\nseed 12\n");
    check_format_becomes("hearth store 1.0 \nflavour sweet\nseed 12\nmore\n", false,
                         "hearth store 1.1\nflavour sweet\nseed 12\nmore\n");
    check_format_becomes("hearth store 1.77\nseed 12\n", false, "hearth store 1.77\nseed 12\n");
}

/* A child that opens the directory for reading, tells where its scratch directory is, and waits to be killed. */
static pid_t start_reader(const char *path, char scratch[static 300])
{
    struct datadir datadir;
    struct error err;
    int ends[2];
    ssize_t len;
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        if (datadir_open(&datadir, path, true, &err) == 0 &&
            write(ends[1], datadir.scratch, strlen(datadir.scratch)) > 0)
            pause();
        _exit(1);
    }
    close(ends[1]);
    len = read(ends[0], scratch, 299);
    close(ends[0]);
    CHECK(len > 0);
    scratch[len] = '\0';
    return child;
}

TEST(datadir_removes_what_killed_readers_left)
{
    struct datadir datadir;
    char dead[300], alive[300], other[300], before[300];
    struct stat info;
    struct error err;
    pid_t killed, living;

    CHECK_OK(datadir_open(&datadir, place("a"), false, &err), &err);
    datadir_close(&datadir);
    CHECK_OK(fs_make_directories(place("t"), 0700, &err), &err);
    snprintf(before, sizeof(before), "%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    setenv("TMPDIR", place("t"), 1);
    living = start_reader(place("a"), alive);
    killed = start_reader(place("a"), dead);
    kill(killed, SIGKILL);
    CHECK_EQ(waitpid(killed, NULL, 0), killed);
    snprintf(other, sizeof(other),
             "%s/"
             "hearth-reader-notes",
             place("t"));
    CHECK_OK(fs_make_directories(other, 0700, &err), &err);
    CHECK_OK(fs_stat(dead, &info, &err), &err);
    CHECK_OK(datadir_open(&datadir, place("a"), true, &err), &err);
    CHECK_ERROR(fs_stat(dead, &info, &err), &err, ERR_NOT_FOUND);
    CHECK_OK(fs_stat(alive, &info, &err), &err);
    CHECK_OK(fs_stat(other, &info, &err), &err);
    CHECK_OK(fs_stat(datadir.scratch, &info, &err), &err);
    datadir_close(&datadir);
    kill(living, SIGKILL);
    CHECK_EQ(waitpid(living, NULL, 0), living);
    setenv("TMPDIR", before, 1);
}

TEST(datadir_gives_each_directory_a_seed_of_its_own)
{
    struct datadir a, b;
    struct error err;

    CHECK_OK(datadir_open(&a, place("a"), false, &err), &err);
    CHECK_OK(datadir_open(&b, place("b"), false, &err), &err);
    CHECK(a.seed != b.seed);
    datadir_close(&a);
    datadir_close(&b);
}

TEST(datadir_leaves_a_newer_format_as_it_is)
{
    struct datadir datadir;
    struct buffer before, after;
    struct error err;

    CHECK_OK(datadir_open(&datadir, place("d"), false, &err), &err);
    datadir_close(&datadir);
    write_text(place("d/tmp/something"), "a new kind of file");
    write_text(place("d/FORMAT"), "hearth store 3.1\nseed 1\n");
    buffer_init(&before, 0);
    buffer_init(&after, 0);
    print_tree(place("d"), &before);
    CHECK_ERROR(datadir_open(&datadir, place("d"), false, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "data directory '");
    CHECK_HAS(err.text, "it has format 3.1");
    CHECK_ERROR(datadir_open(&datadir, place("d"), true, &err), &err, ERR_VERSION);
    print_tree(place("d"), &after);
    CHECK_TEXT(buffer_slice(&after), buffer_slice(&before));
    buffer_done(&before);
    buffer_done(&after);
}

TEST(datadir_refuses_a_second_process_and_names_the_first)
{
    struct datadir datadir, second;
    struct error err;
    char words[64];
    int status;
    pid_t child;

    CHECK_OK(datadir_open(&datadir, place("d"), false, &err), &err);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        snprintf(words, sizeof(words), "process %ld has it open", (long)getppid());
        _exit(datadir_open(&second, place("d"), false, &err) < 0 && err.code == ERR_BUSY && strstr(err.text, words)
                  ? 0
                  : 1);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    /* Readers are welcome. */
    CHECK_OK(datadir_open(&second, place("d"), true, &err), &err);
    CHECK_EQ(second.seed, datadir.seed);
    datadir_close(&second);
    datadir_close(&datadir);
    CHECK_OK(datadir_open(&second, place("d"), false, &err), &err);
    datadir_close(&second);
}

TEST(datadir_is_free_again_when_its_process_died)
{
    struct datadir datadir;
    struct error err;
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        if (datadir_open(&datadir, place("d"), false, &err) < 0)
            _exit(1);
        _exit(0); /* without closing */
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_OK(datadir_open(&datadir, place("d"), false, &err), &err);
    datadir_close(&datadir);
}

TEST(datadir_does_not_take_over_a_directory_of_something_else)
{
    struct datadir datadir;
    struct buffer before, after;
    struct error err;

    CHECK_OK(fs_make_directories(place("photos"), 0700, &err), &err);
    write_text(place("photos/cat.jpg"), "meow");
    buffer_init(&before, 0);
    buffer_init(&after, 0);
    print_tree(place("photos"), &before);
    CHECK_ERROR(datadir_open(&datadir, place("photos"), false, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "no file FORMAT");
    CHECK_HAS(err.text, "'cat.jpg'");
    print_tree(place("photos"), &after);
    CHECK_TEXT(buffer_slice(&after), buffer_slice(&before));
    buffer_done(&before);
    buffer_done(&after);
    CHECK_ERROR(datadir_open(&datadir, place("photos"), true, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "there is no store here");
    write_text(place("file"), "x");
    CHECK(datadir_open(&datadir, place("file"), false, &err) < 0);
    CHECK_HAS(err.text, "/file");
}

TEST(datadir_tells_a_store_without_its_format_from_something_else)
{
    static const char *const others[] = { "lost/LOCK", "lost/tmp", "lost/meta", "lost/quarantine" };
    struct datadir datadir;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        CHECK_OK(fs_make_directories(place(others[i]), 0700, &err), &err);
    CHECK_OK(fs_make_directories(place("lost/profiles/2026-11-15"), 0700, &err), &err);
    CHECK_ERROR(datadir_open(&datadir, place("lost"), false, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "its file FORMAT is missing, though it has days in 'profiles'; take the file from a backup");
}

TEST(datadir_finishes_a_creation_that_was_interrupted)
{
    struct datadir datadir;
    struct error err;

    CHECK_OK(fs_make_directories(place("d/lost+found"), 0700, &err), &err);
    write_text(place("d/LOCK"), "1\n");
    write_text(place("d/FORMAT.tmp123"), "hearth sto");
    CHECK_OK(datadir_open(&datadir, place("d"), false, &err), &err);
    datadir_close(&datadir);
    /* A FORMAT that is there and cannot be read is not overwritten. */
    write_text(place("d/FORMAT"), "");
    CHECK_ERROR(datadir_open(&datadir, place("d"), false, &err), &err, ERR_CORRUPT);
}

static int open_anew(void *context, struct error *err)
{
    struct datadir datadir;

    if (datadir_open(&datadir, context, false, err) < 0)
        return -1;
    datadir_close(&datadir);
    return 0;
}

TEST(datadir_survives_failing_allocations)
{
    char path[300];

    snprintf(path, sizeof(path), "%s", place("d"));
    test_each_allocation_failing(open_anew, path);
}

TEST(datadir_can_be_opened_after_any_file_call_failed)
{
    for (uint64_t nth = 1;; nth++) {
        struct error err;
        char path[300];
        int result;
        bool has_failed;

        snprintf(path, sizeof(path), "%s/%llu", test_directory(), (unsigned long long)nth);
        fs_fail_at(nth, ENOSPC);
        result = open_anew(path, &err);
        has_failed = fs_fail_at(0, 0) >= nth;
        if (result < 0)
            CHECK_EQ(err.code, ERR_FULL);
        CHECK_OK(open_anew(path, &err), &err);
        if (!has_failed)
            break;
    }
}
