/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.c - system calls and signals; what the program printed */
#include "library/handles.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm/linux/abi/names.h"
#include "vm/linux/text/text.h"
#include "vm/vm.h"

#define STRING_SHOWN 32u

_Static_assert(sizeof(((struct cprec_event *)NULL)->args) ==
	       sizeof(((struct call_text *)NULL)->args), "all arguments");

struct event_visits {
	struct visits visits;
	const struct cprec_events *asked;
	struct replayer *replayer;
	unsigned arch;
	struct event_call {	/* by stream: what it is in */
		bool is_there;
		struct call_text text;
		struct position began;
	} *calls;
};

static bool read_memory(void *context, guest_addr addr, void *bytes,
			size_t size)
{
	struct event_visits *visits = context;

	return known_memory_read(visits->replayer, addr, bytes, size);
}

static void begin_call(struct event_visits *visits, struct event_call *call,
		       const struct call_event *event)
{
	uint32_t most = visits->asked->string_most;

	call_text_release(&call->text);
	*call = (struct event_call) {
		.is_there = true, .began = event->at,
		.text = {
			.arch = visits->arch, .call = event->call,
			.sp = event->sp,
			.string_most = most ? most : STRING_SHOWN,
			.read = read_memory, .context = visits,
		},
	};
	memcpy(call->text.args, event->args, sizeof(call->text.args));
}

static int no_memory(struct event_visits *visits)
{
	return failed(visits->visits.why, ERR_NO_MEMORY, "out of memory");
}

static int tell(struct event_visits *visits, const struct cprec_event *event)
{
	return visits_told(&visits->visits, visits->asked->visit(
		visits->visits.context, event));
}

/* ------- calls ------- */

static struct cprec_event describe_call(const struct event_call *call,
					const struct call_event *event,
					const char *name)
{
	struct cprec_event out = {
		.at = from_position(event->at),
		.began = from_position(call->began), .tid = event->tid,
		.number = event->number, .name = name,
		.arguments = (const char *const *)call->text.texts,
		.argument_count = call->text.count,
	};

	memcpy(out.args, event->args, sizeof(out.args));
	return out;
}

static int enter(struct event_visits *visits, struct event_call *call,
		 const struct call_event *event)
{
	struct cprec_event out;
	char name[CALL_NAME];

	begin_call(visits, call, event);
	if (call_text_enter(&call->text))
		return no_memory(visits);
	if (!visits->asked->begins)
		return 0;
	out = describe_call(call, event, call_text_name(name, event->call,
							event->number));
	out.kind = CPREC_CALL_BEGINS;
	return tell(visits, &out);
}

