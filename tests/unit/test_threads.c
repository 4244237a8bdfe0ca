/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_threads.c - a recording of two threads, read and replayed */
#include <stdio.h>
#include <sys/stat.h>

#include "replayer/recording/recording.h"
#include "replayer/session/query.h"
#include "replayer/replayer.h"
#include "tests/unit/engine.h"
#include "tests/unit/threads_sample.h"

static struct recording *recording;
static struct failure why;

/* ------- writing recordings ------- */

static void reopen(void)
{
	recording_close(recording);
	recording = NULL;
	if (recording_open(&recording, path, &why))
		fail_msg("%s", why.text);
}

/* Registers of the key frames, from a replay of the recording in one piece. */
static void take_registers(struct sample *sample)
{
	struct replayer *replayer;

	sample->segments = 1;
	write_sample(sample);
	reopen();
	assert_int_equal(replayer_create(&replayer, recording, &why), 0);
	for (unsigned i = 1; i < SEGMENTS; i++) {
		const struct position at = { segment_times[i], EVENTS_ALL };

		if (replayer_seek(replayer, &at, &why))
			fail_msg("%s", why.text);
		for (uint32_t stream = 0; stream < 2; stream++)
			assert_int_equal(replayer_thread_registers(
				replayer, stream, &sample->regs[i][stream],
				&why), 0);
	}
	replayer_destroy(replayer);
}

static int write_one(void **state)
{
	struct sample sample = { .segments = 1 };

	(void)state;
	write_sample(&sample);
	reopen();
	return 0;
}

static int write_several(void **state)
{
	static struct sample sample;

	(void)state;
	take_registers(&sample);
	sample.segments = SEGMENTS;
	write_sample(&sample);
	reopen();
	return 0;
}

static int write_cut(void **state)
{
	static struct sample sample;

	(void)state;
	take_registers(&sample);
	sample.segments = SEGMENTS;
	sample.is_cut = true;
	write_sample(&sample);
	sample.is_cut = false;
	reopen();
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	recording_close(recording);
	recording = NULL;
	return unlink(path);
}

/* ------- who ran when ------- */

static void list_of_threads(void **state)
{
	struct recording_thread thread;

	(void)state;
	assert_int_equal(recording_threads(recording), 2);
	assert_int_equal(recording_thread(recording, 0, &thread, &why), 0);
	assert_int_equal(thread.tid, 100);
	assert_int_equal(thread.first, 0);
	assert_int_equal(thread.last, END);
	assert_int_equal(thread.steps, steps_before(0, END));
	assert_false(thread.has_ended);
	assert_int_equal(recording_thread(recording, 1, &thread, &why), 0);
	assert_int_equal(thread.tid, 101);
	assert_int_equal(thread.first, BEGIN_B);
	assert_int_equal(thread.last, EXIT_B);
	assert_int_equal(thread.steps, steps_before(1, END));
	assert_true(thread.has_ended);
}

static void threads_by_number(void **state)
{
	uint32_t stream;

	(void)state;
	assert_int_equal(recording_find_thread(recording, 100, 0, &stream,
					       &why), 0);
	assert_int_equal(stream, 0);
	assert_int_equal(recording_find_thread(recording, 101, BEGIN_B,
					       &stream, &why), 0);
	assert_int_equal(stream, 1);
	assert_int_equal(recording_find_thread(recording, 101, BEGIN_B - 1,
					       &stream, &why), ERR_NOT_FOUND);
	assert_int_equal(recording_find_thread(recording, 7, END, &stream,
					       &why), ERR_NOT_FOUND);
}

static void turns_by_time(void **state)
{
	(void)state;
	for (uint64_t t = 0; t < END; t++) {
		uint32_t stream;

		assert_int_equal(recording_running(recording, t, &stream,
						   &why), 0);
		assert_int_equal(stream, running_at(t));
	}
}

