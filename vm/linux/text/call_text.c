/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_text.c - see text.h: goes from argument to argument */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/names.h"
#include "vm/linux/text/text_internal.h"

/* MAX_ERRNO of Linux. */
#define HIGHEST_ERROR 4095

bool read_guest(const struct showing *showing, guest_addr addr, void *out,
		size_t size)
{
	struct call_text *call = showing->call;
	bool has = size - 1 <= UINT64_MAX - addr &&
		   call->read(call->context, addr, out, size);

	call->lacks |= !has;
	return has;
}

const struct linux_abi *abi_of(const struct showing *showing)
{
	return linux_abi(showing->call->arch);
}

unsigned word_of(const struct showing *showing)
{
	const struct linux_abi *abi = abi_of(showing);

	return abi ? abi->word : sizeof(uint64_t);
}

bool read_word(const struct showing *showing, guest_addr addr, uint64_t *out)
{
	*out = 0;
	return read_guest(showing, addr, out, word_of(showing));
}

/* ------- values ------- */

void show_values(struct showing *showing, enum call_values kind,
		 uint64_t value)
{
	char text[400];

	linux_values_text(text, sizeof(text), showing->call->arch, kind, value);
	fputs(text, showing->out);
}

void show_address(struct showing *showing, guest_addr addr)
{
	if (addr)
		fprintf(showing->out, "0x%" PRIx64, addr);
	else
		fputs("NULL", showing->out);
}

void show_mode(struct showing *showing, unsigned mode)
{
	fprintf(showing->out, "%#03o", mode);
}

void show_descriptor(struct showing *showing, int descriptor)
{
	const struct call_text *call = showing->call;
	const char *name = call->file && descriptor >= 0 ?
				   call->file(call->context, descriptor) : NULL;

	fprintf(showing->out, "%d", descriptor);
	if (name)
		fprintf(showing->out, "<%s>", name);
}

const char *signal_text_name(char text[SIGNAL_NAME], uint64_t number)
{
	const char *name = linux_signal_name(number);

	snprintf(text, SIGNAL_NAME, "%" PRId64, (int64_t)number);
	return name ? name : text;
}

void show_signal(struct showing *showing, uint64_t number)
{
	char text[SIGNAL_NAME];

	fputs(signal_text_name(text, (uint64_t)(int32_t)number), showing->out);
}

const char *call_text_name(char text[CALL_NAME], const struct linux_call *call,
			   uint64_t number)
{
	if (call)
		snprintf(text, CALL_NAME, "%s", call->name);
	else
		snprintf(text, CALL_NAME, "syscall_0x%" PRIx64, number);
	return text;
}

/* ------- arguments ------- */

static enum shown show_value(struct showing *showing,
			     const struct call_arg *arg, uint64_t value)
{
	FILE *out = showing->out;

	switch (arg->kind) {
	case ARG_SIZE:
		fprintf(out, "%" PRIu64, value);
		break;
	case ARG_OFFSET:
		fprintf(out, "%" PRId64, (int64_t)value);
		break;
	case ARG_MODE:
		show_mode(showing, (unsigned)value & 0xffff);
		break;
	case ARG_UID:
	case ARG_GID:
		fprintf(out, (uint32_t)value == UINT32_MAX ? "-1" : "%u",
			(unsigned)value);
		break;
	case ARG_SIGNAL:
		show_signal(showing, value);
		break;
	case ARG_VALUE:
	case ARG_FLAGS:
		show_values(showing, arg->values, value);
		break;
	case ARG_BITS:
		fprintf(out, "%#" PRIx64, value);
		break;
	case ARG_DIR:
		if ((int)value == AT_FDCWD) {
			fputs("AT_FDCWD", out);
			break;
		}
		/* fallthrough */
	case ARG_FD:
	case ARG_ANY_FD:
		show_descriptor(showing, (int)value);
		break;
	case ARG_INT:
	case ARG_PID:
		fprintf(out, "%d", (int)value);
		break;
	default:
		show_address(showing, value);
	}
	return SHOWN;
}

