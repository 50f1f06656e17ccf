// SPDX-License-Identifier: Apache-2.0
/* The old text formats: heap, counts, contention and threads. All are lines of numbers, "@" and addresses, with
 * comments between them and perhaps a memory map at the end. */
#include "wire/gperftools_internal.h"

#include <math.h>

/* --- pieces of text --- */

bool gperftools_is_blank_or_comment(struct slice line)
{
    struct slice trimmed = slice_trim(line);

    return trimmed.len == 0 || trimmed.ptr[0] == '#';
}

bool gperftools_is_map_heading(struct slice line)
{
    return slice_find(line, SLICE("--- Memory map: ---")) >= 0 || slice_find(line, SLICE("MAPPED_LIBRARIES:")) >= 0;
}

bool gperftools_take(struct slice *rest, const char *text)
{
    struct slice prefix = slice_from(text);

    if (!slice_starts_with(*rest, prefix))
        return false;
    *rest = slice_sub(*rest, prefix.len, SIZE_MAX);
    return true;
}

void gperftools_skip_spaces(struct slice *rest)
{
    while (rest->len && (rest->ptr[0] == ' ' || rest->ptr[0] == '\t'))
        *rest = slice_sub(*rest, 1, SIZE_MAX);
}

static size_t count_digits(struct slice text, bool is_hex)
{
    size_t n = 0;

    while (n < text.len &&
           ((text.ptr[n] >= '0' && text.ptr[n] <= '9') ||
            (is_hex && ((text.ptr[n] >= 'a' && text.ptr[n] <= 'f') || (text.ptr[n] >= 'A' && text.ptr[n] <= 'F')))))
        n++;
    return n;
}

bool gperftools_take_decimal(struct slice *rest, int64_t *ret_value)
{
    size_t sign = rest->len && rest->ptr[0] == '-';
    size_t len = sign + count_digits(slice_sub(*rest, sign, SIZE_MAX), false);

    if (len == sign || !slice_to_i64(slice_sub(*rest, 0, len), ret_value))
        return false;
    *rest = slice_sub(*rest, len, SIZE_MAX);
    return true;
}

bool gperftools_take_hex(struct slice *rest, uint64_t *ret_value)
{
    size_t len = count_digits(*rest, true);

    if (len == 0 || !slice_to_u64_hex(slice_sub(*rest, 0, len), ret_value))
        return false;
    *rest = slice_sub(*rest, len, SIZE_MAX);
    return true;
}

int gperftools_take_addresses(struct gperftools *g, struct slice rest, int64_t adjust_leaf, int64_t adjust,
                              struct error *err)
{
    for (;;) {
        ptrdiff_t next = slice_find(rest, SLICE("0x"));
        uint64_t address;

        if (next < 0)
            return 0;
        rest = slice_sub(rest, (size_t)next + 2, SIZE_MAX);
        if (!gperftools_take_hex(&rest, &address) || address == 0)
            continue;
        address += (uint64_t)(gperftools_last(g)->depth == 0 ? adjust_leaf : adjust);
        if (gperftools_add_address(g, address, err) < 0)
            return -1;
    }
}

void gperftools_skip_line(struct gperftools *g, struct slice line)
{
    report_add(&g->batch->report, "line of an old text profile is no sample; skipped", 1, "byte %zu: '%.*s'",
               (size_t)(line.ptr - g->bytes.ptr), SLICE_ARG(slice_sub(line, 0, 60)));
}

/* --- names that Go wrote as comments: "#	0x4e2a54	main.wait+0x14	wait.go:81" --- */

/* Cuts the next field off, which ends at a tab; names may hold spaces. */
static struct slice take_field(struct slice *rest)
{
    struct slice field;
    ptrdiff_t tab;

    gperftools_skip_spaces(rest);
    tab = slice_find_byte(*rest, '\t');
    field = slice_sub(*rest, 0, tab < 0 ? rest->len : (size_t)tab);
    *rest = slice_sub(*rest, field.len, SIZE_MAX);
    return slice_trim(field);
}

