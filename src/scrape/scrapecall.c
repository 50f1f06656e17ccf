// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapecall.h"

#include "base/fs.h"
#include "base/memory.h"
#include "base/version.h"

#include <stdio.h>

#define STORY_BYTES   1024 /* of an answer that is an error */
#define STORY_SHOWN   120
#define HEADER_BYTES  128
#define SECRET_BYTES  65536
#define REDIRECTS_MAX 3
#define PROTOCOLS     "http,https"
#define ACCEPT        "Accept: application/octet-stream, */*"
#define CONFLICT_STORY                                                                                                 \
    "another profiler is running in the target (%.80s); turn off one of the two: CPU profiles of the SDK there, or "   \
    "'process_cpu' of this job in pprof_config"

struct header_text {
    char text[HEADER_BYTES];
};

struct scrapecall {
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers, *connect_to;
    void *owner;
    struct scrapecall_budget *budget;
    struct buffer body;
    uint64_t max_body_bytes;
    uint64_t charged_bytes; /* to the budget */
    struct header_text content_type, content_encoding;
    bool is_go_pprof; /* the answer has X-Go-Pprof: its body is an error of net/http/pprof */
    bool is_cpu_profile;
    bool is_too_large, is_over_budget;
    char curl_error[CURL_ERROR_SIZE];
};

void scrapecall_free(struct scrapecall *call)
{
    if (!call)
        return;
    if (call->easy) {
        curl.multi_remove_handle(call->multi, call->easy); /* harmless for one that was not added */
        curl.easy_cleanup(call->easy);
    }
    curl.slist_free_all(call->headers);
    curl.slist_free_all(call->connect_to);
    call->budget->used_bytes -= call->charged_bytes;
    buffer_done(&call->body);
    memory_free(call);
}

static void free_call(struct scrapecall **call)
{
    scrapecall_free(*call);
}

/* --- what libcurl calls --- */

