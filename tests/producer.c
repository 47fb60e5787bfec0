/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The dense producer index: dealt lowest first, held by one thread at a time, given back when the
 * thread ends, and passed on with the lane's order. The main thread never takes one.
 */
#include <limits.h>
#include <sched.h>
#include <stdlib.h>

#include "contract/report.h"
#include "doing.h"

enum { PRODUCERS = 16 };

static void spawn_and_join(void *(*run)(void *), void *argument)
{
        pthread_join(spawn(run, argument), NULL);
        assert_unfailed();
}

static fanin_handle start(const char *config, unsigned producers, fanin_handler handler)
{
        const struct fanin_options options = {
                .config = config, .producers = producers, .handler = handler};
        return start_with(&options);
}

static void count(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg, (void)len;
        if (ret)
                note("a request was not done");
        atomic_fetch_add((_Atomic unsigned *)user_data, 1);
}

/* Dense. */

static void *get_index(void *index)
{
        unsigned first = fanin_producer();
        if (fanin_producer() != first)
                note("a thread's index changed");
        *(unsigned *)index = first;
        return NULL;
}

static void test_one_after_the_other(void **state)
{
        (void)state;
        begin("threads one after the other");
        for (unsigned i = 0; i < 100; i++) {
                unsigned index;
                spawn_and_join(get_index, &index);
                assert_equal("index", index, 0);
        }
}

static pthread_barrier_t all_have_one;
static _Atomic unsigned not_ready;

static void *get_index_beside_others(void *index)
{
        atomic_fetch_sub(&not_ready, 1);
        for (unsigned spins = 1; atomic_load(&not_ready); spins++) /* so that they collide */
                if (spins % 1024)
                        queue_relax();
                else
                        sched_yield();
        get_index(index);
        pthread_barrier_wait(&all_have_one);
        return NULL;
}

static void run_beside_each_other(unsigned number)
{
        enum { MOST = 100 };
        pthread_t threads[MOST];
        unsigned indices[MOST], owners[MOST] = {0};
        pthread_barrier_init(&all_have_one, NULL, number);
        atomic_store(&not_ready, number);
        for (unsigned i = 0; i < number; i++)
                threads[i] = spawn(get_index_beside_others, &indices[i]);
        for (unsigned i = 0; i < number; i++)
                pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&all_have_one);
        assert_unfailed();
        for (unsigned i = 0; i < number; i++) {
                assert_in_range(indices[i], 0, number - 1);
                owners[indices[i]]++;
        }
        for (unsigned i = 0; i < number; i++)
                assert_equal("an index's owners", owners[i], 1);
}

static void test_beside_each_other(void **state)
{
        (void)state;
        static const unsigned counts[] = {1, 3, 5, 7, 48, 100, 65, 64};
        begin("threads beside each other");
        for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
                run_beside_each_other(counts[i]);
        for (unsigned i = 0; i < 3000; i++)
                run_beside_each_other(2);
}

/* Held by one thread at a time, and passed on in order. */

/* 10,000 lives; under a sanitizer a thread is dear. */
enum {
        STREAMS = 8,
        LIVES = REPORT_SANITIZED ? 100 : 1250,
        LIFE = 3,
        CHURN = STREAMS * LIVES * LIFE
};

struct stamp {
        unsigned index, sequence;
};

static struct {
        fanin_handle handle;
        bool ordered;
        atomic_bool owned[FANIN_PRODUCERS_MAX];
        /* Its owner's: plain, so that ThreadSanitizer sees whether the index passes it on. */
        unsigned submitted[FANIN_PRODUCERS_MAX];
        unsigned called[FANIN_PRODUCERS_MAX]; /* the FFI thread's */
        _Atomic unsigned total, starts;
        struct stamp stamps[CHURN];
} churn;

static void check_stamp(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg, (void)len;
        const struct stamp *stamp = user_data;
        unsigned *next = &churn.called[stamp->index];
        if (ret)
                note("a request was not done");
        if (churn.ordered && stamp->sequence != *next)
                note("a request of an index's next owner overtook one of its last");
        ++*next;
        atomic_fetch_add(&churn.total, 1);
}

static void *live_shortly(void *stamps)
{
        struct stamp *stamp = stamps;
        unsigned index = fanin_producer();
        if (index >= FANIN_PRODUCERS_MAX) {
                note("no index, though few threads live");
                return NULL;
        }
        if (atomic_exchange(&churn.owned[index], true))
                note("two threads hold one index");
        for (unsigned i = 0; i < LIFE; i++, stamp++) {
                *stamp = (struct stamp){index, churn.submitted[index]++};
                if (fanin_submit(churn.handle, NULL, 0, check_stamp, stamp))
                        note("submit refused");
        }
        if (fanin_producer() != index)
                note("a thread's index changed");
        if (!atomic_exchange(&churn.owned[index], false))
                note("two threads held one index");
        return NULL;
}

