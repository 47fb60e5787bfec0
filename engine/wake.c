/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The one place where sleeping and waking are argued.
 *
 * The FFI thread's loop (ffi.c) is
 *
 *      drain to EMPTY; if (announce) drain again; wait; reset the signal; drain to EMPTY; …
 *
 * A request is lost if its push has returned, the FFI thread waits, and neither is the signal
 * raised nor will the push's thread, or another that is still inside a submit, raise it. Reset
 * always comes before the drain that follows it, never between a drain and the wait.
 *
 * every    The push is followed by a send. If reset consumed that send, the drain after the reset
 *          began after the push returned, and by E1 (queue.h) takes the request. If not, the signal
 *          is still raised, and wait returns.
 *
 * edge     Only a push that found its list empty sends. By E2, of what EMPTY leaves behind, a push
 * at or before it in the same list was FIRST and came after the drain's last look, hence after the
 * reset: its send is not consumed, so wait returns. STALLED is not EMPTY, or a push hidden behind
 * an unfinished one would be slept through.
 *
 * pending  (libuv's) A push sends if it turned `word` from 0 to 1. Reset lowers the signal first,
 *          then turns word to 0. A push that finds 1 elides: whoever set it has sent or is about to
 *          send. If the FFI thread turns word to 0 after our exchange, the read-modify-write chain
 *          orders our push before its drain: E1. If it did so before, the one that set word did
 * after that, hence after the reset: its send is not consumed. (Turned to 0 before the reset, word
 *          could be set and its send consumed by that reset: everyone would elide for ever.)
 *
 * flag     A push sends if it turned `word` (the FFI thread sleeps) from 1 to 0. Store buffering is
 *          the danger: push writes the queue, then reads word; announce writes word, then the
 * second drain reads the queue. Both fence between, so one of them sees the other: the drain finds
 *          the request, or the push finds word 1. Only the winner of the exchange sends, once.
 *
 * poll     Nobody sends; wait is a timed sleep. A request waits at most poll_ms.
 *
 * The fallback poll (poll_ms > 0 under the others) bounds a lost wake and so would hide it: what it
 * finds is counted by ffi.c, as late if a producer was inside a submit, as lost if none was.
 */
#include "wake.h"

const struct wake_policy_text wake_policies[WAKE_POLICIES] = {
        [WAKE_EVERY] = {"every", "wake on every submit"},
        [WAKE_EDGE] = {"edge", "wake when the push found its list empty"},
        [WAKE_PENDING] = {"pending", "wake unless a wake is on its way already"},
        [WAKE_FLAG] = {"flag", "wake only while the FFI thread says that it sleeps"},
        [WAKE_POLL] = {"poll", "never wake; the FFI thread looks every poll-ms"},
};

int wake_create(
        struct wake *wake, enum wake_policy policy, const struct signal_ops *ops, int poll_ms)
{
        wake->policy = policy;
        wake->poll_ms = poll_ms ? poll_ms : -1;
        wake->ops = ops;
        atomic_store_explicit(&wake->word, 0, memory_order_relaxed);
        return ops->create(&wake->signal);
}

void wake_destroy(struct wake *wake)
{
        wake->ops->destroy(&wake->signal);
}

bool wake_after_push(struct wake *wake, bool first)
{
        switch (wake->policy) {
        case WAKE_EVERY:
                break;
        case WAKE_EDGE:
                if (!first)
                        return false;
                break;
        case WAKE_PENDING:
                /* Release, with the acquire in wake_reset: our push comes before its drain. */
                if (atomic_exchange_explicit(&wake->word, 1, memory_order_acq_rel))
                        return false;
                break;
        case WAKE_FLAG:
                /* With the fence in wake_announce: store buffering, see above. */
                atomic_thread_fence(memory_order_seq_cst);
                if (!atomic_load_explicit(&wake->word, memory_order_relaxed) ||
                        /* Acquire and release: the winner's send follows the announcement. */
                        !atomic_exchange_explicit(&wake->word, 0, memory_order_acq_rel))
                        return false;
                break;
        default:
                return false;
        }
        return wake->ops->send(&wake->signal);
}

void wake_interrupt(struct wake *wake)
{
        wake->ops->send(&wake->signal);
}

bool wake_announce(struct wake *wake)
{
        if (wake->policy != WAKE_FLAG)
                return false;
        atomic_store_explicit(&wake->word, 1, memory_order_relaxed);
        /* With the fence in wake_after_push: store buffering, see above. */
        atomic_thread_fence(memory_order_seq_cst);
        return true;
}

void wake_retract(struct wake *wake)
{
        if (wake->policy == WAKE_FLAG)
                atomic_store_explicit(&wake->word, 0, memory_order_relaxed);
}

bool wake_wait(struct wake *wake)
{
        return wake->ops->wait(&wake->signal, wake->poll_ms);
}

bool wake_reset(struct wake *wake)
{
        /* Here, not in wake_wait: from now on pushes elide, so ffi.c reads the guards before, lest
         * an honest elision count as a lost wake. */
        wake_retract(wake);
        bool raised = wake->ops->reset(&wake->signal);
        if (wake->policy == WAKE_PENDING)
                /* Acquire, with the release in wake_after_push; after the reset, see above. */
                atomic_exchange_explicit(&wake->word, 0, memory_order_acq_rel);
        return raised;
}
