// SPDX-License-Identifier: Apache-2.0
#include "scrape/curlload.h"

#include "base/lock.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"

struct curlload curl;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define CURLLOAD_ROW(function) { "curl_" #function, offsetof(struct curlload, function) },
    CURLLOAD_FUNCTIONS(CURLLOAD_ROW)
#undef CURLLOAD_ROW
};

static int load(struct error *err)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return error_set(err, ERR_NOT_FOUND,
                         "asking other machines needs " LIBRARY
                         ", which cannot be loaded; on Debian it is in the package libcurl4: %s",
                         dlerror());
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        void *function = dlsym(library, functions[i].name);

        if (!function) {
            dlclose(library);
            return error_set(err, ERR_NOT_FOUND, LIBRARY " is too old: it has no %s", functions[i].name);
        }
        memcpy((char *)&curl + functions[i].offset, &function, sizeof(function));
    }
    return 0;
}

int curlload(struct error *err)
{
    static struct lock_mutex lock = LOCK_MUTEX_INIT(LOCK_SCRAPE_CURL);
    static bool is_loaded;
    int result = 0;

    lock_mutex_acquire(&lock);
    if (!is_loaded) {
        result = load(err);
        is_loaded = result == 0;
    }
    lock_mutex_release(&lock);
    return result;
}
