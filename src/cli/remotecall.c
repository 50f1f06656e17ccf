// SPDX-License-Identifier: Apache-2.0
#include "cli/remotecall.h"

#include "base/version.h"
#include "scrape/curlload.h"

#include <stdio.h>
#include <string.h>

#define HEADER_MAX_BYTES   16384
#define CONNECT_TIMEOUT_MS 10000L
#define TENANT_HEADER      "X-Scope-OrgID: "
#define UNIX_PREFIX        "unix:"
#define URL_HINT           "; give http://HOST:PORT, https://HOST:PORT or unix:PATH"
#define NS_PER_MILLISECOND 1000000

/* --- what is sent --- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~:,", c) != NULL;
}

void remotecall_append(struct buffer *parameters, const char *name, const char *value)
{
    buffer_append_text(parameters, parameters->len ? "&" : "");
    buffer_append_text(parameters, name);
    buffer_append_byte(parameters, '=');
    for (; *value; value++) {
        if (is_plain(*value))
            buffer_append_byte(parameters, *value);
        else
            buffer_printf(parameters, "%%%02X", (unsigned char)*value);
    }
}

static bool is_unix(const char *url)
{
    return strncmp(url, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0;
}

static int check_url(const char *url, struct error *err)
{
    if (is_unix(url) && url[strlen(UNIX_PREFIX)] != '\0')
        return 0;
    if ((strncmp(url, "http://", 7) == 0 && url[7]) || (strncmp(url, "https://", 8) == 0 && url[8])) {
        if (!strpbrk(url, "?# "))
            return 0;
        return error_set(err, ERR_USAGE, "--url '%.80s' has more than the address of a server in it" URL_HINT, url);
    }
    return error_set(err, ERR_USAGE, "--url '%.80s' is no address of a server" URL_HINT, url);
}

/* Ends in a NUL. */
static int make_url(const struct remotecall *call, struct buffer *url, struct error *err)
{
    struct slice server = is_unix(call->url) ? SLICE("http://localhost") : slice_from(call->url);

    while (slice_ends_with(server, SLICE("/")))
        server.len--;
    buffer_append_slice(url, server);
    buffer_append_text(url, call->path);
    if (!call->is_post && call->parameters.len > 0) {
        buffer_append_byte(url, '?');
        buffer_append_slice(url, call->parameters);
    }
    buffer_append_byte(url, '\0');
    return buffer_check(url, err);
}

/* --- what comes --- */

static size_t take_body(char *bytes, size_t one UNUSED, size_t len, void *context)
{
    struct remotecall_answer *answer = context;

    buffer_append(&answer->body, bytes, len);
    return answer->body.failure.code == ERR_OK ? len : 0;
}

static size_t take_header(char *bytes, size_t one UNUSED, size_t len, void *context)
{
    struct remotecall_answer *answer = context;
    const struct {
        const char *name;
        struct buffer *into;
    } wanted[] = { { "content-type", &answer->content_type },
                   { "x-hearth-error", &answer->error },
                   { "x-hearth-exit", &answer->exit },
                   { "x-hearth-messages", &answer->messages } };
    struct slice line = slice_of(bytes, len);
    ptrdiff_t colon = slice_find_byte(line, ':');

    if (colon <= 0)
        return len;
    if (slice_equal_nocase(slice_sub(line, 0, (size_t)colon), SLICE("server-timing")))
        answer->is_of_api = true;
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (slice_equal_nocase(slice_sub(line, 0, (size_t)colon), slice_from(wanted[i].name))) {
            buffer_clear(wanted[i].into);
            buffer_append_slice(wanted[i].into, slice_trim(slice_sub(line, (size_t)colon + 1, SIZE_MAX)));
        }
    return len;
}

/* --- the call --- */

struct handles {
    CURL *easy;
    struct curl_slist *headers;
    char error[CURL_ERROR_SIZE];
};

static void free_handles(struct handles *handles)
{
    curl.slist_free_all(handles->headers);
    if (handles->easy)
        curl.easy_cleanup(handles->easy);
}