/* One life after the other; beside it run the other streams. */
static void *stream(void *unused)
{
        (void)unused;
        size_t first = (size_t)LIVES * LIFE * atomic_fetch_add(&churn.starts, 1);
        for (size_t life = first; life < first + (size_t)LIVES * LIFE; life += LIFE) {
                pthread_t thread;
                while (pthread_create(&thread, NULL, live_shortly, &churn.stamps[life]))
                        sched_yield();
                pthread_join(thread, NULL);
        }
        return NULL;
}

static void run_churn(const struct queue_ops *ops)
{
        memset(&churn, 0, sizeof churn);
        churn.ordered = ops->traits & QUEUE_FIFO_PRODUCER;
        churn.handle = start(ops->name, PRODUCERS, NULL);
        pthread_t streams[STREAMS];
        for (unsigned i = 0; i < STREAMS; i++)
                streams[i] = spawn(stream, NULL);
        for (unsigned i = 0; i < STREAMS; i++)
                pthread_join(streams[i], NULL);
        assert_unfailed();
        await(&churn.total, CHURN);
        stop(churn.handle);
        assert_equal("callbacks", churn.total, CHURN);
        for (unsigned i = 0; i < FANIN_PRODUCERS_MAX; i++)
                assert_equal("an index's callbacks", churn.called[i], churn.submitted[i]);
}

static void test_short_lives(void **state)
{
        (void)state;
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                begin("%s", ops->name);
                run_churn(ops);
        }
}

/* The dead one's requests are still queued when the next owner submits. */

enum { OWNERS = 5, OWNER_EACH = 20, OWNERS_ALL = OWNERS * OWNER_EACH };

static struct {
        fanin_handle handle;
        sem_t entered, open;
        unsigned next; /* the FFI thread's */
        _Atomic unsigned total;
} relay;

static int hold(void *handler_data, const void *payload, size_t payload_bytes, const char **msg,
        size_t *len)
{
        (void)handler_data, (void)payload_bytes, (void)msg, (void)len;
        if (payload == &relay) {
                sem_post(&relay.entered);
                take(&relay.open);
        }
        return 0;
}

static void check_turn(int ret, const char *msg, size_t len, void *user_data)
{
        (void)ret, (void)msg, (void)len;
        if ((uintptr_t)user_data != relay.next++)
                note("a request of an index's next owner overtook one of its last");
        atomic_fetch_add(&relay.total, 1);
}

static void *own_index_0(void *first_sequence)
{
        if (fanin_producer() != 0)
                note("the index was not passed on");
        for (uintptr_t i = 0; i < OWNER_EACH; i++)
                if (fanin_submit(relay.handle, NULL, 0, check_turn,
                            (void *)((uintptr_t)first_sequence + i)))
                        note("submit refused");
        return NULL;
}

static void *submit_hold(void *unused)
{
        (void)unused;
        if (fanin_submit(relay.handle, &relay, 0, NULL, NULL))
                note("submit refused");
        return NULL;
}

static void run_relay(const struct queue_ops *ops)
{
        memset(&relay, 0, sizeof relay);
        sem_init(&relay.entered, 0, 0);
        sem_init(&relay.open, 0, 0);
        relay.handle = start(ops->name, PRODUCERS, hold);
        if (!ops->settle) { /* else nothing queues up */
                spawn_and_join(submit_hold, NULL);
                take(&relay.entered);
        }
        for (uintptr_t first = 0; first < OWNERS_ALL; first += OWNER_EACH)
                spawn_and_join(own_index_0, (void *)first);
        if (!ops->settle)
                assert_equal("callbacks before the gate opens", relay.total, 0);
        sem_post(&relay.open);
        await(&relay.total, OWNERS_ALL);
        stop(relay.handle);
        assert_equal("callbacks", relay.total, OWNERS_ALL);
}

static void test_order_is_passed_on(void **state)
{
        (void)state;
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                if (!(ops->traits & QUEUE_FIFO_PRODUCER))
                        continue;
                begin("%s", ops->name);
                run_relay(ops);
        }
}

/* As many as there can be. */

static struct {
        fanin_handle handle;
        sem_t end;
        _Atomic unsigned holders, done, full;
} limit;

static void *submit_and_stay(void *unused)
{
        (void)unused;
        int result = fanin_submit(limit.handle, NULL, 0, count, &limit.done);
        if (result == FANIN_TOO_MANY_THREADS)
                atomic_fetch_add(&limit.full, 1);
        else if (result)
                note("submit refused");
        atomic_fetch_add(&limit.holders, 1);
        take(&limit.end);
        return NULL;
}

static void *submit_one_too_many(void *expected)
{
        int result = fanin_submit(limit.handle, NULL, 0, count, &limit.done);
        if (result != (int)(intptr_t)expected)
                note("not the result that the number of threads asks for");
        if (result == FANIN_TOO_MANY_THREADS &&
                (fanin_producer() != FANIN_NO_PRODUCER ||
                        fanin_flush(limit.handle) != FANIN_TOO_MANY_THREADS))
                note("no index, but not everywhere");
        return NULL;
}

