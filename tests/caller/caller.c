/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* A foreign caller, built against the installed library: two threads submit, callbacks count. */
#include <pthread.h>
#include <stdio.h>

#include <fanin.h>

enum { THREADS = 2, REQUESTS = 1000 };

static fanin_handle handle;
static unsigned done, other; /* the FFI thread's until destroy has returned */

static void on_done(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg, (void)len, (void)user_data;
        ret == FANIN_OK || ret == FANIN_CANCELLED ? done++ : other++;
}

static void *submit(void *unused)
{
        for (int i = 0; i < REQUESTS; i++)
                if (fanin_submit(handle, NULL, 0, on_done, NULL))
                        return &handle;
        return unused;
}

int main(void)
{
        char why[256];
        struct fanin_options options = {.config = "sharded_mutex/edge"};
        if (fanin_create(&handle, &options, why, sizeof why)) {
                fprintf(stderr, "caller: %s\n", why);
                return 1;
        }
        pthread_t threads[THREADS];
        void *refused[THREADS];
        for (int i = 0; i < THREADS; i++)
                pthread_create(&threads[i], NULL, submit, NULL);
        for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], &refused[i]);
        fanin_destroy(handle);
        printf("%u of %d requests called back\n", done, THREADS * REQUESTS);
        return refused[0] || refused[1] || other || done != THREADS * REQUESTS;
}
