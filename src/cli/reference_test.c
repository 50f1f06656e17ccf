// SPDX-License-Identifier: Apache-2.0
#include "cli/reference.h"

#include "base/metrics.h"
#include "base/test.h"
#include "cli/command_sample.h"

static const char commands_page[] = //
    "<!-- Made by `make docs` from the tables of the program; changes made here are lost. -->\n"
    "# Commands\n"
    "\n"
    "sample shows what the tables of a program turn into.\n"
    "\n"
    "| command | what it does |\n"
    "|---|---|\n"
    "| [`sample top`](#sample-top) | Show the functions that cost most |\n"
    "| [`sample tree`](#sample-tree) | Show calls as a tree |\n"
    "| [`sample help`](#sample-help) | Explain a command |\n"
    "\n"
    "Every command also takes the options below. How values are written, and the variable of each option, is in "
    "[options.md](options.md).\n"
    "\n"
    "Global options:\n"
    "- `--config FILE`: Read options from this YAML file. Flags and environment variables win over it.\n"
    "- `--log-level LEVEL`: How much to log to standard error. One of error, warn, info, debug. Default: info. "
    "Also PYROSCOPE\\_LOG\\_LEVEL. Can be changed while running (SIGHUP).\n"
    "- `--log-format FORMAT`: How log lines look: for people, or one JSON object a line. One of text, json. Default: "
    "text.\n"
    "- `--[no-]color`: Colour the output when it goes to a terminal. A NO\\_COLOR variable turns colours off too.\n"
    "- `--print-config`: Print the value of every option and where it came from, as a configuration file, and exit.\n"
    "- `-h`, `--help`: Print help and exit.\n"
    "- `--version`: Print the version and exit.\n"
    "\n"
    "## sample top\n"
    "\n"
    "```\n"
    "sample top [OPTIONS] FILE...\n"
    "```\n"
    "\n"
    "Reads profiles, merges them and prints one row for each function, the costliest first.\n"
    "\n"
    "Rows show what a function costs itself and with everything that it calls.\n"
    "\n"
    "Arguments:\n"
    "- `FILE...`: A profile; '-' is standard input.\n"
    "\n"
    "Options:\n"
    "- `-n`, `--lines N`: How many rows to show. From 1 to 1000. Default: 30.\n"
    "- `--json`: Print JSON. It's for programs \\[and jq\\]: no colours.\n"
    "- `--[no-]cumulative`: Count callees too.\n"
    "- `--share PERCENT`: Stop at this share of the total. Default: 90%.\n"
    "- `-o`, `--output FILE`: Write to this file.\n"
    "- `--work-dir DIR`: Keep temporary files here. Also --scratch-path, OTHER\\_SCRATCH. Can be changed while running "
    "(SIGHUP).\n"
    "- `--sort WORD`: What to sort by. One of self, total. Default: self.\n"
    "\n"
    "Filters:\n"
    "- `--focus REGEX`: Keep stacks with a matching function.\n"
    "- `-l`, `--label KEY=VALUE`: Keep samples with this label. May be given several times.\n"
    "\n"
    "Examples:\n"
    "- `sample top -n 5 cpu.pb.gz`: Shows the five costliest functions.\n"
    "- `sample top --focus '^json' a.pb b.pb`: Merges two profiles and looks at one library.\n"
    "\n"
    "## sample tree\n"
    "\n"
    "```\n"
    "sample tree [OPTIONS] IN... OUT\n"
    "```\n"
    "\n"
    "Prints a tree.\n"
    "\n"
    "Arguments:\n"
    "- `IN...`: Profiles.\n"
    "- `OUT`: The result.\n"
    "\n"
    "Filters:\n"
    "- `--focus REGEX`: Keep stacks with a matching function.\n"
    "- `-l`, `--label KEY=VALUE`: Keep samples with this label. May be given several times.\n"
    "\n"
    "## sample help\n"
    "\n"
    "```\n"
    "sample help [COMMAND]\n"
    "```\n"
    "\n"
    "Prints the usage, options and examples of a command, as 'hearth COMMAND --help' does. Without an argument it "
    "lists the commands.\n"
    "\n"
    "Arguments:\n"
    "- `[COMMAND]`: The command to explain.\n"
    "\n"
    "Examples:\n"
    "- `hearth help version`: Explains the command 'version'.\n";