static void own_counts(void **state)
{
	uint64_t steps, t;

	(void)state;
	for (uint32_t stream = 0; stream < 2; stream++) {
		for (t = stream ? BEGIN_B : 0; t <= END; t++) {
			assert_int_equal(recording_steps(recording, stream, t,
							 &steps, &why), 0);
			assert_int_equal(steps, steps_before(stream, t));
		}
		for (uint64_t n = 1; n <= steps_before(stream, END); n++) {
			assert_int_equal(recording_time_of(recording,
				100 + stream, n, &t, &why), 0);
			/* The instruction before was the thread's n-th. */
			assert_int_equal(steps_before(stream, t), n);
			assert_int_equal(running_at(t - 1), stream);
		}
	}
	assert_int_equal(recording_time_of(recording, 101, 0, &t, &why), 0);
	assert_int_equal(t, BEGIN_B);
	assert_int_equal(recording_steps(recording, 1, BEGIN_B - 1, &steps,
					 &why), ERR_NOT_FOUND);
	assert_int_equal(recording_time_of(recording, 101,
					   steps_before(1, END) + 1, &t, &why),
			 ERR_NOT_FOUND);
	assert_non_null(strstr(why.text, "101"));
	assert_int_equal(recording_time_of(recording, 99, 0, &t, &why),
			 ERR_NOT_FOUND);
}

static int visit(void *context, const struct packet_place *place,
		 const struct packet *packet)
{
	uint64_t *before = context;

	assert_true(*before <= place->time);
	*before = place->time;
	/* A turn may be over at the time of its last packet. */
	if (packet->kind == PACKET_SLICE)
		assert_int_equal(place->stream, running_at(place->time));
	return 0;
}

static void packets_in_order(void **state)
{
	uint64_t before = 0;

	(void)state;
	for (size_t i = 0; i < recording_segments(recording); i++)
		assert_int_equal(recording_each_packet(recording, i, visit,
						       &before, &why), 0);
	assert_int_equal(before, EXIT_B);
}

/* ------- replaying ------- */

static uint64_t reg_of(const struct reg_file *file, unsigned reg)
{
	return reg_get(reg_table(ARCH_X86_64), file, reg);
}

static void check_thread_a(struct replayer *replayer, uint64_t t)
{
	uint64_t steps = steps_before(0, t);
	struct reg_file file;

	assert_int_equal(replayer_thread_registers(replayer, 0, &file, &why),
			 0);
	assert_int_equal(reg_of(&file, X86_RIP), pc_of_a(steps));
	assert_int_equal(reg_of(&file, X86_RAX), rax_of_a(steps));
	assert_int_equal(reg_of(&file, X86_RBX), 0);
}

/*
 * Results that calls of thread 101 had brought by then.  Those of t=19 and 45
 * come back as events, the others with their instruction.
 */
static uint64_t result_of_b(const struct position *at)
{
	uint64_t t = at->time;
	unsigned late = at->events ? 1 : 0;

	return t >= 49 ? 45 : t >= 46 - late ? 44 : t >= 23 ? 43 :
	       t >= 20 - late ? 42 : 0;
}

static void check_thread_b(struct replayer *replayer,
			   const struct position *at)
{
	uint64_t t = at->time, steps = steps_before(1, t);
	bool has_ended = t > EXIT_B || (t == EXIT_B && at->events);
	struct reg_file file;
	int rc = replayer_thread_registers(replayer, 1, &file, &why);

	assert_int_equal(rc, t < BEGIN_B || has_ended ? ERR_NOT_FOUND : 0);
	if (rc)
		return;
	assert_int_equal(reg_of(&file, X86_RIP), pc_of_b(steps));
	assert_int_equal(reg_of(&file, X86_RBX), rbx_of_b(steps));
	assert_int_equal(reg_of(&file, X86_RAX), result_of_b(at));
}