/* "close(3) = 0" */
static char *whole_text(const struct call_text *call, const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%s(", name);
	for (unsigned i = 0; i < call->count; i++)
		fprintf(out, "%s%s", i ? ", " : "", call->texts[i]);
	fprintf(out, ") = %s", call->result);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int leave(struct event_visits *visits, struct event_call *call,
		 const struct call_event *event)
{
	char name[CALL_NAME], *text;
	struct cprec_event out;
	int rc;

	if (!event->was_entered || !call->is_there)
		begin_call(visits, call, event);
	if (call_text_leave(&call->text, event->result))
		return no_memory(visits);
	call->is_there = false;
	call_text_name(name, event->call, event->number);
	text = whole_text(&call->text, name);
	if (!text)
		return no_memory(visits);
	out = describe_call(call, event, name);
	out.kind = CPREC_CALL_ENDS;
	out.result = event->result;
	out.result_text = call->text.result;
	out.error = linux_error_name(event->result);
	out.text = text;
	rc = tell(visits, &out);
	free(text);
	return rc;
}

/* ------- signals and ends ------- */

/* What is known of it: from its handler's frame, the fault, or the thread's own
 * call. */
static char *describe_signal(struct event_visits *visits,
			     const struct call_event *event)
{
	const struct reg_table *table =
		recording_reg_table(visits->visits.of->recording);
	struct vm *vm = replayer_vm(visits->replayer);
	struct vm_stop fault;
	uint8_t bytes[SIGNAL_INFO];
	siginfo_t info = { .si_signo = 0 };
	const struct signal_sender sender = {
		.arch = visits->arch, .call = event->call,
		.args = event->args, .pid = event->pid, .tid = event->tid,
		.has_uid = event->has_uid, .uid = event->uid,
		.read = read_memory, .context = visits,
	};
	char *text;

	if (event->has_handler &&
	    known_memory_read(visits->replayer, vm_reg(vm, table->handler_info),
			    bytes, sizeof(bytes)))
		signal_info(visits->arch, bytes, &info);
	if (info.si_signo == (int)event->signal)
		return signal_text(visits->arch, &info);
	if (event->is_fault && replayer_last_fault(visits->replayer, &fault))
		return fault_text(visits->arch, vm, &fault, event->signal);
	text = event->is_behind_call ? own_signal_text(&sender, event->signal) :
				       NULL;
	return text ? text : unknown_signal_text(visits->arch, event->signal);
}

static int tell_signal(struct event_visits *visits,
		       const struct call_event *event)
{
	char name[SIGNAL_NAME], *text = describe_signal(visits, event);
	const struct cprec_event out = {
		.kind = CPREC_SIGNAL, .at = from_position(event->at),
		.tid = event->tid, .number = event->signal,
		.name = signal_text_name(name, event->signal), .text = text,
	};
	int rc = text ? tell(visits, &out) : no_memory(visits);

	free(text);
	return rc;
}

static int tell_end(struct event_visits *visits,
		    const struct call_event *event)
{
	const struct cprec_event out = {
		.kind = CPREC_THREAD_ENDS, .at = from_position(event->at),
		.tid = event->tid, .result = event->result,
	};

	return tell(visits, &out);
}

/* ------- all of them ------- */

static int on_event(void *context, const struct call_event *event)
{
	struct event_visits *visits = context;
	struct event_call *call = &visits->calls[event->stream];

	if (visits->asked->tid && event->tid != visits->asked->tid)
		return 0;
	switch (event->visit) {
	case VISIT_ENTER:
		return enter(visits, call, event);
	case VISIT_LEAVE:
		return leave(visits, call, event);
	case VISIT_SIGNAL:
		return tell_signal(visits, event);
	case VISIT_END:
		return tell_end(visits, event);
	}
	return 0;
}

static int visit_all(struct event_visits *visits, const struct position *from,
		     const struct position *to)
{
	struct cprec_recording *handle = visits->visits.of;
	const struct calls_list list = {
		.replayer = visits->replayer, .recording = handle->recording,
		.visit = on_event, .context = visits,
	};
	uint32_t count = recording_threads(handle->recording);
	int rc;

	visits->arch = recording_reg_table(handle->recording)->arch;
	visits->calls = calloc(count, sizeof(*visits->calls));
	if (!visits->calls)
		return no_memory(visits);
	handle->runs = true;
	rc = calls_list_visit(&list, from, to, visits->visits.why);
	handle->runs = false;
	/* The replayer was told to leave nothing out. */
	replayer_in_order(visits->replayer, false);
	for (uint32_t i = 0; i < count; i++)
		call_text_release(&visits->calls[i].text);
	free(visits->calls);
	return visits_result(&visits->visits, rc);
}

PUBLIC int cprec_each_event(struct cprec_recording *handle,
			    const struct cprec_events *question,
			    struct cprec_failure *why)
{
	struct cprec_events asked;
	struct event_visits visits = {
		.visits = { .of = handle, .why = inner(why) }, .asked = &asked,
	};
	struct position from, to;
	int rc = question_begin(handle, true, why);

	if (!rc)
		rc = QUESTION_TAKE(&asked, question, why);
	if (!rc)
		rc = question_range(handle, asked.has_from ? &asked.from : NULL,
				    asked.has_to ? &asked.to : NULL, &from,
				    &to, why);
	if (!rc && !asked.visit)
		rc = failed(inner(why), ERR_INPUT, "nobody is told");
	if (!rc)
		rc = query_replayer(handle->query, &visits.replayer,
				    inner(why));
	if (rc)
		return rc;
	visits.visits.context = asked.context;
	return visit_all(&visits, &from, &to);
}

/* ------- outputs ------- */

struct output_visits {
	struct visits visits;
	int (*visit)(void *context, const struct cprec_output *output);
};

static int on_output(void *context, const struct output_part *part)
{
	struct output_visits *visits = context;
	struct cprec_recording *handle = visits->visits.of;
	struct cprec_output out = {
		.at = from_position(part->at), .descriptor = part->descriptor,
		.addr = part->addr, .length = part->size,
	};
	char *text = malloc(part->size + 1);
	int rc;

	if (!text)
		return failed(visits->visits.why, ERR_NO_MEMORY,
			      "out of memory");
	text[part->size] = '\0';
	out.text = text;
	rc = output_read(handle->query, part, 0, text, part->size,
			 visits->visits.why);
	if (!rc)
		rc = tid_of(handle, part->stream, part->at.time, &out.tid,
			    visits->visits.why);
	if (!rc)
		rc = visits_told(&visits->visits,
				 visits->visit(visits->visits.context, &out));
	free(text);
	return rc;
}

PUBLIC int cprec_each_output(struct cprec_recording *handle,
			     int (*visit)(void *context,
					  const struct cprec_output *output),
			     void *context, struct cprec_failure *why)
{
	struct output_visits visits = {
		{ .of = handle, .why = inner(why), .context = context }, visit,
	};
	int rc = question_begin(handle, true, why);

	if (!rc)
		rc = outputs_each(handle->query, on_output, &visits,
				  inner(why));
	return visits_result(&visits.visits, rc);
}
