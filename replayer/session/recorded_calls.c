/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorded_calls.c - see recorded_calls.h */
#include "replayer/session/recorded_calls.h"

#include "replayer/replayer.h"
#include "replayer/session/known_memory.h"
#include "replayer/session/query.h"
#include "vm/linux/abi/calls.h"

/* Kernels have not so many; several numbers may be of one kind. */
#define CALLS_MOST 1024u
#define NUMBERS_MOST 64u

struct search {
	const struct recorded_calls *asked;
	struct recording *recording;
	const struct reg_table *regs;
	struct replayer *replayer;
	uint64_t numbers[NUMBERS_MOST];
	size_t count;
};

static void take_numbers(struct search *search)
{
	const struct recorded_calls *asked = search->asked;

	for (unsigned n = 0; n < CALLS_MOST; n++) {
		const struct linux_call *call =
			linux_call_of(search->regs->arch, n);

		for (size_t i = 0; call && i < asked->kind_count; i++)
			if (linux_call_kind(call) == asked->kinds[i] &&
			    search->count < NUMBERS_MOST)
				search->numbers[search->count++] = n;
	}
}

static int begin(struct search *search, const struct recorded_calls *asked,
		 const struct position *at, struct failure *why)
{
	int rc;

	*search = (struct search) {
		.asked = asked, .recording = query_recording(asked->query),
	};
	search->regs = recording_reg_table(search->recording);
	take_numbers(search);
	rc = query_replayer(asked->query, &search->replayer, why);
	return rc ? rc : replayer_seek(search->replayer, at, why);
}

static bool read_memory(void *context, uint64_t addr, void *bytes, size_t size)
{
	return known_memory_read(context, addr, bytes, size);
}

/* The replayer stands before its instruction. */
static void take_call(const struct search *search,
		      const struct replay_stop *stop, struct recorded_call *out)
{
	const struct linux_reader reader = { read_memory, search->replayer };

	*out = (struct recorded_call){ .number = stop->number };
	for (unsigned i = 0; i < KERNEL_ARGS; i++)
		out->args[i] = replayer_reg(search->replayer,
					    search->regs->call_args[i]);
	out->call = linux_call_made(search->regs->arch, stop->number,
				    out->args, &reader);
}

static bool is_meant(const struct search *search,
		     const struct recorded_call *call)
{
	const struct recorded_calls *asked = search->asked;

	return call->call &&
	       (!asked->is_meant || asked->is_meant(asked->context, call));
}

/* On from before a call to where its thread comes back from it. */
static int find_end(const struct search *search, const struct position *to,
		    struct recorded_call *call, bool *is_found,
		    struct failure *why)
{
	const struct replay_until until = {
		.to = *to, .returns = true, .call_numbers = &call->number,
		.call_number_count = 1,
	};
	uint32_t stream = replayer_stream(search->replayer);
	struct replay_stop stop;
	int rc;

	do
		rc = replayer_run(search->replayer, &until, &stop, why);
	while (!rc && stop.kind == REPLAY_AT_RETURN &&
	       replayer_stream(search->replayer) != stream);
	*is_found = !rc && stop.kind == REPLAY_AT_RETURN;
	call->end = stop.at;
	call->result = stop.result;
	return rc;
}

static int find(struct search *search, const struct position *limit,
		const struct position *last, bool backwards,
		struct recorded_call *out, bool *is_found, struct failure *why)
{
	const struct replay_until until = {
		.to = *limit, .calls = true, .call_numbers = search->numbers,
		.call_number_count = search->count,
	};
	struct replay_stop stop;
	int rc = 0;

	*is_found = false;
	while (!rc && !*is_found && search->count) {
		rc = backwards ? replayer_run_back(search->replayer, &until,
						   &stop, why) :
				 replayer_run(search->replayer, &until, &stop,
					      why);
		if (rc || stop.kind != REPLAY_AT_CALL)
			break;
		take_call(search, &stop, out);
		if (!is_meant(search, out))
			continue;
		rc = find_end(search, last, out, is_found, why);
		if (!rc && !*is_found)
			rc = replayer_seek(search->replayer, &stop.at, why);
	}
	return rc;
}

int recorded_call_before(const struct recorded_calls *calls,
			 const struct position *from, const struct position *to,
			 struct recorded_call *out, bool *is_found,
			 struct failure *why)
{
	struct search search;
	int rc = begin(&search, calls, to, why);

	return rc ? rc : find(&search, from, to, true, out, is_found, why);
}

int recorded_call_behind(const struct recorded_calls *calls,
			 const struct position *from, const struct position *to,
			 struct recorded_call *out, bool *is_found,
			 struct failure *why)
{
	struct search search;
	int rc = begin(&search, calls, from, why);

	return rc ? rc : find(&search, to, to, false, out, is_found, why);
}
