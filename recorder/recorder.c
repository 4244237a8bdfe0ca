/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorder.c - runs the guest, event by event, segment by segment */
#include "recorder/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "formats/symbols.h"
#include "vm/elf_symbols.h"

#define LEVEL_DEFAULT 1

/* Blocks have up to 512 steps; less than one of them would be none. */
#define EXACT_BELOW 1024

/* Streams that make a segment slow to prepare for replay. */
#define STREAM_MOST (16u << 20)

/* What is lost at most when the recorder is killed between key frames. */
#define FLUSH_SECONDS 1

/* If nothing goes on: so many times at once, or in so many nanoseconds each. */
#define FLUSH_IDLE_TIMES 16
#define FLUSH_IDLE_TIME 20000000
#define FLUSH_BYTES (1u << 20)
#define FLUSH_EVENTS 64

/* ------- the ends of the file ------- */

static int write_summary(struct recorder *rec,
			 const struct linux_result *result,
			 struct failure *why)
{
	struct summary summary = {
		.time = vm_steps(rec->vm),
		.thread_count = rec->stream_count,
		.touched_pages = rec->resolved,
		.stored_pages = rec->pages.next_id - 1,
	};
	struct output out = { 0 };

	summary.threads = calloc(rec->stream_count, sizeof(*summary.threads));
	if (!summary.threads)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rec->stream->steps = stream_steps(rec);
	rec->turn_start = summary.time;
	for (size_t i = 0; i < rec->stream_count; i++) {
		const struct stream *stream = rec->streams[i];

		summary.threads[i] = (struct summary_thread){ stream->tid,
							      stream->steps };
		summary.cache_hits += stream->reads.total_hits;
		summary.cache_misses += stream->reads.total_misses;
	}

	if (result->outcome == LINUX_KILLED)
		summary.exit_signal = (uint32_t)result->status;
	else
		summary.exit_code = (uint32_t)result->status & 0xff;
	summary_encode(&out, &summary);
	free(summary.threads);
	if (out.error)
		return failed(why, out.error, "out of memory");
	return trace_writer_chunk(rec->writer, CHUNK_SUMMARY, 0, rec->segment,
				  0, &out, why);
}

/* Names are a help: a file that cannot be read has none. */
static int write_symbols(struct recorder *rec, const char *path,
			 struct failure *why)
{
	struct symbols symbols = { 0 };
	struct output out = { 0 };

	if (elf_symbols(&symbols, path))
		return 0;
	symbols_encode(&out, &symbols);
	symbols_release(&symbols);
	if (out.error) {
		output_release(&out);
		return 0;
	}
	return trace_writer_chunk(rec->writer, CHUNK_SYMBOLS, 0, rec->segment,
				  0, &out, why);
}

/* Each module that is mapped executable, once. */
int recorder_write_symbols(struct recorder *rec, struct failure *why)
{
	size_t count;
	const struct region *regions = memory_regions(rec->memory, &count);

	for (size_t i = 0; i < count; i++) {
		const struct region *region = &regions[i];
		bool known = false;
		int rc;

		if (region->kind != REGION_FILE || !(region->prot & MAY_EXEC))
			continue;
		for (size_t j = 0; j < rec->module_count; j++)
			known |= rec->modules[j] == region->name;
		if (known || rec->module_count ==
				     sizeof(rec->modules) / sizeof(*rec->modules))
			continue;
		rec->modules[rec->module_count++] = region->name;
		rc = write_symbols(rec, region->name, why);
		if (rc)
			return rc;
	}
	return 0;
}

/* ------- events ------- */

static int after_event(struct recorder *rec, struct failure *why)
{
	struct timespec now;
	size_t waiting;

	if (rec->error) {
		if (why)
			*why = rec->why;
		return rec->error;
	}
	if (rec->mapped_code) {
		rec->mapped_code = false;
		if (recorder_write_symbols(rec, why))
			return ERR_SYSTEM;
	}
	if (rec->parts < FLUSH_EVENTS &&
	    rec->stream->events.size < FLUSH_BYTES &&
	    rec->stream->reads.stream.size < FLUSH_BYTES)
		return 0;
	waiting = streams_waiting(rec);
	rec->parts = 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - rec->flushed.tv_sec <= FLUSH_SECONDS &&
	    waiting < FLUSH_BYTES)
		return 0;
	rec->streamed += waiting;
	return segment_flush(rec, false, why);
}

static bool may_flush_idle(struct recorder *rec)
{
	struct timespec now;
	int64_t time, least;

	clock_gettime(CLOCK_MONOTONIC, &now);
	time = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
	least = time - (int64_t)FLUSH_IDLE_TIMES * FLUSH_IDLE_TIME;
	if (rec->flushes_paid < least)
		rec->flushes_paid = least;
	if (rec->flushes_paid + FLUSH_IDLE_TIME > time)
		return false;
	rec->flushes_paid += FLUSH_IDLE_TIME;
	return true;
}