static const char options_page[] = //
    "<!-- Made by `make docs` from the tables of the program; changes made here are lost. -->\n"
    "# Options\n"
    "\n"
    "Each option can be given as a flag (`--name value`), as an environment variable (`HEARTH_NAME`) and as a key "
    "(`name: value`) of the YAML file named by `--config`. The flag wins over the variable, the variable over the "
    "file, and the file over the default. `--print-config` shows what holds and where each value came from.\n"
    "\n"
    "In a file, a dot in a name may also be written as a nested map, options that may be given several times take a "
    "list, and a key without a value leaves the option alone. Unknown keys, keys given twice, anchors, aliases and "
    "tags are refused. In a variable, lists are separated by commas, and an empty variable counts as absent. Options "
    "without a variable are flags only.\n"
    "\n"
    "Some options have other names too, those that other programs give them: a flag that means the same, or a variable "
    "that is read where the one of hearth is absent. Files know the first name only.\n"
    "\n"
    "A server that gets SIGHUP reads its file again. Options that can be changed while running then have their new "
    "values; others keep the old ones until the next start, and a file with mistakes changes nothing.\n"
    "\n"
    "## How values are written\n"
    "\n"
    "| type | written as |\n"
    "|---|---|\n"
    "| bool | true or false |\n"
    "| text | any text |\n"
    "| file | the path of a file |\n"
    "| directory | the path of a directory |\n"
    "| regex | a regular expression |\n"
    "| int | digits, like 30 or -5 |\n"
    "| uint | digits, like 30 |\n"
    "| number | digits, like 0.25 |\n"
    "| duration | a number with a unit, like 250ms, 30s, 1h30m or 7d |\n"
    "| size | a number of bytes, or one with a unit, like 512KB (1000s) or 64MiB (1024s) |\n"
    "| percent | a number with its sign, like 90% |\n"
    "| rate | events per second, like 97, 100Hz, 10/s or 600/min |\n"
    "| address | HOST:PORT, :PORT, \\[::1\\]:PORT or unix:PATH |\n"
    "| word | one of the words listed |\n"
    "| list | any text; may be given several times |\n"
    "\n"
    "## Global options\n"
    "\n"
    "| option | type | variable | meaning |\n"
    "|---|---|---|---|\n"
    "| `--config FILE` | file | `HEARTH_CONFIG` | Read options from this YAML file. Flags and environment variables "
    "win over it. |\n"
    "| `--log-level LEVEL` | word | `HEARTH_LOG_LEVEL` | How much to log to standard error. One of error, warn, info, "
    "debug. Default: info. Also PYROSCOPE\\_LOG\\_LEVEL. Can be changed while running (SIGHUP). |\n"
    "| `--log-format FORMAT` | word | `HEARTH_LOG_FORMAT` | How log lines look: for people, or one JSON object a line. "
    "One of text, json. Default: text. |\n"
    "| `--[no-]color` | bool | `HEARTH_COLOR` | Colour the output when it goes to a terminal. A NO\\_COLOR variable "
    "turns colours off too. |\n"
    "| `--print-config` | bool | | Print the value of every option and where it came from, as a configuration file, "
    "and exit. |\n"
    "| `-h`, `--help` | bool | | Print help and exit. |\n"
    "| `--version` | bool | | Print the version and exit. |\n"
    "\n"
    "## Options of `top`\n"
    "\n"
    "| option | type | variable | meaning |\n"
    "|---|---|---|---|\n"
    "| `-n`, `--lines N` | uint | `HEARTH_LINES` | How many rows to show. From 1 to 1000. Default: 30. |\n"
    "| `--json` | bool | `HEARTH_JSON` | Print JSON. It's for programs \\[and jq\\]: no colours. |\n"
    "| `--[no-]cumulative` | bool | `HEARTH_CUMULATIVE` | Count callees too. |\n"
    "| `--share PERCENT` | percent | `HEARTH_SHARE` | Stop at this share of the total. Default: 90%. |\n"
    "| `-o`, `--output FILE` | file | `HEARTH_OUTPUT` | Write to this file. |\n"
    "| `--work-dir DIR` | directory | `HEARTH_WORK_DIR` | Keep temporary files here. Also --scratch-path, "
    "OTHER\\_SCRATCH. Can be changed while running (SIGHUP). |\n"
    "| `--sort WORD` | word | `HEARTH_SORT` | What to sort by. One of self, total. Default: self. |\n"
    "\n"
    "## Filters of `top`, `tree`\n"
    "\n"
    "| option | type | variable | meaning |\n"
    "|---|---|---|---|\n"
    "| `--focus REGEX` | regex | `HEARTH_FOCUS` | Keep stacks with a matching function. |\n"
    "| `-l`, `--label KEY=VALUE` | list | `HEARTH_LABEL` | Keep samples with this label. May be given several times. "
    "|\n";

