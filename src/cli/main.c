// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "base/memory.h"
#include "cli/commands.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define WIDTH_MIN     40
#define WIDTH_MAX     120

/* A program started with standard descriptors closed would open its first files as 0, 1 and 2 and print into them.
 * Read-only, so that output to a closed descriptor still fails and is noticed. */
static void hold_standard_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static unsigned columns_of(int fd)
{
    struct winsize size;

    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return WIDTH_DEFAULT;
    return MIN(MAX(size.ws_col, WIDTH_MIN), WIDTH_MAX);
}

int main(int argc, char **argv)
{
    memory_use_few_pools();
    hold_standard_descriptors();
    /* SIGPIPE keeps its default: `hearth top ... | head` ends in silence. Commands that serve ignore it themselves. */
    return command_main(&commands,
                        &(struct command_world){
                            .out = stdout,
                            .messages = stderr,
                            .environment = (const char *const *)environ,
                            .has_colour = log_has_colour(STDOUT_FILENO),
                            .width = columns_of(STDOUT_FILENO),
                        },
                        argc, (const char *const *)argv);
}
