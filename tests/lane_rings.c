/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * How the lanes of lane_rings leave the consumer's set and come back, which the contract can't see.
 * A push meets queue_step once when its lane is in the set, and once more when it has to ask for a
 * visit.
 */
#include <sched.h>
#include <stdlib.h>

#include "doing.h"

enum {
        LANES = 100,
        ENOUGH = 300, /* busy drains after which an idle lane must have retired */
        BUSY_LANE = 0,
        IDLE_LANE = 70,
};

static struct {
        const struct queue_ops *ops;
        struct queue *queue;
        struct queue_guard *guards;
        struct queue_node nodes[LANES];
} alone;

static unsigned steps;

static void count_step(void)
{
        steps++;
}

static unsigned steps_of_push(unsigned producer)
{
        steps = 0;
        queue_step_hook = count_step;
        queue_guard_enter(&alone.guards[producer]);
        enum queue_pushed pushed = alone.ops->push(alone.queue, producer, &alone.nodes[producer]);
        queue_guard_leave(&alone.guards[producer]);
        queue_step_hook = NULL;
        assert_int_equal(pushed, QUEUE_PUSHED);
        return steps;
}

/* The number it hands back; must say EMPTY, and hand back nothing but `expected`, if given. */
static unsigned drain_all(const struct queue_node *expected)
{
        struct queue_node *out[2 * LANES];
        struct queue_drained drained = alone.ops->drain(alone.queue, out, 2 * LANES);
        assert_int_equal(drained.left, QUEUE_EMPTY);
        for (unsigned i = 0; expected && i < drained.count; i++)
                assert_ptr_equal(out[i], expected);
        return drained.count;
}

static void keep_busy(void)
{
        for (unsigned i = 0; i < ENOUGH; i++) {
                steps_of_push(BUSY_LANE);
                assert_int_equal(drain_all(&alone.nodes[BUSY_LANE]), 1);
        }
}

static void open_alone(void)
{
        begin("lane_rings, alone");
        alone.ops = registry_find("lane_rings");
        alone.guards = context_lines(LANES * sizeof *alone.guards);
        const struct queue_config config = {
                .producers = LANES, .backlog = LANES, .guards = alone.guards};
        assert_int_equal(alone.ops->create(&alone.queue, &config), 0);
        for (unsigned i = 0; i < LANES; i++) {
                assert_int_equal(alone.ops->attach(alone.queue, i), 0);
                assert_int_equal(steps_of_push(i), 2);
        }
        assert_int_equal(drain_all(NULL), LANES);
}

static void close_alone(void)
{
        alone.ops->destroy(alone.queue);
        free(alone.guards);
}

static void test_idle_lane_retires(void **state)
{
        (void)state;
        open_alone();
        assert_int_equal(steps_of_push(IDLE_LANE), 1); /* still in the set */
        assert_int_equal(drain_all(&alone.nodes[IDLE_LANE]), 1);
        keep_busy();
        assert_int_equal(steps_of_push(BUSY_LANE), 1);
        assert_int_equal(drain_all(&alone.nodes[BUSY_LANE]), 1);
        assert_int_equal(steps_of_push(IDLE_LANE), 2);
        assert_int_equal(drain_all(&alone.nodes[IDLE_LANE]), 1);
        assert_int_equal(steps_of_push(IDLE_LANE), 1);
        assert_int_equal(drain_all(&alone.nodes[IDLE_LANE]), 1);
        close_alone();
}

static void test_all_idle_none_retires(void **state)
{
        (void)state;
        open_alone();
        for (unsigned i = 0; i < ENOUGH; i++)
                assert_int_equal(drain_all(NULL), 0);
        assert_int_equal(steps_of_push(IDLE_LANE), 1);
        assert_int_equal(drain_all(&alone.nodes[IDLE_LANE]), 1);
        close_alone();
}

static bool parked;

static void be_busy_meanwhile(void)
{
        if (parked)
                return;
        parked = true;
        /* Published, not returned: drained, and its lane may not leave before the push ends. */
        assert_int_equal(drain_all(&alone.nodes[IDLE_LANE]), 1);
        keep_busy();
        queue_step_hook = be_busy_meanwhile;
}