static const char environment_page[] = //
    "<!-- Made by `make docs` from the tables of the program; changes made here are lost. -->\n"
    "# Environment\n"
    "\n"
    "Each variable stands for an option, described in [options.md](options.md); the flag wins over it. An empty "
    "variable counts as absent.\n"
    "\n"
    "| variable | option | commands |\n"
    "|---|---|---|\n"
    "| `HEARTH_CONFIG` | `--config` | all |\n"
    "| `HEARTH_LOG_LEVEL` | `--log-level` | all |\n"
    "| `PYROSCOPE_LOG_LEVEL` | `--log-level`, where `HEARTH_LOG_LEVEL` is absent | all |\n"
    "| `HEARTH_LOG_FORMAT` | `--log-format` | all |\n"
    "| `HEARTH_COLOR` | `--color` | all |\n"
    "| `HEARTH_LINES` | `--lines` | `top` |\n"
    "| `HEARTH_JSON` | `--json` | `top` |\n"
    "| `HEARTH_CUMULATIVE` | `--cumulative` | `top` |\n"
    "| `HEARTH_SHARE` | `--share` | `top` |\n"
    "| `HEARTH_OUTPUT` | `--output` | `top` |\n"
    "| `HEARTH_WORK_DIR` | `--work-dir` | `top` |\n"
    "| `OTHER_SCRATCH` | `--work-dir`, where `HEARTH_WORK_DIR` is absent | `top` |\n"
    "| `HEARTH_SORT` | `--sort` | `top` |\n"
    "| `HEARTH_FOCUS` | `--focus` | `top`, `tree` |\n"
    "| `HEARTH_LABEL` | `--label` | `top`, `tree` |\n"
    "\n"
    "`NO_COLOR`, when it is set and not empty, turns colours off. A server tells the service manager that "
    "`NOTIFY_SOCKET` "
    "names, as systemd sets it, when it is ready, reloads and stops.\n";

static void check_page(void (*print)(const struct command_set *set, struct buffer *out), const char *wanted)
{
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    print(&command_sample, &out);
    CHECK_OK(buffer_check(&out, &err), &err);
    CHECK_TEXT(buffer_slice(&out), wanted);
    buffer_done(&out);
}

TEST(reference_of_commands_shows_each_command)
{
    check_page(reference_print_commands, commands_page);
}

TEST(reference_of_options_tells_shared_groups_once)
{
    check_page(reference_print_options, options_page);
}

TEST(reference_of_environment_names_the_commands_that_read_a_variable)
{
    check_page(reference_print_environment, environment_page);
}

TEST(reference_of_errors_has_every_code)
{
    struct buffer out;
    char row[200];

    buffer_init(&out, 0);
    reference_print_errors(&command_sample, &out);
    CHECK_HAS(buffer_slice(&out), "| `USAGE` | wrong usage | 2 | 400 |\n");
    for (unsigned code = 0; code < ERROR_CODE_COUNT; code++) {
        snprintf(row, sizeof(row), "| `%s` | %s | ", error_code_name(code), error_code_text(code));
        CHECK_HAS(buffer_slice(&out), row);
    }
    buffer_done(&out);
}

