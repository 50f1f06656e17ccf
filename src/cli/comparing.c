// SPDX-License-Identifier: Apache-2.0
#include "cli/comparing.h"

#include "cli/htmlfile.h"
#include "cli/output.h"
#include "page/pagefile.h"

enum form { FORM_AUTO, FORM_TABLE, FORM_FLAME, FORM_HTML };
static const char *const form_words[] = {
    [FORM_AUTO] = "auto", [FORM_TABLE] = "table", [FORM_FLAME] = "flame", [FORM_HTML] = "html", NULL
};

const struct option_spec comparing_options[COMPARING_OPTIONS_N] = {
    { "format", OPTION_ENUM, FIELD(comparing_config, form), "auto",
      "What to make of the answer: the table of functions, or the tree of both sides, in the compact form for pages "
      "(flame) or as a page of its own that opens without a server (html), with all of the tree unless --min-share or "
      "--max-nodes is given. By itself it follows the name of --output, and is the table without one.",
      .words = form_words },
    { "output", OPTION_FILE, FIELD(comparing_config, output), "-", "Write to this file; - is standard output.",
      .letter = 'o', .is_flag_only = true, .is_of_machine = true },
};

static struct diff_options options_of(const struct comparing *comparing)
{
    const struct comparing_config *config = comparing->config;

    return (struct diff_options){ .granularity = (enum symbol_granularity)config->view.granularity,
                                  .scaling = (enum diff_scaling)config->table.scaling,
                                  .order = config->table.is_by_total ? DIFF_BY_TOTAL : DIFF_BY_SELF,
                                  .collapses_recursion = config->tree.collapses_recursion,
                                  .counts = { comparing->counts[0], comparing->counts[1] } };
}

static enum form form_of(const struct comparing_config *config)
{
    if (config->form != FORM_AUTO)
        return (enum form)config->form;
    return output_find_by_path(slice_from(config->output)) == &htmlfile_format ? FORM_HTML : FORM_TABLE;
}

/* A page cannot ask for what was cut: it has as much as it can show, unless somebody wants less. */
static struct showtree_config tree_of(const struct comparing *comparing)
{
    const struct comparing_config *config = comparing->config;
    struct showtree_config tree = config->tree;

    if (form_of(config) != FORM_HTML)
        return tree;
    if (options_get_origin(comparing->context->options, "min-share") == OPTION_FROM_DEFAULT)
        tree.min_share = 0;
    if (tree.max_nodes == 0)
        tree.max_nodes = HTMLFILE_MAX_NODES;
    return tree;
}

static int print_page(const struct comparing *comparing, const struct showtree_config *tree, const struct diff *diff,
                      struct buffer *out, struct error *err)
{
    AUTO(buffer_done) struct buffer flame;

    buffer_init(&flame, 0);
    if (showdiff_encode(comparing->context, tree, diff, &flame, err) < 0)
        return -1;
    return pagefile_write(comparing->title, buffer_slice(&flame), out, err);
}

/* Of a diff whose tree begins at the end of the path already, `tree` has none. */
static int print(const struct comparing *comparing, const struct showtree_config *tree, const struct view views[2],
                 const struct diff *diff, struct error *err)
{
    const struct comparing_config *config = comparing->config;
    struct command_context *context = comparing->context;
    struct buffer out;
    int result = -1;

    buffer_init(&out, 0);
    switch (form_of(config)) {
    case FORM_AUTO:
    case FORM_TABLE:
        result = showdiff_print(context, &config->table, views, diff, config->view.is_json, &out, err);
        break;
    case FORM_FLAME: result = showdiff_encode(context, tree, diff, &out, err); break;
    case FORM_HTML: result = print_page(comparing, tree, diff, &out, err); break;
    }
    input_warn(context, "diff", &diff->flame->report);
    if (strcmp(config->output, "-") == 0)
        return view_finish(context, &out, result, err);
    if (result == 0)
        result = buffer_check(&out, err);
    if (result == 0)
        result = output_write_bytes(context, buffer_slice(&out), config->output, err);
    buffer_done(&out);
    return result;
}

int comparing_views(const struct comparing *comparing, const struct view views[2], struct error *err)
{
    struct diff_options options = options_of(comparing);
    struct showtree_config tree = tree_of(comparing);
    AUTO(diff_freep) struct diff *diff = NULL;

    if (diff_new(views[0].profile, views[0].type, views[1].profile, views[1].type, &options, &diff, err) < 0)
        return -1;
    return print(comparing, &tree, views, diff, err);
}

/* --- two questions --- */