static void test_parked_producer_keeps_its_lane(void **state)
{
        (void)state;
        open_alone();
        parked = false;
        queue_step_hook = be_busy_meanwhile;
        queue_guard_enter(&alone.guards[IDLE_LANE]);
        alone.ops->push(alone.queue, IDLE_LANE, &alone.nodes[IDLE_LANE]);
        queue_guard_leave(&alone.guards[IDLE_LANE]);
        queue_step_hook = NULL;
        assert_int_equal(drain_all(NULL), 0);
        /* Its retirement began meanwhile, and was called off. */
        assert_int_equal(steps_of_push(IDLE_LANE), 1);
        assert_int_equal(drain_all(&alone.nodes[IDLE_LANE]), 1);
        close_alone();
}

/* One producer floods; the others wait for each callback, then pause until their lane may have
 * retired. Without a fallback poll a request missed would never come. */

enum { SPORADIC = 3, TRIPS = 400, RETURNS_MIN = 20 };

static struct {
        fanin_handle handle;
        _Atomic unsigned running, returns;
        _Atomic unsigned flood_sent, flood_done;
} trips;

static _Thread_local unsigned trip_steps;

static void count_trip_step(void)
{
        trip_steps++;
}

static void add_one(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg, (void)len;
        if (ret)
                note("a request was not done");
        atomic_fetch_add((_Atomic unsigned *)user_data, 1);
}

static void *make_trips(void *argument)
{
        uintptr_t random = (uintptr_t)argument * 7919 + 1;
        _Atomic unsigned back = 0;
        for (unsigned i = 0; i < TRIPS; i++) {
                trip_steps = 0;
                if (fanin_submit(trips.handle, NULL, 0, add_one, &back))
                        note("submit refused");
                if (i && trip_steps == 2)
                        atomic_fetch_add(&trips.returns, 1);
                await(&back, i + 1);
                random = random * 6364136223846793005u + 1442695040888963407u;
                const struct timespec pause = {.tv_nsec = (long)(random >> 44) * 3};
                nanosleep(&pause, NULL);
        }
        atomic_fetch_sub(&trips.running, 1);
        return NULL;
}

static void *flood(void *unused)
{
        (void)unused;
        while (atomic_load(&trips.running)) {
                unsigned sent = atomic_load(&trips.flood_sent);
                if (sent - atomic_load(&trips.flood_done) > 64) {
                        sched_yield();
                        continue;
                }
                if (fanin_submit(trips.handle, NULL, 0, add_one, &trips.flood_done))
                        note("submit refused");
                atomic_store(&trips.flood_sent, sent + 1);
        }
        return NULL;
}

static void run_trips(const char *config)
{
        begin("%s", config);
        memset(&trips, 0, sizeof trips);
        trips.running = SPORADIC;
        const struct fanin_options options = {.config = config, .producers = LANES};
        trips.handle = start_with(&options);
        queue_step_hook = count_trip_step;
        pthread_t threads[SPORADIC], flooder = spawn(flood, NULL);
        for (uintptr_t i = 0; i < SPORADIC; i++)
                threads[i] = spawn(make_trips, (void *)i);
        for (unsigned i = 0; i < SPORADIC; i++)
                pthread_join(threads[i], NULL);
        pthread_join(flooder, NULL);
        await(&trips.flood_done, trips.flood_sent);
        queue_step_hook = NULL;
        stop(trips.handle);
        if (trips.returns < RETURNS_MIN)
                fail_msg("%s: lanes came back %u times only", config, trips.returns);
}

static void test_nothing_is_missed(void **state)
{
        (void)state;
        run_trips("lane_rings/pending");
        run_trips("lane_rings/asym");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_idle_lane_retires),
                cmocka_unit_test(test_all_idle_none_retires),
                cmocka_unit_test(test_parked_producer_keeps_its_lane),
                cmocka_unit_test(test_nothing_is_missed),
        };
        doing_watch();
        queue_guard_init();
        return _cmocka_run_group_tests(
                       "lane_rings", tests, sizeof tests / sizeof *tests, NULL, NULL)
                       ? 1
                       : 0;
}