static bool parse_name(struct slice line, uint64_t *ret_address, struct gperftools_symbol *ret_symbol)
{
    struct gperftools_symbol symbol = { 0 };
    struct slice address;
    ptrdiff_t plus, colon;
    uint64_t number = 0;

    if (!gperftools_take(&line, "#"))
        return false;
    address = take_field(&line);
    if (!gperftools_take(&address, "0x") || !slice_to_u64_hex(address, ret_address))
        return false;
    symbol.name = take_field(&line);
    plus = slice_find_last_byte(symbol.name, '+');
    if (plus > 0)
        symbol.name.len = (size_t)plus;
    symbol.file = take_field(&line);
    colon = slice_find_last_byte(symbol.file, ':');
    if (colon > 0 && slice_to_u64(slice_sub(symbol.file, (size_t)colon + 1, SIZE_MAX), &number)) {
        symbol.line = number <= UINT32_MAX ? (uint32_t)number : 0;
        symbol.file.len = (size_t)colon;
    }
    *ret_symbol = symbol;
    return symbol.name.len > 0;
}

/* The names behind one sample. */
struct names {
    uint64_t address; /* of the last one */
    bool has_address;
    bool is_new; /* it had no name before this sample */
};

static bool is_same_symbol(const struct gperftools_symbol *a, const struct gperftools_symbol *b)
{
    return slice_equal(a->name, b->name) && slice_equal(a->file, b->file) && a->line == b->line;
}

/* Takes a name from a comment. Several for one address are inlined calls, the innermost first; but the same one again
 * is recursion. */
static int read_name(struct gperftools *g, struct slice line, struct names *names, struct error *err)
{
    struct gperftools_symbol symbol, *last;
    uint64_t address;

    if (!parse_name(line, &address, &symbol))
        return 0;
    if (!names->has_address || names->address != address) {
        *names = (struct names){ .address = address, .has_address = true, .is_new = !map_find(&g->symbol_of, address) };
    } else if (names->is_new) {
        last = &g->symbols.items[g->symbols.n - 1];
        if (is_same_symbol(last, &symbol))
            return 0;
        last->is_inlined = true;
    }
    return names->is_new ? gperftools_add_symbol(g, address, &symbol, err) : 0;
}

/* The first line that is neither blank nor a comment. */
static struct slice first_line(struct slice bytes, struct slice *ret_rest)
{
    struct slice line = { 0 };

    *ret_rest = bytes;
    while (slice_next_line(ret_rest, &line))
        if (!gperftools_is_blank_or_comment(line))
            return line;
    return slice_of("", 0);
}

/* Goes on to the memory map, if there is one, and reads it. `line` is the one at hand. */
static int read_rest(struct gperftools *g, struct slice line, struct slice rest, struct error *err)
{
    while (!gperftools_is_map_heading(line))
        if (!slice_next_line(&rest, &line))
            return 0;
    return gperftools_read_maps(g, rest, err);
}

/* Calls `read_sample` for each line up to one that begins a new section. */
static int read_samples(struct gperftools *g, struct slice rest, const char *section,
                        int (*read_sample)(struct gperftools *g, struct slice line, const void *context,
                                           struct error *err),
                        const void *context, struct error *err)
{
    struct names names = { 0 };
    struct slice line = SLICE("");

    while (slice_next_line(&rest, &line)) {
        struct slice trimmed = slice_trim(line);
        int result;

        if (gperftools_is_map_heading(line) || (section && slice_starts_with(trimmed, slice_from(section))))
            return read_rest(g, line, rest, err);
        if (gperftools_is_blank_or_comment(line)) {
            result = read_name(g, trimmed, &names, err);
        } else {
            names.has_address = false;
            result = read_sample(g, trimmed, context, err);
        }
        if (result < 0)
            return -1;
    }
    return 0;
}

/* --- heap: "heap profile: 1: 10 [ 2: 20] @ heap_v2/524288", then lines "1: 10 [2: 20] @ 0x12 0x34" --- */

struct heap_numbers {
    int64_t inuse_objects, inuse_bytes, alloc_objects, alloc_bytes;
};

static bool take_heap_numbers(struct slice *rest, struct heap_numbers *ret_numbers)
{
    struct heap_numbers n;

    gperftools_skip_spaces(rest);
    if (!gperftools_take_decimal(rest, &n.inuse_objects) || !gperftools_take(rest, ":"))
        return false;
    gperftools_skip_spaces(rest);
    if (!gperftools_take_decimal(rest, &n.inuse_bytes))
        return false;
    gperftools_skip_spaces(rest);
    if (!gperftools_take(rest, "["))
        return false;
    gperftools_skip_spaces(rest);
    if (!gperftools_take_decimal(rest, &n.alloc_objects) || !gperftools_take(rest, ":"))
        return false;
    gperftools_skip_spaces(rest);
    if (!gperftools_take_decimal(rest, &n.alloc_bytes))
        return false;
    gperftools_skip_spaces(rest);
    if (!gperftools_take(rest, "]"))
        return false;
    gperftools_skip_spaces(rest);
    if (!gperftools_take(rest, "@"))
        return false;
    *ret_numbers = n;
    return true;
}

