/* needs: libuv */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * libuv's wake, with its loop as the FFI thread's wait. `mutex/every/uv_async` is how C programs on
 * libuv do this job: a list under a mutex, uv_async_send after each push, the callback drains.
 *
 * uv_async_send elides by itself while an earlier one is pending, and doesn't say so: send returns
 * true for "handed to libuv". It finds that out by a plain load, which a processor may do before
 * the sender's last writes are visible; the loop could then take the pending wake, and the FFI
 * thread look, in between: a lost wake (libuv's pull request 349 has the example). So send fences
 * first. Behind the unlock of a mutex on x86 that is one fence too many, elsewhere it is needed.
 *
 * The loop has one user at a time: create, then the FFI thread, then destroy; uv_async_send is
 * libuv's one call for other threads.
 */
#include <errno.h>
#include <stdlib.h>

#include <uv.h>

#include "../queues/queue.h"
#include "signal.h"

struct uv_signal {
        uv_loop_t loop;
        uv_async_t async;
        uv_timer_t timer;
        bool raised, expired; /* by the callbacks, on the FFI thread */
};

static void on_async(uv_async_t *async)
{
        ((struct uv_signal *)async->data)->raised = true;
}

static void on_timer(uv_timer_t *timer)
{
        ((struct uv_signal *)timer->data)->expired = true;
}

static int uv_create(struct signal *signal)
{
        struct uv_signal *uv = calloc(1, sizeof *uv);
        if (!uv)
                return -ENOMEM;
        int error = uv_loop_init(&uv->loop);
        if (!error) {
                error = uv_async_init(&uv->loop, &uv->async, on_async);
                if (error)
                        uv_loop_close(&uv->loop);
        }
        if (error) {
                free(uv);
                return error; /* libuv's are -errno here */
        }
        uv_timer_init(&uv->loop, &uv->timer);
        uv->async.data = uv->timer.data = uv;
        signal->library = uv;
        return 0;
}

static void uv_destroy(struct signal *signal)
{
        struct uv_signal *uv = signal->library;
        uv_close((uv_handle_t *)&uv->async, NULL);
        uv_close((uv_handle_t *)&uv->timer, NULL);
        uv_run(&uv->loop, UV_RUN_DEFAULT); /* until both are closed */
        uv_loop_close(&uv->loop);
        free(uv);
}

static bool uv_send(struct signal *signal)
{
        struct uv_signal *uv = signal->library;
        /* With libuv's exchange of its pending flag in uv_look: see above. */
        atomic_thread_fence(memory_order_seq_cst);
        /* libuv is not built for ThreadSanitizer: with the acquire in uv_look. */
        queue_hidden_release(uv);
        uv_async_send(&uv->async);
        return true;
}

/* Runs the loop once; true: raised. */
static bool uv_look(struct uv_signal *uv, uv_run_mode mode)
{
        uv_run(&uv->loop, mode);
        if (uv->raised)
                queue_hidden_acquire(uv);
        return uv->raised;
}

static bool uv_wait(struct signal *signal, int timeout_ms)
{
        struct uv_signal *uv = signal->library;
        if (uv->raised || uv_look(uv, UV_RUN_NOWAIT) || !timeout_ms)
                return uv->raised;
        uv->expired = false;
        if (timeout_ms > 0) {
                uv_update_time(&uv->loop); /* which the timer counts from */
                uv_timer_start(&uv->timer, on_timer, (uint64_t)timeout_ms, 0);
        }
        while (!uv_look(uv, UV_RUN_ONCE) && !uv->expired)
                ;
        uv_timer_stop(&uv->timer);
        return uv->raised;
}

static bool uv_reset(struct signal *signal)
{
        struct uv_signal *uv = signal->library;
        /* What came after a wait that was raised is left for the next, as in a libuv program: the
         * look would cost it a system call a wake. */
        bool raised = uv->raised || uv_look(uv, UV_RUN_NOWAIT);
        uv->raised = false;
        return raised;
}

static const struct signal_ops signal_uv_async = {"uv_async",
        "libuv's uv_async_send, the FFI thread in its loop (mutex/every/uv_async: libuv's idiom)",
        uv_create, uv_destroy, uv_send, uv_wait, uv_reset};

extern const struct signal_ops *const signal_uv_signals[];
const struct signal_ops *const signal_uv_signals[] = {&signal_uv_async, NULL};