/* At a time, before all events that stand at it, or behind them. */
static void check_position(struct replayer *replayer,
			   const struct position *at)
{
	uint64_t t = at->time;
	uint8_t bytes[16], known[16];
	uint32_t data[2];

	if (replayer_seek(replayer, at, &why))
		fail_msg("%s", why.text);
	assert_int_equal(replayer_time(replayer), t);
	if (t < END)
		assert_int_equal(replayer_stream(replayer),
				 running_at(at->events || !t ? t : t - 1));
	check_thread_a(replayer, t);
	check_thread_b(replayer, at);
	assert_int_equal(replayer_read(replayer, DATA, bytes, known, 16, &why),
			 0);
	memcpy(data, bytes, sizeof(data));
	assert_int_equal(data[0], data_of_a(steps_before(0, t)));
	assert_int_equal(data[1], data_of_b(steps_before(1, t)));
	assert_memory_equal(bytes + 8, t < (at->events ? 19 : 20) ?
			    "\0\0\0\0\0\0\0" : "abcdefgh", 8);
}

static void check_at(struct replayer *replayer, uint64_t t)
{
	const struct position before = { t, 0 }, behind = { t, EVENTS_ALL };

	check_position(replayer, &before);
	check_position(replayer, &behind);
	check_position(replayer, &before);
}

/* A slice and a result that comes back are two events. */
static void between_events(void **state)
{
	struct position at = { 19, 1 };
	struct replayer *replayer;
	struct reg_file file;
	uint32_t events;

	(void)state;
	assert_int_equal(recording_events_at(recording, 19, &events, &why), 0);
	assert_int_equal(events, 2);
	assert_int_equal(recording_events_at(recording, 23, &events, &why), 0);
	assert_int_equal(events, 0);
	assert_int_equal(replayer_create(&replayer, recording, &why), 0);
	assert_int_equal(replayer_seek(replayer, &at, &why), 0);
	assert_int_equal(replayer_stream(replayer), 1);
	replayer_registers(replayer, &file);
	assert_int_equal(reg_of(&file, X86_RAX), 0);
	at.events = 2;
	assert_int_equal(replayer_seek(replayer, &at, &why), 0);
	replayer_registers(replayer, &file);
	assert_int_equal(reg_of(&file, X86_RAX), 42);
	replayer_destroy(replayer);
}

static void every_time(void **state)
{
	struct replayer *replayer;
	uint64_t t;

	(void)state;
	assert_int_equal(replayer_create(&replayer, recording, &why), 0);
	for (t = 0; t <= END; t++)
		check_at(replayer, t);
	for (t = END + 1; t-- > 0;)
		check_at(replayer, t);
	for (t = 0; t <= 3 * END; t++)
		check_at(replayer, t * 23 % (END + 1));
	replayer_destroy(replayer);
}

static void every_time_anew(void **state)
{
	(void)state;
	for (uint64_t t = 0; t <= END; t++) {
		struct replayer *replayer;

		assert_int_equal(replayer_create(&replayer, recording, &why),
				 0);
		check_at(replayer, t);
		check_at(replayer, END);
		replayer_destroy(replayer);
	}
}

static void verified(void **state)
{
	struct differences found;
	struct replayer *replayer;

	(void)state;
	assert_int_equal(replayer_create(&replayer, recording, &why), 0);
	replayer_in_order(replayer, true);
	for (size_t i = 1; i <= recording_segments(recording); i++) {
		if (replayer_seek_frame(replayer, i, &why))
			fail_msg("%s", why.text);
		if (i == recording_segments(recording))
			break;
		if (replayer_check(replayer, i, &found, &why))
			fail_msg("%s", why.text);
	}
	replayer_destroy(replayer);
}

