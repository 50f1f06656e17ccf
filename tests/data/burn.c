// SPDX-License-Identifier: Apache-2.0
/* Something to profile: `burn SECONDS` spends that much CPU time in a few functions and keeps some of what it allocates
 * from others. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

struct node {
    struct node *next;
    char text[120];
};

static struct node *kept;
static volatile uint64_t sink;

static NOINLINE uint64_t mix(uint64_t x)
{
    for (int i = 0; i < 2000; i++)
        x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u + (uint64_t)i;
    return x;
}

static NOINLINE uint64_t hash_text(uint64_t x)
{
    uint64_t sum = 0;

    for (int i = 0; i < 20; i++)
        sum += mix(x + (uint64_t)i);
    return sum;
}

static NOINLINE uint64_t recurse(uint64_t x, int depth)
{
    return depth == 0 ? mix(x) : recurse(x + 1, depth - 1) + mix(x);
}

static NOINLINE void keep(int n)
{
    for (int i = 0; i < n; i++) {
        struct node *node = malloc(sizeof(*node));

        if (!node)
            exit(1);
        memset(node->text, i, sizeof(node->text));
        node->next = kept;
        kept = node;
    }
}

static NOINLINE void waste(int n)
{
    for (int i = 0; i < n; i++) {
        char *text = malloc(1000 + (size_t)i % 50);

        if (!text)
            exit(1);
        text[0] = (char)i;
        sink += (uint64_t)text[0];
        free(text);
    }
}

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.5;

    keep(20000);
    waste(20000);
    while (cpu_seconds() < seconds) {
        sink += hash_text(sink);
        sink += recurse(sink, 5);
    }
    printf("%llu %d\n", (unsigned long long)sink, kept != NULL);
    return 0;
}
