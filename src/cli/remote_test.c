// SPDX-License-Identifier: Apache-2.0
/* The requests that command lines become; what is answered to them is in tests/e2e/api.sh. */
#include "cli/remote.h"

#include "base/test.h"
#include "cli/commands.h"

#include <stdlib.h>

/* What the last command line would ask for. */
static struct {
    const struct apirow *row;
    struct buffer parameters;
    struct error err;
    int result;
    char *messages;
    size_t messages_len;
} asked;

static int note_request(struct command_context *context, bool *ret_is_done, struct error *err UNUSED)
{
    *ret_is_done = true;
    buffer_done(&asked.parameters);
    buffer_init(&asked.parameters, 0);
    asked.row = NULL;
    asked.result = remote_request(context, &asked.row, &asked.parameters, &asked.err);
    return 0;
}

static void run(int (*elsewhere)(struct command_context *context, bool *ret_is_done, struct error *err),
                const char *variable, const char *const *argv)
{
    const char *environment[] = { variable, NULL };
    struct command_set set = commands;
    struct command_world world = { .environment = environment, .has_colour = true, .width = 90 };
    char *out = NULL;
    size_t out_len;
    int argc = 0;

    while (argv[argc])
        argc++;
    free(asked.messages);
    asked.messages = NULL;
    set.elsewhere = elsewhere;
    world.out = open_memstream(&out, &out_len);
    world.messages = open_memstream(&asked.messages, &asked.messages_len);
    asked.result = command_main(&set, &world, argc, argv) == 0 ? asked.result : -1;
    fclose(world.out);
    fclose(world.messages);
    free(out);
}
#define REQUEST(...) run(note_request, NULL, (const char *const[]){ "hearth", __VA_ARGS__, NULL })

__attribute__((destructor)) static void teardown(void)
{
    buffer_done(&asked.parameters);
    free(asked.messages);
}

#define TERMINAL "&output=text&width=90&color=true&utf8=false"

TEST(remote_sends_what_was_given_and_nothing_else)
{
    REQUEST("query", "shop", "--url", "http://x", "--from", "2h", "-n5", "--no-pyroscope-sums", "--span-id=0a",
            "--span-id=0b");
    CHECK_OK(asked.result, &asked.err);
    CHECK_TEXT(asked.row->path, "/api/v1/query");
    CHECK_TEXT(buffer_slice(&asked.parameters),
               "query=shop&from=2h&span-id=0a&span-id=0b&rows=5&pyroscope-sums=false" TERMINAL);
}

TEST(remote_asks_for_the_form_that_options_say)
{
    REQUEST("--no-color", "timeseries", "shop", "--json");
    CHECK_TEXT(buffer_slice(&asked.parameters), "query=shop&output=json");
    REQUEST("timeseries", "shop", "--csv");
    CHECK_TEXT(buffer_slice(&asked.parameters), "query=shop&output=csv");
    REQUEST("--no-color", "timeseries", "shop");
    CHECK_TEXT(buffer_slice(&asked.parameters), "query=shop&output=text&width=90&color=false&utf8=false");
    run(note_request, "LC_ALL=C.UTF-8", (const char *const[]){ "hearth", "labels", NULL });
    CHECK_TEXT(buffer_slice(&asked.parameters), "output=text&width=90&color=true&utf8=true");
    REQUEST("query", "shop", "-o", "some/where/cpu.pb.gz");
    CHECK_TEXT(buffer_slice(&asked.parameters), "query=shop" TERMINAL "&file=cpu.pb.gz");
}

TEST(remote_lists_where_a_command_could_change_something_too)
{
    REQUEST("keep");
    CHECK_EQ(asked.row->method, HTTP_GET);
    REQUEST("keep", "--tenant", "a", "--json");
    CHECK_EQ(asked.row->method, HTTP_GET);
    CHECK_TEXT(buffer_slice(&asked.parameters), "tenant=a&output=json");
    REQUEST("keep", "--remove", "v1");
    CHECK_EQ(asked.row->method, HTTP_POST);
    REQUEST("keep", "{}", "--name", "v1", "--from", "1d", "--until", "now");
    CHECK_EQ(asked.row->method, HTTP_POST);
    CHECK_TEXT(buffer_slice(&asked.parameters), "selector=%7B%7D&name=v1&from=1d&until=now" TERMINAL);
}

TEST(remote_refuses_flags_about_this_machine)
{
    REQUEST("query", "shop", "--query-memory", "64MiB");
    CHECK_ERROR(asked.result, &asked.err, ERR_USAGE);
    CHECK_HAS(asked.err.text, "--query-memory is about this machine, and --url asks a server");
    run(note_request, "HEARTH_QUERY_MEMORY=64MiB", (const char *const[]){ "hearth", "query", "shop", NULL });
    CHECK_OK(asked.result, &asked.err);
    CHECK_TEXT(buffer_slice(&asked.parameters), "query=shop" TERMINAL);
    REQUEST("diff", "a.pb", "b.pb");
    CHECK_ERROR(asked.result, &asked.err, ERR_USAGE);
    CHECK_HAS(asked.err.text, "a server cannot run 'hearth diff' with these arguments");
}

TEST(remote_refuses_values_that_a_server_would_take_for_none)
{
    REQUEST("query", "shop", "--from", "");
    CHECK_ERROR(asked.result, &asked.err, ERR_USAGE);
    CHECK_HAS(asked.err.text, "--from is empty, which a server takes for not given; give a value or leave it out");
    REQUEST("timeseries", "shop", "--by", "");
    CHECK_ERROR(asked.result, &asked.err, ERR_USAGE);
    REQUEST("query", "shop", "-o", "");
    CHECK_ERROR(asked.result, &asked.err, ERR_USAGE);
    REQUEST("query", "shop", "--tenant", "a\r\nX-Other: b");
    CHECK_ERROR(asked.result, &asked.err, ERR_USAGE);
    CHECK_HAS(asked.err.text, "--tenant: the tenant's name");
}

TEST(remote_chooses_between_a_server_and_a_directory)
{
    run(remote_run, NULL, (const char *const[]){ "hearth", "labels", "--url", "nowhere", "--data-dir", "x", NULL });
    CHECK_HAS(asked.messages, "--url asks a server and --data-dir names a directory here; give one of them");
    run(remote_run, "HEARTH_URL=nowhere", (const char *const[]){ "hearth", "labels", "--data-dir", "nosuch", NULL });
    CHECK_HAS(asked.messages, "there is no store in 'nosuch'");
    run(remote_run, "HEARTH_URL=nowhere", (const char *const[]){ "hearth", "labels", NULL });
    CHECK_HAS(asked.messages, "--url 'nowhere' is no address of a server");
    run(remote_run, "HEARTH_URL=nowhere", (const char *const[]){ "hearth", "diff", "nosuch.pb", "nosuch2.pb", NULL });
    CHECK_HAS(asked.messages, "nosuch.pb");
}
