// SPDX-License-Identifier: Apache-2.0
/* Writes man pages, shell completions and reference pages, all from the tables of the program:
 *
 *     generate_docs OUTDIR
 *
 * makes OUTDIR/man/man1, OUTDIR/completions, OUTDIR/reference and OUTDIR/openapi.yaml. The same tree gives the same bytes. */
#include "answer/answer.h"
#include "base/fs.h"
#include "base/memory.h"
#include "base/version.h"
#include "cli/apirow.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/manual.h"
#include "cli/openapi.h"
#include "cli/reference.h"
#include "intake/intakemetrics.h"
#include "page/page.h"
#include "scrape/scrapemetrics.h"
#include "server/server.h"
#include "store/storemetrics.h"

/* Every route that `hearth server` has. */
static void print_all_routes(void (*print)(const struct route_table *table, struct buffer *out), struct buffer *out)
{
    const struct route_mount mounts[] = {
        { &server_routes, NULL }, { &answer_routes, NULL }, { &page_routes, NULL }, { &apirow_routes, NULL }
    };
    struct route_table all;

    if (route_join(mounts, ARRAY_LEN(mounts), &all, &out->failure) < 0)
        return;
    print(&all, out);
    memory_free((void *)all.routes);
}

static void print_routes(const struct command_set *set UNUSED, struct buffer *out)
{
    print_all_routes(reference_print_routes, out);
}

static void print_openapi(const struct command_set *set UNUSED, struct buffer *out)
{
    print_all_routes(openapi_print, out);
}

static const struct {
    const char *path;
    void (*print)(const struct command_set *set, struct buffer *out);
} pages[] = {
    { "completions/hearth.bash", completion_print_bash },
    { "completions/_hearth", completion_print_zsh },
    { "completions/hearth.fish", completion_print_fish },
    { "reference/commands.md", reference_print_commands },
    { "reference/options.md", reference_print_options },
    { "reference/environment.md", reference_print_environment },
    { "reference/errors.md", reference_print_errors },
    { "reference/metrics.md", reference_print_metrics },
    { "reference/http.md", print_routes },
    { "openapi.yaml", print_openapi },
};

static const char *const directories[] = { "man/man1", "completions", "reference" };

struct generator {
    const char *directory;
    struct arena arena;
    struct buffer page;
};

static int make_directories(struct generator *generator, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(directories); i++) {
        char *path = arena_printf(&generator->arena, err, "%s/%s", generator->directory, directories[i]);

        if (!path || fs_make_directories(path, 0755, err) < 0)
            return -1;
    }
    return 0;
}

/* Writes the page that was printed, and empties it for the next one. */
static int write_page(struct generator *generator, const char *name, struct error *err)
{
    char *path = arena_printf(&generator->arena, err, "%s/%s", generator->directory, name);

    if (!path || buffer_check(&generator->page, err) < 0 ||
        fs_write_file(path, buffer_slice(&generator->page), err) < 0)
        return -1;
    buffer_clear(&generator->page);
    return 0;
}

static int write_manuals(struct generator *generator, struct error *err)
{
    manual_print_set(&commands, version_text(), &generator->page);
    if (write_page(generator, "man/man1/hearth.1", err) < 0)
        return -1;
    for (size_t i = 0; i < commands.n; i++) {
        const struct command *command = commands.commands[i];
        char *name = arena_printf(&generator->arena, err, "man/man1/hearth-%s.1", command->name);

        if (!name)
            return -1;
        if (command->is_hidden)
            continue;
        manual_print_command(&commands, command, version_text(), &generator->page);
        if (write_page(generator, name, err) < 0)
            return -1;
    }
    return 0;
}

static int generate(struct generator *generator, struct error *err)
{
    if (make_directories(generator, err) < 0 || write_manuals(generator, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        pages[i].print(&commands, &generator->page);
        if (write_page(generator, pages[i].path, err) < 0)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct generator generator = { .directory = argc > 1 ? argv[1] : "" };
    struct metrics *server = NULL;
    struct intakemetrics intake;
    struct storemetrics store;
    struct scrapemetrics scrape;
    struct error err;
    int result;

    if (argc != 2) {
        fprintf(stderr, "generate_docs: give one argument, the directory to write to\n");
        return 2;
    }
    arena_init(&generator.arena, 0);
    buffer_init(&generator.page, 0);
    storemetrics_init(&store); /* so that the page of metrics has them */
    intakemetrics_init(&intake);
    scrapemetrics_init(&scrape);
    result = server_register_metrics(&server, &err);
    if (result == 0)
        result = generate(&generator, &err);
    metrics_unregister(server);
    scrapemetrics_done(&scrape);
    intakemetrics_done(&intake);
    storemetrics_done(&store);
    if (result < 0)
        fprintf(stderr, "generate_docs: %s\n", err.text);
    buffer_done(&generator.page);
    arena_done(&generator.arena);
    return result < 0;
}
