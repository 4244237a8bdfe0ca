/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_crash.c - see print_crash.h */
#include "tools/print_crash.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/opened.h"
#include "tools/print.h"
#include "tools/print_frames.h"
#include "tools/print_words.h"
#include "vm/linux/abi/names.h"

#define FRAMES_SHOWN 32u

/* ------- what was wrong ------- */

static const char *access_name(enum vm_access access)
{
	switch (access) {
	case ACCESS_READ:
		return "read";
	case ACCESS_WRITE:
		return "write";
	case ACCESS_FETCH:
		return "execution";
	}
	return "access";
}

/* Frames are seldom larger; the kernel keeps more free below a stack. */
#define STACK_NEAR (UINT64_C(64) << 10)

static bool is_stack_full(const struct vm_stop *fault, uint64_t sp)
{
	return fault->access != ACCESS_FETCH && sp > STACK_NEAR &&
	       fault->addr > sp - STACK_NEAR && fault->addr < sp + STACK_NEAR;
}

static struct fault_words memory_words(uint64_t signal,
				       const struct vm_stop *fault,
				       uint64_t sp)
{
	struct fault_words words = {
		.access = access_name(fault->access),
		.addr = fault->addr,
	};

	if (signal == SIGBUS) {
		words.code = "BUS_ADRERR";
		words.reason = "behind the end of the file that is mapped there";
		return words;
	}
	words.code = fault->mapped ? "SEGV_ACCERR" : "SEGV_MAPERR";
	if (is_stack_full(fault, sp))
		words.reason = "the stack is full";
	else if (fault->mapped)
		words.reason = "access not allowed";
	else
		words.reason = "address not mapped";
	return words;
}

struct fault_words fault_words(uint64_t signal, const struct vm_stop *fault,
			       uint64_t sp)
{
	struct fault_words words = { 0 };

	switch (fault->fault) {
	case FAULT_MEMORY:
		return memory_words(signal, fault, sp);
	case FAULT_PRIVILEGE:
		words.code = "SI_KERNEL";
		words.reason = "an address that no program can have, or an"
			       " instruction that programs may not use";
		break;
	case FAULT_INVALID:
		words.code = "ILL_ILLOPN";
		words.reason = "no instruction of this processor";
		break;
	case FAULT_BREAKPOINT:
		words.code = "SI_KERNEL";
		words.reason = "breakpoint instruction";
		break;
	case FAULT_DEBUG:
		words.code = "TRAP_BRKPT";
		words.reason = "debug instruction";
		break;
	case FAULT_DIVIDE:
		words.code = "FPE_INTDIV";
		words.reason = "integer divide by zero, or overflow";
		break;
	case FAULT_FLOAT:
		words.reason = "floating-point exception";
		break;
	case FAULT_INTERRUPT:
		words.code = "SI_KERNEL";
		words.reason = "interrupt instruction";
		break;
	case FAULT_ALIGNMENT:
		words.code = "BUS_ADRALN";
		words.access = fault->addr == fault->pc ? "execution" :
							  "access";
		words.addr = fault->addr;
		words.reason = "not aligned";
		break;
	}
	return words;
}

/* ------- gathering ------- */

struct inquiry {
	struct recording *recording;
	struct crash crash;
	struct query *query;
	struct replayer *replayer;	/* of the query */
	struct lines *lines;
	json_t *object;
};

static void set_signal(json_t *object, uint64_t signal)
{
	const char *name = linux_signal_name(signal);

	json_set_count(object, "signal", signal);
	if (name)
		json_set_text(object, "name", name);
}

/* Who sent a signal that no instruction raised. */
static void set_sender(const struct inquiry *inquiry)
{
	static const char *const sends[] = {
		"kill", "tkill", "tgkill", "rt_sigqueueinfo",
		"rt_tgsigqueueinfo", "pidfd_send_signal",
	};
	const struct crash *crash = &inquiry->crash;
	const char *call = crash->has_call ? linux_syscall_name(
		recording_reg_table(inquiry->recording)->arch,
		crash->call) : NULL;

	for (size_t i = 0; call && i < sizeof(sends) / sizeof(sends[0]); i++)
		if (!strcmp(call, sends[i])) {
			json_set_text(inquiry->object, "call", call);
			json_set_text(inquiry->object, "reason",
				      "the program sent it to itself");
			return;
		}
	json_set_text(inquiry->object, "reason",
		      "sent by another process, or the kernel");
}

static void set_fault(const struct inquiry *inquiry,
		      const struct fault_words *words)
{
	json_t *object = inquiry->object;

	json_set_text(object, "reason", words->reason);
	if (words->code)
		json_set_text(object, "si_code", words->code);
	if (!words->access)
		return;
	json_set_text(object, "access", words->access);
	json_set_address(object, "addr", words->addr);
}

static void set_words(const struct inquiry *inquiry)
{
	json_t *words = words_describe(inquiry->recording, inquiry->query,
				       NULL, &inquiry->crash.at);

	if (words)
		json_object_set_new(inquiry->object, "stderr", words);
}