#define SET(handles, option, value)                                                                                    \
    do {                                                                                                               \
        CURLcode set_code_ = curl.easy_setopt((handles)->easy, option, value);                                         \
                                                                                                                       \
        if (set_code_ != CURLE_OK)                                                                                     \
            return error_set(err, set_code_ == CURLE_OUT_OF_MEMORY ? ERR_MEMORY : ERR_UNSUPPORTED,                     \
                             "libcurl does not take %s: %s", #option, curl.easy_strerror(set_code_));                  \
    } while (0)

static int add_header(struct handles *handles, const char *line, struct error *err)
{
    struct curl_slist *longer = curl.slist_append(handles->headers, line);

    if (!longer)
        return error_set(err, ERR_MEMORY, "no memory for a request");
    handles->headers = longer;
    return 0;
}

static int set_request(struct handles *handles, const struct remotecall *call, const char *url, struct error *err)
{
    char line[512];

    SET(handles, CURLOPT_URL, url);
    SET(handles, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(handles, CURLOPT_NOSIGNAL, 1L);
    SET(handles, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
    SET(handles, CURLOPT_TIMEOUT_MS, (long)MIN(call->timeout_ns / NS_PER_MILLISECOND, (int64_t)INT32_MAX));
    SET(handles, CURLOPT_ACCEPT_ENCODING, ""); /* whatever libcurl can unpack */
    SET(handles, CURLOPT_ERRORBUFFER, handles->error);
    if (is_unix(call->url)) {
        SET(handles, CURLOPT_UNIX_SOCKET_PATH, call->url + strlen(UNIX_PREFIX));
        SET(handles, CURLOPT_NOPROXY, "*");
    }
    snprintf(line, sizeof(line), "User-Agent: hearth/%s", version_text());
    if (add_header(handles, line, err) < 0)
        return -1;
    if (call->is_post) {
        SET(handles, CURLOPT_POST, 1L);
        SET(handles, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->parameters.len);
        SET(handles, CURLOPT_POSTFIELDS, call->parameters.len ? call->parameters.ptr : "");
    }
    if (call->content_type) {
        snprintf(line, sizeof(line), "Content-Type: %.100s", call->content_type);
        if (add_header(handles, line, err) < 0)
            return -1;
    }
    if (call->tenant) {
        snprintf(line, sizeof(line), TENANT_HEADER "%.200s", call->tenant);
        if (add_header(handles, line, err) < 0)
            return -1;
    }
    SET(handles, CURLOPT_HTTPHEADER, handles->headers);
    return 0;
}

static int set_takers(struct handles *handles, struct remotecall_answer *answer, struct error *err)
{
    SET(handles, CURLOPT_WRITEFUNCTION, take_body);
    SET(handles, CURLOPT_WRITEDATA, answer);
    SET(handles, CURLOPT_HEADERFUNCTION, take_header);
    SET(handles, CURLOPT_HEADERDATA, answer);
    return 0;
}

/* What went wrong, and what to look at. */
static int tell_failure(CURLcode code, const struct handles *handles, const struct remotecall *call,
                        const struct remotecall_answer *answer, struct error *err)
{
    const char *story = handles->error[0] ? handles->error : curl.easy_strerror(code);

    if (answer->body.failure.code != ERR_OK)
        return error_set(err, answer->body.failure.code, "the answer of %.80s: %s", call->url,
                         answer->body.failure.text);
    switch (code) {
    case CURLE_COULDNT_CONNECT:
        return error_set(err, ERR_IO, "nobody answers at %.80s (%.80s); is 'hearth server' running there?", call->url,
                         story);
    case CURLE_COULDNT_RESOLVE_HOST:
        return error_set(err, ERR_IO, "the host of %.80s is not known (%.80s); look for a slip in --url", call->url,
                         story);
    case CURLE_OPERATION_TIMEDOUT: return error_set(err, ERR_TIMEOUT, "asking %.80s: %.80s", call->url, story);
    default: return error_set(err, ERR_IO, "asking %.80s: %.120s", call->url, story);
    }
}

static int perform(const struct remotecall *call, struct remotecall_answer *answer, struct error *err)
{
    AUTO(free_handles) struct handles handles = { .easy = curl.easy_init() };
    AUTO(buffer_done) struct buffer url;
    long status = 0;
    CURLcode code;

    buffer_init(&url, 0);
    if (!handles.easy)
        return error_set(err, ERR_MEMORY, "no memory for a request");
    if (make_url(call, &url, err) < 0 || set_request(&handles, call, url.data, err) < 0 ||
        set_takers(&handles, answer, err) < 0)
        return -1;
    code = curl.easy_perform(handles.easy);
    if (code != CURLE_OK)
        return tell_failure(code, &handles, call, answer, err);
    curl.easy_getinfo(handles.easy, CURLINFO_RESPONSE_CODE, &status);
    answer->status = (int)status;
    return 0;
}

int remotecall_check(const char *url, struct error *err)
{
    return check_url(url, err) < 0 ? -1 : curlload(err);
}

int remotecall_perform(const struct remotecall *call, struct remotecall_answer *ret_answer, struct error *err)
{
    *ret_answer = (struct remotecall_answer){ 0 };
    buffer_init(&ret_answer->body, REMOTECALL_MAX_BYTES);
    buffer_init(&ret_answer->content_type, HEADER_MAX_BYTES);
    buffer_init(&ret_answer->error, HEADER_MAX_BYTES);
    buffer_init(&ret_answer->exit, HEADER_MAX_BYTES);
    buffer_init(&ret_answer->messages, HEADER_MAX_BYTES);
    if (remotecall_check(call->url, err) < 0)
        return -1;
    return perform(call, ret_answer, err);
}

void remotecall_done(struct remotecall_answer *answer)
{
    buffer_done(&answer->body);
    buffer_done(&answer->content_type);
    buffer_done(&answer->error);
    buffer_done(&answer->exit);
    buffer_done(&answer->messages);
}