static void end_holders(const pthread_t *threads, unsigned number)
{
        for (unsigned i = 0; i < number; i++)
                sem_post(&limit.end);
        for (unsigned i = 0; i < number; i++)
                pthread_join(threads[i], NULL);
}

/* The threads started; fewer than wanted if the system refuses. */
static unsigned start_holders(pthread_t *threads, unsigned wanted)
{
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 1 << 18);
        unsigned number = 0;
        while (number < wanted && !pthread_create(&threads[number], &small, submit_and_stay, NULL))
                number++;
        pthread_attr_destroy(&small);
        return number;
}

static void test_limit(void **state)
{
        (void)state;
        static pthread_t threads[FANIN_PRODUCERS_MAX];
        begin("4,096 threads and one more");
        memset(&limit, 0, sizeof limit);
        sem_init(&limit.end, 0, 0);
        limit.handle = start("sharded_mutex", 0, NULL);
        unsigned number = start_holders(threads, FANIN_PRODUCERS_MAX);
        await(&limit.holders, number);
        if (number < FANIN_PRODUCERS_MAX) {
                end_holders(threads, number);
                stop(limit.handle);
                print_message("SKIP: the system refused thread %u of %d\n", number + 1,
                        FANIN_PRODUCERS_MAX);
                skip();
        }
        assert_equal("submits refused", limit.full, 0);
        assert_unfailed();
        spawn_and_join(submit_one_too_many, (void *)(intptr_t)FANIN_TOO_MANY_THREADS);
        sem_post(&limit.end);
        unsigned index = FANIN_NO_PRODUCER;
        while (index == FANIN_NO_PRODUCER) /* one of them ends in its own time */
                spawn_and_join(get_index, &index);
        spawn_and_join(submit_one_too_many, (void *)(intptr_t)FANIN_OK);
        await(&limit.done, FANIN_PRODUCERS_MAX + 1);
        end_holders(threads, FANIN_PRODUCERS_MAX);
        stop(limit.handle);
        assert_equal("callbacks", limit.done, FANIN_PRODUCERS_MAX + 1);
        spawn_and_join(get_index, &index);
        assert_equal("index after all have ended", index, 0);
}

/* A submit from another key's destructor: before ours has run, or after it. */

static struct {
        fanin_handle handle;
        pthread_key_t keys[2]; /* made before and after the engine's: run in that order, here */
        _Atomic unsigned done;
} last_words;

static void submit_last_words(void *unused)
{
        (void)unused;
        if (fanin_submit(last_words.handle, NULL, 0, count, &last_words.done))
                note("a submit from a destructor was refused");
}

static void *die_talking(void *key)
{
        if (pthread_setspecific(*(pthread_key_t *)key, &last_words))
                note("pthread_setspecific failed");
        submit_last_words(NULL);
        return NULL;
}

static void *die_with_first_word(void *key)
{
        if (pthread_setspecific(*(pthread_key_t *)key, &last_words))
                note("pthread_setspecific failed");
        return NULL;
}

static void test_submit_from_destructor(void **state)
{
        (void)state;
        enum { ROUNDS = 10, WORDS = 2 * ROUNDS * (2 + 1) };
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                if (ops->seen == QUEUE_UNSEEN)
                        continue; /* C++ runs no destructor of a thread_local made so late: a leak
                                   */
                begin("%s", ops->name);
                last_words.done = 0;
                last_words.handle = start(ops->name, PRODUCERS, NULL);
                for (unsigned round = 0; round < ROUNDS; round++)
                        for (unsigned key = 0; key < 2; key++) {
                                unsigned index;
                                spawn_and_join(die_talking, &last_words.keys[key]);
                                spawn_and_join(die_with_first_word, &last_words.keys[key]);
                                spawn_and_join(get_index, &index);
                                assert_equal("index after the dead one's", index, 0);
                        }
                await(&last_words.done, WORDS);
                stop(last_words.handle);
                assert_equal("callbacks", last_words.done, WORDS);
        }
}

static int make_keys(void **state)
{
        unsigned index;
        (void)state;
        int error = pthread_key_create(&last_words.keys[0], submit_last_words);
        spawn_and_join(get_index, &index);
        return error | pthread_key_create(&last_words.keys[1], submit_last_words);
}

int main(void)
{
        doing_watch();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_one_after_the_other),
                cmocka_unit_test(test_beside_each_other),
                cmocka_unit_test(test_short_lives),
                cmocka_unit_test(test_order_is_passed_on),
                cmocka_unit_test(test_limit),
                cmocka_unit_test(test_submit_from_destructor),
        };
        return cmocka_run_group_tests(tests, make_keys, NULL);
}