/* What the kernel reads. */
static enum shown show_input(struct showing *showing,
			     const struct call_arg *arg, uint64_t value)
{
	uint64_t other = arg_of(showing, arg->other);

	switch (arg->kind) {
	case ARG_PATH:
	case ARG_PATH_FOLLOWED:
		show_path(showing, value);
		break;
	case ARG_IN:
	case ARG_INOUT_EINTR:
	case ARG_MASK:
		show_struct(showing, arg->type, value);
		break;
	case ARG_BYTES_IN:
		show_bytes(showing, value, other);
		break;
	case ARG_ARRAY_IN:
		show_structs(showing, arg->type, value, other);
		break;
	case ARG_VECTOR_IN:
		show_vector(showing, value, other, UINT64_MAX);
		break;
	case ARG_MESSAGE_IN:
		show_message(showing, value, true);
		break;
	case ARG_STRINGS:
		show_strings(showing, value);
		break;
	default:
		return SHOWN_USUALLY;
	}
	return SHOWN;
}

/* A length, and what it was before. */
static void show_length(struct showing *showing, unsigned index)
{
	uint64_t addr = arg_of(showing, index);
	uint32_t before = (uint32_t)showing->call->kept[index], after;

	if (!addr || !read_guest(showing, addr, &after, sizeof(after)))
		show_address(showing, addr);
	else if (before == after || showing->has_failed)
		fprintf(showing->out, "[%u]", after);
	else
		fprintf(showing->out, "[%u => %u]", before, after);
}

/* What it writes, and has written. */
static void show_output(struct showing *showing, const struct call_arg *arg,
			unsigned index)
{
	uint64_t value = arg_of(showing, index);
	uint64_t filled = (uint64_t)showing->result;

	if (arg->kind == ARG_LENGTH) {
		show_length(showing, index);
		return;
	}
	if (arg->kind == ARG_OUT_EINTR ? showing->result != -EINTR :
					 showing->has_failed) {
		show_address(showing, value);
		return;
	}
	switch (arg->kind) {
	case ARG_OUT:
	case ARG_OUT_EINTR:
	case ARG_INOUT:
		show_struct(showing, arg->type, value);
		break;
	case ARG_BYTES_OUT:
		show_bytes(showing, value, filled);
		break;
	case ARG_ARRAY_OUT:
		show_structs(showing, arg->type, value, filled);
		break;
	case ARG_VECTOR_OUT:
		show_vector(showing, value, arg_of(showing, arg->other),
			    filled);
		break;
	case ARG_MESSAGE_OUT:
		show_message(showing, value, false);
		break;
	default:
		show_address(showing, value);
	}
}

static bool is_output(enum arg_kind kind)
{
	return arg_is_written(kind) && kind != ARG_WORD &&
	       kind != ARG_INOUT_EINTR;
}

static enum shown show_argument(struct showing *showing, unsigned index)
{
	const struct call_arg *arg = &showing->row->args[index];
	uint64_t value = arg_of(showing, index);
	enum shown shown = show_special(showing, index);

	if (shown != SHOWN_USUALLY)
		return shown;
	if (is_output(arg->kind)) {
		if (!showing->leaves && value)
			return SHOWN_LATER;
		show_output(showing, arg, index);
		return SHOWN;
	}
	shown = show_input(showing, arg, value);
	return shown == SHOWN_USUALLY ? show_value(showing, arg, value) : shown;
}

/* A call that nobody knows has all arguments. */
static enum shown show_unknown(struct showing *showing, unsigned index)
{
	fprintf(showing->out, "%#" PRIx64, arg_of(showing, index));
	return SHOWN;
}

/* Makes the text of an argument. */
static int make_text(struct showing *showing, unsigned index,
		     enum shown *shown)
{
	char **text = &showing->call->texts[index];
	size_t size;

	*text = NULL;
	showing->call->lacks = false;
	showing->out = open_memstream(text, &size);
	if (!showing->out)
		return ERR_NO_MEMORY;
	*shown = showing->row ? show_argument(showing, index) :
				show_unknown(showing, index);
	if (fclose(showing->out) || !*text)
		return ERR_NO_MEMORY;
	if (!showing->leaves && showing->call->fetches && showing->call->lacks)
		*shown = SHOWN_LATER;
	if (*shown == SHOWN)
		return 0;
	free(*text);
	*text = NULL;
	return 0;
}

static unsigned arguments(const struct showing *showing)
{
	if (showing->call->lacks_args)
		return 0;
	if (showing->row == &linux_calls[CALL_rt_sigreturn])
		return 1;	/* the frame, which no register leads to */
	return showing->row ? linux_call_arguments(showing->row) : CALL_ARGS;
}