static long status_of(struct scrapecall *call)
{
    long status = 0;

    curl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Keeps bodies of good answers whole and the beginning of others. Taking less than was given ends the request. */
static size_t take_body(char *bytes, size_t one, size_t len, void *context)
{
    struct scrapecall *call = context;

    if (status_of(call) != 200) {
        buffer_append(&call->body, bytes, MIN(len, STORY_BYTES - MIN(call->body.len, (size_t)STORY_BYTES)));
        return len;
    }
    call->is_too_large = call->body.len + len > call->max_body_bytes;
    call->is_over_budget = call->budget->used_bytes + len > call->budget->max_bytes;
    if (call->is_too_large || call->is_over_budget)
        return 0;
    call->budget->used_bytes += len;
    call->charged_bytes += len;
    buffer_append(&call->body, bytes, len);
    return call->body.failure.code == ERR_OK ? len : 0;
}

static bool take_header(struct slice line, const char *name, struct header_text *into)
{
    ptrdiff_t colon = slice_find_byte(line, ':');

    if (colon < 0 || !slice_equal_nocase(slice_sub(line, 0, (size_t)colon), slice_from(name)))
        return false;
    snprintf(into->text, sizeof(into->text), "%.*s",
             SLICE_ARG(slice_trim(slice_sub(line, (size_t)colon + 1, line.len))));
    return true;
}

static size_t take_header_line(char *bytes, size_t one, size_t len, void *context)
{
    struct scrapecall *call = context;
    struct slice line = slice_of(bytes, len);
    struct header_text ignored;

    if (slice_starts_with(line, SLICE("HTTP/"))) { /* another answer begins, behind a redirect say */
        call->content_type.text[0] = call->content_encoding.text[0] = '\0';
        call->is_go_pprof = false;
    }
    if (!take_header(line, "content-type", &call->content_type) &&
        !take_header(line, "content-encoding", &call->content_encoding) && take_header(line, "x-go-pprof", &ignored))
        call->is_go_pprof = true;
    return len;
}

/* --- asking --- */

/* Sets an option; what goes wrong is no memory, or a libcurl that was built without it. */
#define SET(call, option, value)                                                                                       \
    do {                                                                                                               \
        CURLcode set_code_ = curl.easy_setopt((call)->easy, option, value);                                            \
                                                                                                                       \
        if (set_code_ != CURLE_OK)                                                                                     \
            return error_set(err, set_code_ == CURLE_OUT_OF_MEMORY ? ERR_MEMORY : ERR_UNSUPPORTED,                     \
                             "libcurl does not take %s: %s", #option, curl.easy_strerror(set_code_));                  \
    } while (0)

static int add_line(struct curl_slist **list, const char *line, struct error *err)
{
    struct curl_slist *longer = curl.slist_append(*list, line);

    if (!longer)
        return error_set(err, ERR_MEMORY, "no memory for a request");
    *list = longer;
    return 0;
}

/* A secret given as text or as the name of a file, which is read each time: they are changed by others. */
static int read_secret(struct slice text, struct slice file, struct buffer *into, struct error *err)
{
    struct slice secret;

    if (file.len == 0)
        buffer_append_slice(into, text);
    else if (fs_read_file(file.ptr, SECRET_BYTES, into, err) < 0)
        return error_wrap(err, "credentials");
    if (buffer_check(into, err) < 0)
        return -1;
    secret = slice_trim(buffer_slice(into));
    for (size_t i = 0; i < secret.len; i++)
        if ((unsigned char)secret.ptr[i] < ' ')
            return error_set(err, ERR_INVALID, "credentials%s%.*s hold a control character; they must be one line",
                             file.len ? " in " : "", SLICE_ARG(file));
    if (secret.len > 0)
        memmove(into->data, secret.ptr, secret.len);
    buffer_truncate(into, secret.len);
    buffer_append_byte(into, '\0');
    return buffer_check(into, err);
}

static int set_basic_auth(struct scrapecall *call, const struct scrapeconfig_http *http, struct error *err)
{
    AUTO(buffer_done) struct buffer password;

    buffer_init(&password, SECRET_BYTES + 1);
    if (read_secret(http->password, http->password_file, &password, err) < 0)
        return -1;
    SET(call, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    SET(call, CURLOPT_USERNAME, http->username.ptr);
    SET(call, CURLOPT_PASSWORD, password.data);
    return 0;
}

/* libcurl does not pass this header on to another host. */
static int set_authorization(struct scrapecall *call, const struct scrapeconfig_http *http, struct error *err)
{
    AUTO(buffer_done) struct buffer secret;
    AUTO(buffer_done) struct buffer line;

    buffer_init(&secret, SECRET_BYTES + 1);
    buffer_init(&line, 2 * SECRET_BYTES);
    if (read_secret(http->credentials, http->credentials_file, &secret, err) < 0)
        return -1;
    buffer_printf(&line, "Authorization: %.*s %s", SLICE_ARG(http->authorization_type), secret.data);
    if (buffer_check(&line, err) < 0)
        return -1;
    return add_line(&call->headers, line.data, err);
}

static void free_url(CURLU **url)
{
    curl.url_cleanup(*url);
}

static void free_curl_text(char **text)
{
    curl.free(*text);
}

/* The certificate is to be that of `server_name`: the URL is of that host, and the connection goes to the target. */
static int set_server_name(struct scrapecall *call, const struct scrapecall_request *request, struct error *err)
{
    AUTO(free_url) CURLU *url = curl.url();
    AUTO(free_curl_text) char *host = NULL;
    AUTO(free_curl_text) char *port = NULL;
    AUTO(free_curl_text) char *changed = NULL;
    const char *name = request->http->server_name.ptr;
    char line[2048];

    if (!url || curl.url_set(url, CURLUPART_URL, request->url.ptr, 0) || curl.url_get(url, CURLUPART_HOST, &host, 0) ||
        curl.url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) || curl.url_set(url, CURLUPART_HOST, name, 0) ||
        curl.url_get(url, CURLUPART_URL, &changed, 0))
        return error_set(err, ERR_INVALID, "server_name '%.64s' makes no URL", name);
    snprintf(line, sizeof(line), "%.512s:%s:%.512s:%s", name, port, host, port);
    if (add_line(&call->connect_to, line, err) < 0)
        return -1;
    snprintf(line, sizeof(line), "Host: %.512s:%s", host, port);
    if (add_line(&call->headers, line, err) < 0)
        return -1;
    SET(call, CURLOPT_URL, changed);
    SET(call, CURLOPT_CONNECT_TO, call->connect_to);
    return 0;
}

static int set_tls(struct scrapecall *call, const struct scrapecall_request *request, struct error *err)
{
    const struct scrapeconfig_http *http = request->http;

    if (http->ca_file.len > 0)
        SET(call, CURLOPT_CAINFO, http->ca_file.ptr);
    if (http->cert_file.len > 0) {
        SET(call, CURLOPT_SSLCERT, http->cert_file.ptr);
        SET(call, CURLOPT_SSLKEY, http->key_file.ptr);
    }
    if (http->skips_verification) {
        SET(call, CURLOPT_SSL_VERIFYPEER, 0L);
        SET(call, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (http->server_name.len > 0 && slice_starts_with(request->url, SLICE("https:")))
        return set_server_name(call, request, err);
    return 0;
}

static int set_limits(struct scrapecall *call, const struct scrapecall_request *request, struct error *err)
{
    SET(call, CURLOPT_NOSIGNAL, 1L);
    SET(call, CURLOPT_PROTOCOLS_STR, PROTOCOLS);
    SET(call, CURLOPT_REDIR_PROTOCOLS_STR, PROTOCOLS);
    SET(call, CURLOPT_FOLLOWLOCATION, request->http->follows_redirects ? 1L : 0L);
    SET(call, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    SET(call, CURLOPT_TIMEOUT_MS, (long)(request->timeout_ns / 1000000));
    SET(call, CURLOPT_CONNECTTIMEOUT_MS, (long)(request->connect_timeout_ns / 1000000));
    SET(call, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)request->max_body_bytes);
    return 0;
}

static int set_answer(struct scrapecall *call, struct error *err)
{
    SET(call, CURLOPT_PRIVATE, call);
    SET(call, CURLOPT_ERRORBUFFER, call->curl_error);
    SET(call, CURLOPT_WRITEFUNCTION, take_body);
    SET(call, CURLOPT_WRITEDATA, call);
    SET(call, CURLOPT_HEADERFUNCTION, take_header_line);
    SET(call, CURLOPT_HEADERDATA, call);
    return 0;
}

static int set_up(struct scrapecall *call, const struct scrapecall_request *request, struct error *err)
{
    const struct scrapeconfig_http *http = request->http;
    char agent[64];

    snprintf(agent, sizeof(agent), "hearth/%s", version_text());
    SET(call, CURLOPT_URL, request->url.ptr);
    SET(call, CURLOPT_USERAGENT, agent);
    /* The environment of the server has no say in where targets are. */
    SET(call, CURLOPT_PROXY, http->proxy_url.len > 0 ? http->proxy_url.ptr : "");
    if (set_limits(call, request, err) < 0 || set_answer(call, err) < 0 || set_tls(call, request, err) < 0 ||
        add_line(&call->headers, ACCEPT, err) < 0)
        return -1;
    if (http->has_basic_auth && set_basic_auth(call, http, err) < 0)
        return -1;
    if (http->has_authorization && set_authorization(call, http, err) < 0)
        return -1;
    SET(call, CURLOPT_HTTPHEADER, call->headers);
    return 0;
}

int scrapecall_start(CURLM *multi, const struct scrapecall_request *request, struct scrapecall_budget *budget,
                     void *owner, struct scrapecall **ret_call, struct error *err)
{
    AUTO(free_call) struct scrapecall *call = MEMORY_NEW(struct scrapecall, err);

    if (!call)
        return -1;
    call->multi = multi;
    call->budget = budget;
    call->owner = owner;
    call->max_body_bytes = request->max_body_bytes;
    call->is_cpu_profile = request->is_cpu_profile;
    buffer_init(&call->body, request->max_body_bytes + STORY_BYTES);
    call->easy = curl.easy_init();
    if (!call->easy)
        return error_set(err, ERR_MEMORY, "no memory for a request");
    if (set_up(call, request, err) < 0)
        return -1;
    if (curl.multi_add_handle(multi, call->easy) != CURLM_OK)
        return error_set(err, ERR_MEMORY, "libcurl does not take another request");
    *ret_call = TAKE(call);
    return 0;
}

/* --- the answer --- */

struct scrapecall *scrapecall_of(CURL *easy)
{
    char *call = NULL;

    curl.easy_getinfo(easy, CURLINFO_PRIVATE, &call);
    return (struct scrapecall *)(void *)call;
}

void *scrapecall_owner(const struct scrapecall *call)
{
    return call->owner;
}

/* The first line of an answer that is an error, without what could upset a terminal. */
static const char *story_of(const struct scrapecall *call, char ret_story[static STORY_SHOWN + 1])
{
    struct slice rest = slice_trim(buffer_slice(&call->body)), line = { NULL, 0 };
    size_t n = 0;

    if (!slice_next_line(&rest, &line))
        line = SLICE("no explanation");
    for (; n < MIN(line.len, (size_t)STORY_SHOWN); n++)
        ret_story[n] = (unsigned char)line.ptr[n] < ' ' || line.ptr[n] == 0x7f ? ' ' : line.ptr[n];
    ret_story[n] = '\0';
    return ret_story;
}

static enum scrape_result finish_status(struct scrapecall *call, long status, struct error *err)
{
    bool is_used = slice_find(buffer_slice(&call->body), SLICE("already in use")) >= 0;
    char story[STORY_SHOWN + 1];

    if (status == 200)
        return SCRAPE_OK;
    if (status == 404) {
        error_set(err, ERR_NOT_FOUND, "the target has no such profile (404); if that stays so, turn this kind off");
        return SCRAPE_ABSENT;
    }
    if (status == 500 && call->is_go_pprof && (call->is_cpu_profile || is_used)) {
        error_set(err, ERR_BUSY, CONFLICT_STORY, story_of(call, story));
        return SCRAPE_CONFLICT;
    }
    if (status >= 300 && status < 400)
        error_set(err, ERR_IO, "the target answered %ld, a redirect, which follow_redirects does not allow", status);
    else if (status == 401 || status == 403)
        error_set(err, ERR_DENIED, "the target answered %ld: it wants other credentials (basic_auth, authorization)",
                  status);
    else
        error_set(err, ERR_IO, "the target answered %ld: %s", status, story_of(call, story));
    return SCRAPE_HTTP;
}

static enum scrape_result finish_large(const struct scrapecall *call, struct error *err)
{
    if (call->is_over_budget && !call->is_too_large)
        error_set(err, ERR_LIMIT, "answers of %llu bytes are being received already, as many as all targets may have",
                  (unsigned long long)call->budget->used_bytes);
    else
        error_set(err, ERR_LIMIT, "the answer has more than %llu bytes", (unsigned long long)call->max_body_bytes);
    return SCRAPE_TOO_LARGE;
}

static const char *curl_story(const struct scrapecall *call, CURLcode code)
{
    return call->curl_error[0] ? call->curl_error : curl.easy_strerror(code);
}

enum scrape_result scrapecall_finish(struct scrapecall *call, CURLcode code, struct scrapecall_answer *ret_answer,
                                     struct error *ret_error)
{
    *ret_answer = (struct scrapecall_answer){ buffer_slice(&call->body), slice_from(call->content_type.text),
                                              slice_from(call->content_encoding.text) };
    if (call->is_too_large || call->is_over_budget || code == CURLE_FILESIZE_EXCEEDED)
        return finish_large(call, ret_error);
    if (code == CURLE_OPERATION_TIMEDOUT) {
        error_set(ret_error, ERR_TIMEOUT, "the target was too slow: %.160s; raise scrape_timeout if it needs longer",
                  curl_story(call, code));
        return SCRAPE_TIMEOUT;
    }
    if (code != CURLE_OK && buffer_check(&call->body, ret_error) < 0)
        return SCRAPE_TOO_LARGE;
    if (code == CURLE_TOO_MANY_REDIRECTS) {
        error_set(ret_error, ERR_IO, "the target redirects more than %d times", REDIRECTS_MAX);
        return SCRAPE_HTTP;
    }
    if (code != CURLE_OK) {
        error_set(ret_error, ERR_IO, "the target cannot be reached: %.200s", curl_story(call, code));
        return SCRAPE_UNREACHABLE;
    }
    return finish_status(call, status_of(call), ret_error);
}