/* The other thread's register is wrong in its key frame of segment 1. */
static void other_thread_checked(void **state)
{
	static struct sample sample;
	struct differences found;
	struct replayer *replayer;

	(void)state;
	take_registers(&sample);
	sample.segments = SEGMENTS;
	reg_set(reg_table(ARCH_X86_64), &sample.regs[1][1], X86_RBX, 77);
	write_sample(&sample);
	reopen();
	assert_int_equal(replayer_create(&replayer, recording, &why), 0);
	replayer_in_order(replayer, true);
	assert_int_equal(replayer_seek_frame(replayer, 1, &why), 0);
	assert_int_equal(replayer_check(replayer, 1, &found, &why),
			 ERR_DIVERGED);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.list[0].stream, 1);
	assert_int_equal(replayer_explain(replayer, 1, &found, &why),
			 ERR_DIVERGED);
	/* Its last increment of rbx is the step before t=27. */
	assert_non_null(strstr(why.text, "t=26, 0x401100 (inc rbx)"));
	assert_non_null(strstr(why.text, "thread 101"));
	/* It goes on as if nothing had been. */
	for (uint64_t t = 0; t < 27; t++)
		check_at(replayer, t);
	check_at(replayer, 3);
	replayer_destroy(replayer);
}

static void asked(void **state)
{
	struct query *query;

	(void)state;
	assert_int_equal(query_create(&query, recording, &why), 0);
	for (uint64_t t = 0; t <= END; t++) {
		const struct position at = { t, 0 };
		struct query_answer answer;
		uint8_t bytes[4], known[4];

		if (query_memory(query, DATA, &at, bytes, known, 4, &answer,
				 &why))
			fail_msg("%s", why.text);
		assert_int_equal(known[0], 1);
		assert_int_equal(bytes[0], data_of_a(steps_before(0, t)));
	}
	query_destroy(query);
}

/* ------- recordings that end early ------- */

/* Every prefix of the file can be replayed as far as its end. */
static void every_cut(void **state)
{
	struct replayer *replayer;
	uint64_t before = UINT64_MAX;
	struct stat status;
	unsigned ends = 0;

	(void)state;
	recording_close(recording);
	recording = NULL;
	assert_int_equal(stat(path, &status), 0);
	for (off_t size = status.st_size; size-- > 0;) {
		uint64_t end;

		assert_int_equal(truncate(path, size), 0);
		if (recording_open(&recording, path, &why))
			continue;
		end = recording_end(recording);
		assert_true(end <= before);
		if (end < before) {
			assert_int_equal(replayer_create(&replayer, recording,
							 &why), 0);
			for (uint64_t t = end + 1; t-- > 0;)
				check_at(replayer, t);
			replayer_destroy(replayer);
			ends++;
		}
		before = end;
		recording_close(recording);
		recording = NULL;
	}
	assert_int_equal(before, 0);
	assert_true(ends > 3);
}

int main(void)
{
	static struct test_list list;
	int file = mkstemp(path);

	if (file < 0)
		return 1;
	close(file);
	for (unsigned i = 0; i < 2; i++) {
		size_t first = list.count;

		add_test(&list, i ? "list of threads" :
				"list of threads, one segment",
			 list_of_threads, NULL);
		add_test(&list, "threads by number", threads_by_number, NULL);
		add_test(&list, "turns by time", turns_by_time, NULL);
		add_test(&list, "own counts", own_counts, NULL);
		add_test(&list, "packets in order", packets_in_order, NULL);
		add_test(&list, "between events", between_events, NULL);
		add_test(&list, "every time", every_time, NULL);
		add_test(&list, "every time anew", every_time_anew, NULL);
		add_test(&list, "verified", verified, NULL);
		add_test(&list, "asked", asked, NULL);
		for (; first < list.count; first++)
			list.tests[first].setup_func =
				i ? write_several : write_one;
	}
	add_test(&list, "another thread is checked", other_thread_checked,
		 NULL);
	add_test(&list, "every cut", every_cut, NULL);
	list.tests[list.count - 1].setup_func = write_cut;
	for (size_t i = 0; i < list.count; i++)
		list.tests[i].teardown_func = close_it;
	return run_list("threads", &list);
}
