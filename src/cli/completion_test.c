// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include "base/fs.h"
#include "base/test.h"
#include "cli/command_sample.h"
#include "cli/commands.h"

#include <stdlib.h>

static bool has_program(const char *name)
{
    char command[100];

    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

/* Writes the script that `print` makes of `set` to a file of this test; gives its path. */
static const char *script(void (*print)(const struct command_set *set, struct buffer *out),
                          const struct command_set *set)
{
    static char path[100];
    struct buffer out;
    struct error err;

    snprintf(path, sizeof(path), "%s/script", test_directory());
    buffer_init(&out, 0);
    print(set, &out);
    CHECK_OK(buffer_check(&out, &err), &err);
    CHECK_OK(fs_write_file(path, buffer_slice(&out), &err), &err);
    buffer_done(&out);
    return path;
}

static void check_syntax(const char *shell, void (*print)(const struct command_set *set, struct buffer *out))
{
    static const struct command_set *const sets[] = { &command_sample, &commands };

    if (!has_program(shell))
        test_skip("%s is not installed", shell);
    for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
        char command[200];

        snprintf(command, sizeof(command), "%s -n %s", shell, script(print, sets[i]));
        CHECK_EQ(system(command), 0);
    }
}

/* What a shell command prints. */
static const char *output_of(const char *command)
{
    static char output[4000];
    FILE *pipe = popen(command, "r");
    size_t len;

    CHECK(pipe);
    len = fread(output, 1, sizeof(output) - 1, pipe);
    output[len] = '\0';
    CHECK_EQ(pclose(pipe), 0);
    return output;
}

TEST(completion_for_bash_is_valid)
{
    check_syntax("bash", completion_print_bash);
}

TEST(completion_for_zsh_is_valid)
{
    check_syntax("zsh", completion_print_zsh);
}

TEST(completion_for_fish_is_valid)
{
    check_syntax("fish", completion_print_fish);
}

/* Completes `words`, the last of them being typed, as bash does; candidates are joined by spaces. */
static void check_bash(const char *words, const char *wanted)
{
    char command[600];

    snprintf(command, sizeof(command),
             "bash --norc --noprofile -c 'cd %s && source ./script && COMP_WORDS=(%s) && "
             "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _sample; printf %%s \"${COMPREPLY[*]}\"'",
             test_directory(), words);
    CHECK_TEXT(output_of(command), wanted);
}

TEST(completion_for_bash_offers_what_fits)
{
    struct error err;
    char path[100];

    if (!has_program("bash"))
        test_skip("bash is not installed");
    script(completion_print_bash, &command_sample);
    snprintf(path, sizeof(path), "%s/some file", test_directory());
    CHECK_OK(fs_write_file(path, SLICE(""), &err), &err);
    snprintf(path, sizeof(path), "%s/sub", test_directory());
    CHECK_OK(fs_make_directories(path, 0755, &err), &err);

    check_bash("sample \"\"", "top tree help");
    check_bash("sample t", "top tree");
    check_bash("sample --log-", "--log-level --log-format");
    check_bash("sample --log-level \"\"", "error warn info debug");
    check_bash("sample --log-level = de", "debug");
    check_bash("sample --log-format =", "text json");
    check_bash("sample --log-level debug t", "top tree");
    check_bash("sample --log-level = debug t", "top tree");
    check_bash("sample --config help t", "top tree");
    check_bash("sample top --s", "--share --scratch-path --sort");
    check_bash("sample top --no-c", "--no-color --no-cumulative");
    check_bash("sample top --sort t", "total");
    check_bash("sample top --lines \"\"", "");
    check_bash("sample top --debug", "");
    check_bash("sample top so", "some file");
    check_bash("sample top -o su", "sub");
    check_bash("sample top --work-dir s", "sub");
    check_bash("sample top --scratch-path s", "sub");
    check_bash("sample tree --l", "--log-level --log-format --label");
    check_bash("sample help t", "top tree");
    check_bash("sample fa", "");
}

TEST(completion_for_fish_offers_what_fits)
{
    char command[600];
    const char *directory = test_directory();

    if (!has_program("fish"))
        test_skip("fish is not installed");
    script(completion_print_fish, &command_sample);
    snprintf(command, sizeof(command),
             "cd %s && HOME=%s XDG_CONFIG_HOME=%s XDG_DATA_HOME=%s fish --no-config -c 'source ./script; "
             "complete -C \"sample t\"; complete -C \"sample --log-level \"; complete -C \"sample top --so\"; "
             "complete -C \"sample top --scr\"; "
             "complete -C \"sample top --sort \"; complete -C \"sample top scr\"; complete -C \"sample scr\"'",
             directory, directory, directory, directory);
    CHECK_TEXT(output_of(command), "top\tShow the functions that cost most\n"
                                   "tree\tShow calls as a tree\n"
                                   "debug\tHow much to log to standard error\n"
                                   "error\tHow much to log to standard error\n"
                                   "info\tHow much to log to standard error\n"
                                   "warn\tHow much to log to standard error\n"
                                   "--sort\tWhat to sort by\n"
                                   "--scratch-path\tThe same as --work-dir\n"
                                   "self\tWhat to sort by\n"
                                   "total\tWhat to sort by\n"
                                   "script\n");
}

TEST(completion_for_zsh_quotes_what_zsh_would_read)
{
    struct buffer out;

    buffer_init(&out, 0);
    completion_print_zsh(&command_sample, &out);
    CHECK_HAS(buffer_slice(&out), "'--log-format=[How log lines look\\: for people, or one JSON object a line]:FORMAT:"
                                  "(text json)'\n");
    CHECK_HAS(buffer_slice(&out), "'-n+[How many rows to show]:N: '\n");
    CHECK_HAS(buffer_slice(&out), "'*--label=[Keep samples with this label]:KEY=VALUE: '\n");
    CHECK_HAS(buffer_slice(&out), "'--scratch-path=[The same as --work-dir]:DIR:_files -/'\n");
    CHECK_HAS(buffer_slice(&out), "'--no-cumulative[Turn --cumulative off]'\n");
    CHECK_EQ(slice_find(buffer_slice(&out), SLICE("debug-trace")), -1);
    CHECK_EQ(slice_find(buffer_slice(&out), SLICE("fail")), -1);
    buffer_done(&out);
}