TEST(reference_of_metrics_shows_registered_tables)
{
    static const double bounds[] = { 1, 10 };
    static const struct metric_spec specs[] = {
        { "hearth_sample_drops", METRIC_COUNTER, NULL, "What was dropped | lost.", { "reason", "room" } },
        { "hearth_sample_write", METRIC_HISTOGRAM, "seconds", "How long writes take.", .buckets = bounds,
          .n_buckets = 2 },
    };
    struct metrics *metrics;
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    reference_print_metrics(&command_sample, &out);
    CHECK_HAS(buffer_slice(&out), "\n\nThere are none: no command of this version serves.\n");
    buffer_clear(&out);
    CHECK_OK(metrics_register(specs, ARRAY_LEN(specs), &metrics, &err), &err);
    reference_print_metrics(&command_sample, &out);
    metrics_unregister(metrics);
    CHECK_HAS(buffer_slice(&out),
              "| metric | kind | labels | meaning |\n|---|---|---|---|\n"
              "| `hearth_sample_drops_total` | counter | `reason`, `room` | What was dropped \\| lost. |\n"
              "| `hearth_sample_write_seconds` | histogram | | How long writes take. |\n");
    buffer_done(&out);
}

static void answer(struct exchange *exchange UNUSED) {}

static const struct route sample_routes[] = {
    { HTTP_GET, "/ready", ROUTE_PUBLIC, "Whether the server is ready.", answer },
    { HTTP_POST, "/ingest", ROUTE_WRITE, "Takes a profile | or several.", answer, .max_body_bytes = 64 << 20,
      .parameters = { { "name", "The application, as app{key=value}." }, { "from", "The start, in Unix time_t." } } },
    { HTTP_POST, "/push.v1.PusherService/Push", ROUTE_WRITE, "Takes profiles.", answer, .is_procedure = true },
    { HTTP_GET, "/api/v1/label-values", ROUTE_READ, "The values of a label.", answer,
      .parameters = { { "label", "Which one." } } },
    { HTTP_DELETE, "/files/*", ROUTE_ADMIN, "Removes a file.", answer },
};
static const struct route_table sample_table = { sample_routes, ARRAY_LEN(sample_routes) };

TEST(reference_of_routes_has_every_route_and_its_parameters)
{
    struct buffer out;
    struct slice page;
    ptrdiff_t table;

    buffer_init(&out, 0);
    reference_print_routes(&sample_table, &out);
    page = buffer_slice(&out);
    CHECK_HAS(page, "# HTTP routes\n\nWhat a server answers over HTTP/1.1 and HTTP/2. ");
    table = slice_find(page, SLICE("| route | scope |"));
    CHECK(table > 0);
    CHECK_TEXT(slice_sub(page, (size_t)table, page.len),
               "| route | scope | what it does |\n"
               "|---|---|---|\n"
               "| `GET /ready` | public | Whether the server is ready. |\n"
               "| [`POST /ingest`](#post-ingest) | write | Takes a profile \\| or several. The body may have 64MiB. |\n"
               "| `POST /push.v1.PusherService/Push` | write | Takes profiles. A procedure. |\n"
               "| [`GET /api/v1/label-values`](#get-apiv1label-values) | read | The values of a label. |\n"
               "| `DELETE /files/*` | admin | Removes a file. |\n"
               "\n"
               "## `POST /ingest`\n"
               "\n"
               "Takes a profile \\| or several.\n"
               "\n"
               "| parameter | meaning |\n"
               "|---|---|\n"
               "| `name` | The application, as app{key=value}. |\n"
               "| `from` | The start, in Unix time\\_t. |\n"
               "\n"
               "## `GET /api/v1/label-values`\n"
               "\n"
               "The values of a label.\n"
               "\n"
               "| parameter | meaning |\n"
               "|---|---|\n"
               "| `label` | Which one. |\n");
    buffer_done(&out);
}

static int print_all(void *context, struct error *err)
{
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    reference_print_commands(&command_sample, &out);
    reference_print_options(&command_sample, &out);
    reference_print_environment(&command_sample, &out);
    reference_print_routes(&sample_table, &out);
    result = buffer_check(&out, err);
    buffer_done(&out);
    return result;
}

TEST(reference_reports_every_failing_allocation)
{
    test_each_allocation_failing(print_all, NULL);
}