static uint64_t register_of(const struct inquiry *inquiry, unsigned reg)
{
	struct reg_file file;

	replayer_registers(inquiry->replayer, &file);
	return reg_get(recording_reg_table(inquiry->recording), &file, reg);
}

static void set_instruction(const struct inquiry *inquiry)
{
	uint64_t pc = register_of(inquiry, recording_reg_table(
						   inquiry->recording)->pc);
	char text[160];
	unsigned size;

	vm_disassemble(replayer_vm(inquiry->replayer), pc, text, sizeof(text),
		       &size);
	if (strcmp(text, "(bad)") != 0)
		json_set_text(inquiry->object, "instruction", text);
}

/* Where it was is what the innermost frame says. */
static void set_place(json_t *object)
{
	static const char *const keys[] = {
		"pc", "function", "offset", "module", "module_path", "file",
		"line",
	};
	const json_t *frame = json_array_get(json_object_get(object, "frames"),
					     0);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *value = json_object_get(frame, keys[i]);

		if (value)
			json_object_set(object, keys[i], value);
	}
}

static int set_frames(const struct inquiry *inquiry, struct failure *why)
{
	const struct frames_question asked = {
		inquiry->recording, inquiry->replayer, inquiry->lines,
		inquiry->crash.stream, FRAMES_SHOWN,
	};

	int rc = json_set_frames(inquiry->object, &asked, why);

	if (!rc)
		set_place(inquiry->object);
	return rc;
}

/* In the order of time: a replay goes forwards. */
static int inquire(struct inquiry *inquiry, struct failure *why)
{
	const struct crash *crash = &inquiry->crash;
	struct fault_words words;
	struct vm_stop fault;
	uint64_t sp;
	int rc;

	set_words(inquiry);
	rc = replayer_seek(inquiry->replayer, &crash->at, why);
	if (rc)
		return rc;
	if (crash->is_fault)
		set_instruction(inquiry);
	else
		set_sender(inquiry);
	rc = set_frames(inquiry, why);
	if (rc || !crash->is_fault)
		return rc;
	sp = register_of(inquiry, recording_reg_table(inquiry->recording)->sp);
	rc = crash_explain(crash, inquiry->replayer, &fault, why);
	if (rc)
		return rc;
	words = fault_words(crash->signal, &fault, sp);
	set_fault(inquiry, &words);
	return 0;
}

int crash_describe(json_t **out, struct opened *opened, struct failure *why)
{
	struct inquiry inquiry = { .recording = opened->recording };
	int rc = crash_find(&inquiry.crash, inquiry.recording, why);

	*out = NULL;
	if (rc)
		return rc == ERR_NOT_FOUND ? 0 : rc;
	inquiry.object = json_object();
	set_signal(inquiry.object, inquiry.crash.signal);
	json_set_position(inquiry.object, &inquiry.crash.at);
	json_set_count(inquiry.object, "thread", inquiry.crash.tid);
	rc = opened_ask(opened, why);
	inquiry.lines = opened->lines;
	inquiry.query = opened->query;
	if (!rc)
		rc = query_replayer(inquiry.query, &inquiry.replayer, why);
	if (!rc)
		rc = inquire(&inquiry, why);
	/* What is known without a replay is worth something too. */
	if (rc && why)
		json_set_text(inquiry.object, "error", why->text);
	*out = inquiry.object;
	return 0;
}

/* ------- as text ------- */

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void print_label(const char *label)
{
	printf("%-14s ", label);
}

static void print_reason(const json_t *crash)
{
	const char *name = text_of(crash, "name");

	print_label("crash:");
	if (name)
		fputs(name, stdout);
	else
		printf("signal %" JSON_INTEGER_FORMAT,
		       json_integer_value(json_object_get(crash, "signal")));
	if (json_object_get(crash, "access"))
		printf(", %s of %s", text_of(crash, "access"),
		       text_of(crash, "addr"));
	if (text_of(crash, "reason"))
		printf(": %s", text_of(crash, "reason"));
	if (text_of(crash, "call"))
		printf(" (%s)", text_of(crash, "call"));
	putchar('\n');
}

static void print_time(const json_t *crash)
{
	struct position at = {
		(uint64_t)json_integer_value(json_object_get(crash, "at")),
		(uint32_t)json_integer_value(json_object_get(crash, "events")),
	};
	char text[POSITION_TEXT];

	print_label("  at:");
	printf("t=%s, thread %" JSON_INTEGER_FORMAT "\n",
	       position_text(text, &at),
	       json_integer_value(json_object_get(crash, "thread")));
}

static void print_string(const json_t *crash, const char *label,
			 const char *key)
{
	const json_t *text = json_object_get(crash, key);

	if (!text)
		return;
	print_label(label);
	print_escaped(stdout, json_string_value(text),
		      json_string_length(text));
	putchar('\n');
}

void print_crash(const json_t *crash)
{
	print_reason(crash);
	print_time(crash);
	print_string(crash, "  instruction:", "instruction");
	print_words(json_object_get(crash, "stderr"));
	print_frames(stdout, crash, "  ");
	print_string(crash, "  error:", "error");
}