struct heap_header {
    int64_t period;
    bool is_sampled; /* counts must be scaled up */
    bool is_go;      /* which leaves its own frames out of stacks */
    bool has_alloc;
};

static bool parse_heap_header(struct slice line, struct heap_header *ret_header)
{
    ptrdiff_t start = slice_find(line, SLICE("heap profile:"));
    struct heap_header header = { .period = 1 };
    struct heap_numbers totals;
    int64_t period = 0;

    if (start < 0)
        return false;
    line = slice_sub(line, (size_t)start + strlen("heap profile:"), SIZE_MAX);
    if (!take_heap_numbers(&line, &totals))
        return false;
    gperftools_skip_spaces(&line);
    header.has_alloc = (totals.alloc_objects != totals.inuse_objects && totals.alloc_objects != 0) ||
                       (totals.alloc_bytes != totals.inuse_bytes && totals.alloc_bytes != 0);
    if (gperftools_take(&line, "growth") || gperftools_take(&line, "fragmentation")) {
        header.has_alloc = false;
    } else if (gperftools_take(&line, "heapprofile")) {
        /* every allocation was counted */
    } else if (gperftools_take(&line, "heapz_v2") || gperftools_take(&line, "heap_v2")) {
        header.is_sampled = true;
        if (gperftools_take(&line, "/") && gperftools_take_decimal(&line, &period))
            header.period = period;
    } else if (gperftools_take(&line, "heap/")) {
        /* Go gives twice the mean distance between samples. */
        header.is_sampled = header.is_go = true;
        if (!gperftools_take_decimal(&line, &period))
            return false;
        header.period = period / 2;
    } else {
        return false;
    }
    *ret_header = header;
    return true;
}

bool gperftools_is_heap(struct slice bytes)
{
    struct slice rest = bytes, line;
    struct heap_header header;

    return slice_next_line(&rest, &line) && parse_heap_header(line, &header);
}