/* Deadlocked programs, too, are killed. */
static void before_idle(void *context)
{
	struct recorder *rec = context;
	size_t waiting = streams_waiting(rec);

	if (rec->error || rec->unrecorded || !waiting || !may_flush_idle(rec))
		return;
	rec->streamed += waiting;
	rec->error = segment_flush(rec, false, &rec->why);
}

static int64_t exit_value(const struct linux_result *result)
{
	return result->outcome == LINUX_KILLED ? -(int64_t)result->status :
						 result->status & 0xff;
}

/* Ends an event, and says so if it was the last. */
static void end_with(struct recorder *rec, enum packet_kind kind,
		     const struct linux_result *result)
{
	struct packet packet = { .kind = kind, .number = result->number,
				 .result = result->value };
	struct packet last = { .kind = PACKET_EXIT,
			       .result = exit_value(result) };

	event_end(rec, &packet);
	if (result->outcome == LINUX_GOES_ON)
		return;
	event_begin(rec);
	event_end(rec, &last);
}

/* A child begins its own recording behind the call that made it. */
static int start_reborn(struct recorder *rec, struct failure *why)
{
	int rc = recorder_open_trace(rec, why);

	rec->reborn = false;
	rec->stream->in_event = false;
	if (!rc)
		rc = recorder_write_symbols(rec, why);
	if (!rc)
		rc = segment_start(rec, why);
	return rc;
}

static int do_syscall(struct recorder *rec, struct linux_result *result,
		      struct failure *why)
{
	int rc;

	event_begin(rec);
	rc = linux_syscall(rec->process, result, why);
	if (rc || rec->unrecorded)
		return rc;
	if (rec->reborn)
		return start_reborn(rec, why);
	memory_doubt_shared(rec->memory);
	rec->stream->tid = linux_tid(rec->process);	/* exec changes it */
	if (result->all_registers)
		effect_registers(rec, NULL);
	end_with(rec, PACKET_SYSCALL, result);
	return programs_write(rec, why);
}

static int do_fault(struct recorder *rec, const struct vm_stop *stop,
		    struct linux_result *result, struct failure *why)
{
	struct reg_file before;
	int rc;

	vm_registers(rec->vm, &before);
	event_begin(rec);
	rc = linux_fault(rec->process, stop, result, why);
	if (rc)
		return rc;
	effect_registers(rec, &before);
	end_with(rec, PACKET_FAULT, result);
	return 0;
}

static int do_signals(struct recorder *rec, struct linux_result *result,
		      struct failure *why)
{
	while (result->outcome == LINUX_GOES_ON &&
	       linux_has_signal(rec->process)) {
		struct reg_file before;
		int rc;

		vm_registers(rec->vm, &before);
		event_begin(rec);
		rc = linux_deliver(rec->process, result, why);
		if (rc)
			return rc;
		effect_registers(rec, &before);
		end_with(rec, PACKET_SIGNAL, result);
	}
	return 0;
}

static void do_value(struct recorder *rec, const struct vm_stop *stop)
{
	struct packet packet = { .kind = PACKET_VALUE };
	struct reg_file before;

	vm_registers(rec->vm, &before);
	event_begin(rec);
	vm_emulate(rec->vm, stop);
	effect_registers(rec, &before);
	event_end(rec, &packet);
}

static bool is_key_frame_due(const struct recorder *rec)
{
	struct segment_costs costs = segment_costs(rec);

	return rec->streamed + rec->stream->events.size +
			       rec->stream->reads.stream.size >
		       STREAM_MOST ||
	       pacing_is_due(&rec->pacing, &costs);
}

/* Other processes wait for memory that they share with this one. */
static void give_way(struct recorder *rec)
{
	struct packet packet = {
		.kind = PACKET_SLICE,
		.slices = ++rec->slice - rec->stream->state.slice,
	};

	event_begin(rec);
	memory_doubt_shared(rec->memory);
	event_end(rec, &packet);
}

/* Runs to the next stop and does what it asks for. */
static int advance(void *context, uint64_t budget, bool exact,
		   struct linux_result *result, struct failure *why)
{
	struct recorder *rec = context;
	uint64_t most = memory_turn(rec->memory);
	uint64_t look = pacing_look_steps(&rec->pacing);
	struct vm_stop stop;
	int rc;

	if (most > look)
		most = look;
	if (budget > most) {
		budget = most;
		exact = most < EXACT_BELOW;
	}
	rc = vm_run(rec->vm, budget, exact, &stop, why);
	if (rc)
		return rc;
	switch (stop.kind) {
	case VM_STOP_SYSCALL:
		rc = do_syscall(rec, result, why);
		break;
	case VM_STOP_FAULT:
		rc = do_fault(rec, &stop, result, why);
		break;
	case VM_STOP_VALUE:
		do_value(rec, &stop);
		break;
	case VM_STOP_BUDGET:
	case VM_STOP_ASKED:
		break;
	}
	if (!rc)
		rc = do_signals(rec, result, why);
	if (!rc && memory_is_wanted(rec->memory))
		give_way(rec);
	if (rec->unrecorded)
		return rc;
	if (!rc)
		rc = after_event(rec, why);
	if (!rc && result->outcome == LINUX_GOES_ON && is_key_frame_due(rec)) {
		rc = segment_start(rec, why);
		rec->streamed = 0;
	}
	return rc;
}