/* A side that is empty is no side: a name with a slip in it would pass for a great change. */
static int check_side(const struct ask *ask, const struct ask_question *question, const struct query_facts *facts,
                      struct error *err)
{
    if (facts->n_rows > 0)
        return 0;
    if (ask_tell_empty(ask, question, err) < 0)
        return -1;
    return error_set(err, ERR_NOT_FOUND, "%sthere is nothing to compare",
                     question->query.ids ? "no sample carries one of the ids, so " : "");
}

static int compare_by_engine(const struct comparing *comparing, const struct ask *ask,
                             const struct ask_question questions[2], struct error *err)
{
    const struct comparing_config *config = comparing->config;
    struct diff_options options = options_of(comparing);
    struct showtree_config tree = tree_of(comparing);
    struct engine_flame_options part = { .max_nodes = (uint32_t)tree.max_nodes, .min_share = tree.min_share };
    AUTO(diff_freep) struct diff *diff = NULL;
    struct query_facts facts[2];
    struct view views[2];
    struct slice *path;

    if (showtree_path(ask->context, &tree, &path, &part.n_path, err) < 0)
        return -1;
    part.path = path;
    if (form_of(config) == FORM_TABLE)
        part.max_nodes = 1;
    if (engine_diff_part(ask->engine, &questions[0].query, &questions[1].query, &options, &part, &diff, facts, err) < 0)
        return ask_failed(ask, err);
    tree.path = NULL; /* the tree begins at its end */
    for (unsigned i = 0; i < 2; i++) {
        ask_count(ask->context, &facts[i]);
        if (check_side(ask, &questions[i], &facts[i], err) < 0)
            return error_wrap(err, "%s", comparing->sides[i]);
        views[i] =
            ask_view(&questions[i], &facts[i], i ? diff->after.total : diff->before.total, config->view.is_local);
    }
    return print(comparing, &tree, views, diff, err);
}

/* One side as a view. */
static int open_answer(struct view *view, const struct comparing *comparing, const struct ask *ask,
                       struct ask_question *question, const struct view *like, struct error *err)
{
    struct view_config viewing = comparing->config->view;
    struct query_facts facts;
    struct view_query about;
    struct batch batch;

    viewing.type = NULL; /* it is part of the question */
    viewing.like = like;
    if (ask_filter_tags(ask, &comparing->config->view.filter, question, &viewing.filter, err) < 0 ||
        ask_profile(ask, question, &batch, &facts, err) < 0)
        return -1;
    if (check_side(ask, question, &facts, err) < 0) {
        batch_done(&batch);
        return -1;
    }
    input_warn(ask->context, "query", &batch.report);
    about = ask_view_query(question, &facts);
    return view_open_batch(view, ask->context, &viewing, &batch, facts.n_rows, &about, err);
}

/* Finer than functions, or by file, or with recursion collapsed. */
static int compare_profiles(const struct comparing *comparing, const struct ask *ask, struct ask_question questions[2],
                            struct error *err)
{
    struct view views[2];
    int result;

    if (open_answer(&views[0], comparing, ask, &questions[0], NULL, err) < 0)
        return error_wrap(err, "%s", comparing->sides[0]);
    result = open_answer(&views[1], comparing, ask, &questions[1], &views[0], err);
    if (result == 0) {
        result = comparing_views(comparing, views, err);
        view_close(&views[1]);
    } else
        error_wrap(err, "%s", comparing->sides[1]);
    view_close(&views[0]);
    return result;
}

int comparing_questions(const struct comparing *comparing, const struct ask *ask, struct ask_question questions[2],
                        struct error *err)
{
    const struct comparing_config *config = comparing->config;

    if (config->view.granularity != SYMBOL_FUNCTION || config->tree.collapses_recursion)
        return compare_profiles(comparing, ask, questions, err);
    for (unsigned i = 0; i < 2; i++)
        if (ask_filter(ask, &config->view.filter, &questions[i], err) < 0)
            return -1;
    return compare_by_engine(comparing, ask, questions, err);
}

int comparing_check(struct command_context *context, const struct comparing_config *config, struct error *err)
{
    enum form form = form_of(config);

    if (form == FORM_TABLE && config->tree.path)
        return error_set(err, ERR_USAGE, "--path begins a tree elsewhere; add --format flame or html");
    if (form != FORM_TABLE && config->view.is_json)
        return error_set(err, ERR_USAGE, "--json writes the table, and --format %s a tree; leave one out",
                         form_words[form]);
    if (form == FORM_FLAME && output_is_terminal(context, config->output))
        return error_set(err, ERR_USAGE,
                         "the flame format is binary and would garble the terminal; name a file or use a pipe");
    return 0;
}
