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
 * asym     flag without the push's fence: announce pays for both sides, with a membarrier
 *          (queues/guard.h). It makes every running thread of the process execute a full fence at
 *          some point of its own between two instructions; a thread that isn't running had one when
 *          it was switched out. If that point comes before a push's look at word, the look sees the
 *          1 that was stored before the membarrier. If it comes after, it comes after the push too,
 *          whose writes precede the look (the compiler is kept to that by a signal fence), so the
 *          second drain finds the request. All else is as under flag. What it costs: each sleep
 *          takes a membarrier of 0.5 to 10 µs and interrupts the process's other running threads;
 *          it pays when many submits share a sleep, and is worst for ping-pong. Where the kernel
 *          has no membarrier it is refused (spec.c): the guard's own fence there comes before the
 *          push, where it doesn't help.
 *
 * poll     Nobody sends; wait is a timed sleep. A request waits at most poll_ms.
 *
 * own      Nobody sends: wait is the queue's, which returns when there may be something, and push
 *          sees to that (queue.h). What wait takes out, the next drain hands back. Reset is another
 *          look that doesn't wait: it says whether a wait that timed out missed a push by a hair,
 *          which is no loss. If that look consumes an interrupt, nothing is lost either: what
 *          destroy wrote before it is seen after it, and ffi_main looks before the next wait.
 *
 * The fallback poll (poll_ms > 0 under the others) bounds a lost wake and so would hide it: what it
 * finds is counted by ffi.c, as late if a producer was inside a submit, as lost if none was.
 */
#include "wake.h"

const struct wake_policy_facts wake_policies[WAKE_POLICIES] = {
        [WAKE_EVERY] = {"every", "wake on every submit", WAKE_NEEDS_SIGNAL},
        [WAKE_EDGE] = {"edge", "wake when the push found its list empty",
                WAKE_NEEDS_SIGNAL | WAKE_NEEDS_EDGE},
        [WAKE_PENDING] = {"pending", "wake unless a wake is on its way already", WAKE_NEEDS_SIGNAL},
        [WAKE_FLAG] = {"flag", "wake only while the FFI thread says that it sleeps",
                WAKE_NEEDS_SIGNAL},
        [WAKE_ASYM] = {"asym",
                "flag with submit's fence traded for a membarrier a sleep (0.5-10 us, interrupts "
                "all "
                "running threads; worst for ping-pong)",
                WAKE_NEEDS_SIGNAL | WAKE_NEEDS_MEMBARRIER},
        [WAKE_POLL] = {"poll", "never wake; the FFI thread looks every poll-ms",
                WAKE_NEEDS_NO_SETTLE},
        [WAKE_OWN] = {"own", "the queue's own wait, for queues that have one", WAKE_NEEDS_HOOKS},
};

int wake_create(struct wake *wake, enum wake_policy policy, const struct signal_ops *ops,
        int poll_ms, const struct queue_ops *queue_ops, struct queue *queue)
{
        wake->policy = policy;
        wake->poll_ms = poll_ms ? poll_ms : -1;
        wake->ops = ops;
        wake->queue_ops = queue_ops;
        wake->queue = queue;
        atomic_store_explicit(&wake->word, 0, memory_order_relaxed);
        return ops->create(&wake->signal);
}

void wake_destroy(struct wake *wake)
{
        wake->ops->destroy(&wake->signal);
}

/* The FFI thread had announced its sleep, and of all who saw that we are the one to send. */
static bool takes_announcement(struct wake *wake)
{
        return atomic_load_explicit(&wake->word, memory_order_relaxed) &&
               /* Acquire and release: the winner's send follows the announcement. */
               atomic_exchange_explicit(&wake->word, 0, memory_order_acq_rel);
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
                if (!takes_announcement(wake))
                        return false;
                break;
        case WAKE_ASYM:
                /* The compiler's order; the membarrier in wake_announce supplies the processor's.
                 */
                atomic_signal_fence(memory_order_seq_cst);
                if (!takes_announcement(wake))
                        return false;
                break;
        default:
                return false;
        }
        return wake->ops->send(&wake->signal);
}

void wake_interrupt(struct wake *wake)
{
        if (wake->policy == WAKE_OWN)
                wake->queue_ops->interrupt(wake->queue);
        else
                wake->ops->send(&wake->signal);
}

static bool announces(const struct wake *wake)
{
        return wake->policy == WAKE_FLAG || wake->policy == WAKE_ASYM;
}

bool wake_announce(struct wake *wake)
{
        if (!announces(wake))
                return false;
        atomic_store_explicit(&wake->word, 1, memory_order_relaxed);
        /* With the fence, or the signal fence, in wake_after_push: store buffering, see above. */
        if (wake->policy == WAKE_FLAG)
                atomic_thread_fence(memory_order_seq_cst);
        else
                queue_guard_barrier();
        return true;
}

void wake_retract(struct wake *wake)
{
        if (announces(wake))
                atomic_store_explicit(&wake->word, 0, memory_order_relaxed);
}

bool wake_wait(struct wake *wake)
{
        if (wake->policy == WAKE_OWN)
                return wake->queue_ops->wait(wake->queue, wake->poll_ms);
        return wake->ops->wait(&wake->signal, wake->poll_ms);
}

bool wake_reset(struct wake *wake)
{
        if (wake->policy == WAKE_OWN)
                return wake->queue_ops->wait(wake->queue, 0);
        /* Here, not in wake_wait: from now on pushes elide, so ffi.c reads the guards before, lest
         * an honest elision count as a lost wake. */
        wake_retract(wake);
        bool raised = wake->ops->reset(&wake->signal);
        if (wake->policy == WAKE_PENDING)
                /* Acquire, with the release in wake_after_push; after the reset, see above. */
                atomic_exchange_explicit(&wake->word, 0, memory_order_acq_rel);
        return raised;
}