/* ------- all of it ------- */

static void on_output(void *context, int stream, guest_addr addr,
		      uint64_t size)
{
	struct packet packet = { .kind = PACKET_OUTPUT,
				 .number = (uint64_t)stream,
				 .addr = addr, .size = size };

	effect(context, &packet);
}

static void on_notice(void *context, enum linux_notice kind,
		      const char *text)
{
	struct recorder *rec = context;

	if (rec->options->notice)
		rec->options->notice(NULL, kind, text);
}

int recorder_open_trace(struct recorder *rec, struct failure *why)
{
	int level = rec->options->level ? rec->options->level : LEVEL_DEFAULT;
	int rc = trace_writer_open(&rec->writer, rec->path, &rec->header,
				   level, why);

	if (!rc)
		rc = trace_writer_move(rec->writer, linux_hide_descriptor, why);
	if (!rc)
		rc = programs_write_meta(rec, why);
	return rc;
}

static int make_header(struct recorder *rec, struct failure *why)
{
	rec->header.arch = ARCH_X86_64;
	rec->path = strdup(rec->options->path);
	if (!rec->path)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (getrandom(rec->header.id, sizeof(rec->header.id), 0) < 0)
		return failed(why, ERR_SYSTEM, "cannot get random bytes");
	return 0;
}

static int create(struct recorder *rec, struct failure *why)
{
	struct memory_observer observer = effects_observer(rec);
	int rc;

	if (page_store_init(&rec->pages))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = vm_create(&rec->vm, ARCH_X86_64, &observer, why);
	if (rc)
		return rc;
	rec->memory = vm_memory(rec->vm);
	rec->regs = vm_reg_table(rec->vm);
	rec->stream = stream_add(rec, (uint32_t)getpid(),
				 vm_thread_current(rec->vm));
	if (!rec->stream)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = linux_create(&rec->process, rec->vm, &rec->options->program, why);
	if (rc)
		return rc;
	rec->watch = (struct linux_observer){
		.context = rec, .output = on_output, .notice = on_notice,
		.before_fork = children_before_fork,
		.after_fork = children_after_fork,
		.executed = programs_executed,
		.thread_begins = streams_thread_begins,
		.thread_runs = streams_thread_runs,
		.thread_ends = streams_thread_ends,
		.idle = before_idle,
	};
	linux_set_schedule(rec->process, &rec->options->schedule);
	linux_observe(rec->process, &rec->watch);
	pacing_init(&rec->pacing, rec->options->segment_steps);
	rc = make_header(rec, why);
	return rc ? rc : recorder_open_trace(rec, why);
}

static void destroy(struct recorder *rec)
{
	trace_writer_close(rec->writer);
	if (linux_is_threaded(rec->process)) {
		linux_end(rec->process);
		return;		/* cprec is about to end, too */
	}
	linux_destroy(rec->process);
	vm_destroy(rec->vm);
	streams_release(rec);
	page_store_release(&rec->pages);
	programs_release(rec);
	free(rec->touches);
	free(rec->fresh);
	free(rec->path);
	free(rec);
}

static int finish(struct recorder *rec, const struct linux_result *result,
		  struct failure *why)
{
	int rc;

	if (rec->unrecorded)
		return 0;
	rc = segment_end(rec, why);
	if (!rc)
		rc = write_summary(rec, result, why);
	if (!rc)
		rc = trace_writer_finish(rec->writer, why);
	return rc;
}

static int end(struct recorder *rec, int rc, const struct linux_result *result,
	       struct failure *why)
{
	if (!rc)
		rc = finish(rec, result, why);
	destroy(rec);
	return rc;
}

/* Part of the type, which _Noreturn is not for clang. */
static void ended(void *context, int rc, const struct linux_result *result,
		  const struct failure *why) __attribute__((noreturn));

static void ended(void *context, int rc, const struct linux_result *result,
		  const struct failure *why)
{
	struct recorder *rec = context;
	const struct recorder_options *options = rec->options;
	struct failure own = { 0 };

	if (rc)
		own = *why;
	rc = end(rec, rc, result, &own);
	options->ended(options, rc, result, &own);
}

int recorder_run(const struct recorder_options *options,
		 struct linux_result *result, struct failure *why)
{
	struct recorder *rec = calloc(1, sizeof(*rec));
	const struct linux_driver driver = { rec, advance, ended };
	int rc;

	if (!rec)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rec->options = options;
	memset(result, 0, sizeof(*result));
	rc = create(rec, why);
	if (!rc)
		rc = recorder_write_symbols(rec, why);
	if (!rc)
		rc = segment_start(rec, why);
	if (!rc)
		rc = linux_run(rec->process, &driver, result, why);
	return end(rec, rc, result, why);
}