static int64_t clamp_double(double value)
{
    if (value >= 0x1p63)
        return INT64_MAX;
    return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

void gperftools_scale_heap(int64_t *count, int64_t *size_bytes, int64_t rate)
{
    double scale;

    if (*count == 0 || *size_bytes == 0) {
        *count = *size_bytes = 0;
        return;
    }
    if (rate <= 1)
        return;
    /* Sampling is a Poisson process over the bytes: an object of that size was seen with this probability. */
    scale = 1 / (1 - exp(-((double)*size_bytes / (double)*count) / (double)rate));
    *count = clamp_double((double)*count * scale);
    *size_bytes = clamp_double((double)*size_bytes * scale);
}

/* One pair of a line: scaled into `values`, the size of one object into `block_bytes`. False if it cannot be. */
static bool heap_pair(const struct heap_header *header, int64_t objects, int64_t bytes, int64_t *values,
                      int64_t *block_bytes)
{
    if (objects == 0 && bytes != 0)
        return false;
    if (objects != 0 && !(objects == -1 && bytes == INT64_MIN)) {
        *block_bytes = bytes / objects;
        if (header->is_sampled)
            gperftools_scale_heap(&objects, &bytes, header->period);
    }
    values[0] = objects;
    values[1] = bytes;
    return true;
}

static int read_heap_sample(struct gperftools *g, struct slice line, const void *context, struct error *err)
{
    const struct heap_header *header = context;
    struct slice rest = line;
    struct heap_numbers n;
    int64_t values[4], block_bytes = 0;
    uint32_t inuse = header->has_alloc ? 2 : 0;

    if (!take_heap_numbers(&rest, &n) ||
        (header->has_alloc && !heap_pair(header, n.alloc_objects, n.alloc_bytes, values, &block_bytes)) ||
        !heap_pair(header, n.inuse_objects, n.inuse_bytes, values + inuse, &block_bytes)) {
        gperftools_skip_line(g, line);
        return 0;
    }
    if (gperftools_add_sample(g, values, err) < 0)
        return -1;
    gperftools_last(g)->block_bytes = block_bytes;
    return gperftools_take_addresses(g, rest, -1, -1, err);
}

int gperftools_read_heap(struct gperftools *g, struct error *err)
{
    static const struct gperftools_type with_alloc[] = {
        { SLICE("alloc_objects"), SLICE("count") },
        { SLICE("alloc_space"), SLICE("bytes") },
        { SLICE("inuse_objects"), SLICE("count") },
        { SLICE("inuse_space"), SLICE("bytes") },
    };
    static const struct gperftools_type inuse_only[] = {
        { SLICE("objects"), SLICE("count") },
        { SLICE("space"), SLICE("bytes") },
    };
    struct slice rest = g->bytes, line = { 0 };
    struct heap_header header;

    if (!slice_next_line(&rest, &line) || !parse_heap_header(line, &header))
        return error_set(err, ERR_CORRUPT, "gperftools: heap profile without its header");
    g->n_types = header.has_alloc ? 4 : 2;
    memcpy(g->types, header.has_alloc ? with_alloc : inuse_only, g->n_types * sizeof(*g->types));
    g->period_type = (struct gperftools_type){ SLICE("space"), SLICE("bytes") };
    g->period = header.period;
    g->has_block_bytes = true;
    if (!header.is_go)
        g->drop_frames =
            SLICE("(tc_|do_|__libc_|malloc_zone_)?(malloc|calloc|realloc|free|cfree|memalign|valloc|pvalloc)|"
                  "(tc_|__)?posix_memalign|tc_(new|delete)(array)?(_nothrow)?|tcmalloc::.*|"
                  "(::)?do_malloc(_pages|_no_errno)?|operator new(\\[\\])?|__builtin_(vec_)?(new|delete)|"
                  "(.*::)?(allocate|_M_allocate)");
    return read_samples(g, rest, NULL, read_heap_sample, &header, err);
}

/* --- counts: "goroutine profile: total 5", then lines "3 @ 0x12 0x34" --- */

/* Takes "NAME profile: total N" apart. */
static bool parse_count_header(struct slice line, struct slice *ret_name)
{
    ptrdiff_t space = slice_find_byte(line, ' ');
    struct slice rest;
    int64_t total;

    if (space <= 0)
        return false;
    rest = slice_sub(line, (size_t)space, SIZE_MAX);
    if (!gperftools_take(&rest, " profile: total ") || !gperftools_take_decimal(&rest, &total) || rest.len != 0)
        return false;
    *ret_name = slice_sub(line, 0, (size_t)space);
    return true;
}

bool gperftools_is_count(struct slice bytes)
{
    struct slice rest, name;

    return parse_count_header(first_line(bytes, &rest), &name);
}

static int read_count_sample(struct gperftools *g, struct slice line, const void *context, struct error *err)
{
    struct slice rest = line;
    int64_t count;

    if (!gperftools_take_decimal(&rest, &count) || !gperftools_take(&rest, " @")) {
        gperftools_skip_line(g, line);
        return 0;
    }
    if (gperftools_add_sample(g, &count, err) < 0)
        return -1;
    return gperftools_take_addresses(g, rest, -1, -1, err);
}

int gperftools_read_count(struct gperftools *g, struct error *err)
{
    struct slice rest, name;

    if (!parse_count_header(first_line(g->bytes, &rest), &name))
        return error_set(err, ERR_CORRUPT, "gperftools: count profile without its header");
    g->types[0] = (struct gperftools_type){ name, SLICE("count") };
    g->n_types = 1;
    g->period_type = g->types[0];
    g->period = 1;
    return read_samples(g, rest, "---", read_count_sample, NULL, err);
}

/* --- contention: attributes "sampling period = 100", then lines "DELAY COUNT @ 0x12 0x34" --- */

bool gperftools_is_contention(struct slice bytes)
{
    struct slice rest = bytes, line;

    return slice_next_line(&rest, &line) &&
           (slice_starts_with(line, SLICE("--- contentionz ")) || slice_starts_with(line, SLICE("--- contention:")) ||
            slice_starts_with(line, SLICE("--- mutex:")));
}

struct contention {
    int64_t period;
    int64_t cycles_per_second;
};

/* Reads the attributes; false when the line is none of them. */
static bool read_contention_attribute(struct gperftools *g, struct slice line, struct contention *contention)
{
    ptrdiff_t equals = slice_find_byte(line, '=');
    uint64_t saturated = 0;
    struct slice key, text;
    int64_t value;

    if (equals < 0)
        return false;
    key = slice_trim(slice_sub(line, 0, (size_t)equals));
    text = slice_trim(slice_sub(line, (size_t)equals + 1, SIZE_MAX));
    if (!slice_to_i64(text, &value))
        return true; /* one we do not know */
    if (slice_is(key, "cycles/second"))
        contention->cycles_per_second = value;
    else if (slice_is(key, "sampling period"))
        contention->period = value;
    else if (slice_is(key, "ms since reset"))
        g->duration_ns = value_multiply(value, 1000000, &saturated);
    return true;
}

static bool take_contention_numbers(struct slice *rest, int64_t *ret_delay, int64_t *ret_count)
{
    if (!gperftools_take_decimal(rest, ret_delay))
        return false;
    gperftools_skip_spaces(rest);
    if (!gperftools_take_decimal(rest, ret_count))
        return false;
    gperftools_skip_spaces(rest);
    return gperftools_take(rest, "@");
}

static int read_contention_sample(struct gperftools *g, struct slice line, const void *context, struct error *err)
{
    const struct contention *contention = context;
    struct slice rest = line;
    uint64_t saturated = 0;
    int64_t delay, count, values[2];

    if (!take_contention_numbers(&rest, &delay, &count)) {
        gperftools_skip_line(g, line);
        return 0;
    }
    if (contention->period > 0) {
        if (contention->cycles_per_second > 0)
            delay = clamp_double((double)delay * (double)contention->period /
                                 ((double)contention->cycles_per_second / 1e9));
        count = value_multiply(count, contention->period, &saturated);
    }
    values[0] = count;
    values[1] = delay;
    if (gperftools_add_sample(g, values, err) < 0)
        return -1;
    return gperftools_take_addresses(g, rest, -1, -1, err);
}

int gperftools_read_contention(struct gperftools *g, struct error *err)
{
    struct contention contention = { .period = 1 };
    struct slice rest = g->bytes, next, line;

    g->types[0] = (struct gperftools_type){ SLICE("contentions"), SLICE("count") };
    g->types[1] = (struct gperftools_type){ SLICE("delay"), SLICE("nanoseconds") };
    g->n_types = 2;
    g->period_type = g->types[0];
    if (slice_starts_with(g->bytes, SLICE("--- contentionz ")))
        g->drop_frames =
            SLICE("(base::)?(RecordLockProfileData|Submit(Mutex|SpinLock)ProfileData).*|"
                  "((base::)?Mutex::)?(AwaitCommon|Unlock|ReaderUnlock).*|((base::)?MutexLock::)?~MutexLock.*|"
                  "(SpinLock::)?(Slow)?Unlock.*|(SpinLockHolder::)?~SpinLockHolder.*");
    (void)slice_next_line(&rest, &line); /* the heading */
    for (next = rest; slice_next_line(&next, &line); rest = next)
        if (!gperftools_is_blank_or_comment(line) && !read_contention_attribute(g, line, &contention))
            break;
    g->period = contention.period;
    return read_samples(g, rest, "---", read_contention_sample, &contention, err);
}

/* --- threads: "--- threadz 1 ---", then for each "--- Thread 7f12 (name: worker/17) stack: ---" and its addresses ---
 */

static bool is_thread_heading(struct slice line)
{
    uint64_t id;

    return gperftools_take(&line, "--- Thread ") && gperftools_take_hex(&line, &id) &&
           gperftools_take(&line, " (name: ") && slice_find(line, SLICE(") stack: ---")) >= 0;
}

bool gperftools_is_threads(struct slice bytes)
{
    struct slice rest, line = first_line(bytes, &rest);

    return slice_starts_with(line, SLICE("--- threadz ")) || is_thread_heading(line);
}

/* A thread with the stack of the one before it has no addresses of its own. */
static void end_thread(struct gperftools *g)
{
    if (g->samples.n == 0 || gperftools_last(g)->depth != 0)
        return;
    g->samples.n--;
    if (g->samples.n)
        gperftools_last(g)->values[0]++;
}

int gperftools_read_threads(struct gperftools *g, struct error *err)
{
    static const int64_t one = 1;
    struct slice rest = g->bytes, line = SLICE("");
    bool in_thread = false;

    g->types[0] = (struct gperftools_type){ SLICE("thread"), SLICE("count") };
    g->n_types = 1;
    g->period_type = g->types[0];
    g->period = 1;
    while (slice_next_line(&rest, &line) && !gperftools_is_map_heading(line)) {
        struct slice trimmed = slice_trim(line);
        int result = 0;

        if (slice_starts_with(trimmed, SLICE("---- no stack trace for")))
            break;
        if (slice_starts_with(trimmed, SLICE("---"))) {
            end_thread(g);
            in_thread = is_thread_heading(trimmed);
            if (in_thread)
                result = gperftools_add_sample(g, &one, err);
        } else if (in_thread) {
            result = gperftools_take_addresses(g, line, 0, -1, err);
        }
        if (result < 0)
            return -1;
    }
    end_thread(g);
    gperftools_remove_doubled_leaves(g);
    return read_rest(g, line, rest, err);
}