/* Makes the texts that are to be had now, in their order. */
static int make_texts(struct showing *showing)
{
	struct call_text *call = showing->call;
	unsigned most = arguments(showing);

	while (call->count < most) {
		enum shown shown;
		int rc = make_text(showing, call->count, &shown);

		call->has_more = !rc && shown == SHOWN_LATER;
		if (rc || shown != SHOWN)
			return rc;
		call->count++;
	}
	return 0;
}

static struct showing begin(struct call_text *call)
{
	return (struct showing){
		.call = call,
		.row = call->call,
	};
}

int call_text_enter(struct call_text *call)
{
	struct showing showing = begin(call);
	int rc;

	for (unsigned i = 0; showing.row && i < CALL_ARGS; i++)
		if (showing.row->args[i].kind == ARG_LENGTH && call->args[i])
			read_guest(&showing, call->args[i], &call->kept[i], 4);
	rc = make_texts(&showing);
	call->entered = call->count;
	call->split = call->count ? strlen(call->texts[call->count - 1]) : 0;
	return rc;
}

/* ------- results ------- */

/* Linux, include/linux/errno.h; the texts are strace's. */
static const struct {
	int error;
	const char *text;
} restarts[] = {
	{ 512, "ERESTARTSYS (To be restarted if SA_RESTART is set)" },
	{ 513, "ERESTARTNOINTR (To be restarted)" },
	{ 514, "ERESTARTNOHAND (To be restarted if no handler)" },
	{ 516, "ERESTART_RESTARTBLOCK (Interrupted by signal)" },
};

/* The kernel's own, and those that programs never see. */
static void show_error(struct showing *showing)
{
	int error = (int)-showing->result;
	const char *name = linux_error_name(showing->result);

	for (size_t i = 0; i < sizeof(restarts) / sizeof(restarts[0]); i++)
		if (restarts[i].error == error) {
			fprintf(showing->out, "? %s", restarts[i].text);
			return;
		}
	if (name)
		fprintf(showing->out, "-1 %s (%s)", name, strerror(error));
	else
		fprintf(showing->out, "%d", -error);
}

static void show_usual_result(struct showing *showing)
{
	const struct call_arg *arg = showing->row ?
					     &showing->row->args[CALL_RESULT] :
					     NULL;

	switch (arg ? arg->kind : ARG_NONE) {
	case ARG_ADDRESS:
		fprintf(showing->out, "%#" PRIx64, (uint64_t)showing->result);
		break;
	case ARG_MODE:
		show_mode(showing, (unsigned)showing->result);
		break;
	case ARG_FD:
		show_descriptor(showing, (int)showing->result);
		break;
	default:
		fprintf(showing->out, "%" PRId64, showing->result);
	}
}

static bool never_returns(const struct linux_call *row)
{
	return row == &linux_calls[CALL_exit] ||
	       row == &linux_calls[CALL_exit_group];
}

static int show_result(struct showing *showing)
{
	size_t size;

	showing->out = open_memstream(&showing->call->result, &size);
	if (!showing->out)
		return ERR_NO_MEMORY;
	if (never_returns(showing->row)) {
		fputc('?', showing->out);
	} else if (showing->has_failed) {
		show_error(showing);
	} else {
		if (!show_special_result(showing))
			show_usual_result(showing);
		show_behind(showing);
	}
	return fclose(showing->out) ? ERR_NO_MEMORY : 0;
}

/* What was shown when the call began, and goes on. */
static int amend(struct showing *showing)
{
	struct call_text *call = showing->call;
	unsigned last = call->entered - 1;
	char *before = call->entered ? call->texts[last] : NULL;
	enum shown shown;
	int rc;

	if (!before || showing->row != &linux_calls[CALL_clone3])
		return 0;
	rc = make_text(showing, last, &shown);
	free(before);
	return rc;
}

int call_text_leave(struct call_text *call, int64_t result)
{
	struct showing showing = begin(call);
	int rc;

	showing.leaves = true;
	showing.result = result;
	showing.has_failed = result < 0 && result >= -HIGHEST_ERROR;
	rc = amend(&showing);
	if (!rc)
		rc = make_texts(&showing);
	return rc ? rc : show_result(&showing);
}

int call_text_end(struct call_text *call)
{
	call->result = strdup("?");
	return call->result ? 0 : ERR_NO_MEMORY;
}

void call_text_release(struct call_text *call)
{
	for (unsigned i = 0; i < CALL_ARGS; i++)
		free(call->texts[i]);
	free(call->result);
	memset(call->texts, 0, sizeof(call->texts));
	call->result = NULL;
	call->count = call->entered = 0;
}
