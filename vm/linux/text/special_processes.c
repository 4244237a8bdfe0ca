/* SPDX-License-Identifier: GPL-2.0-or-later */
/* special_processes.c - calls about processes and threads, to special.h */
#include <asm/prctl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "vm/linux/text/special.h"

/* ------- processes ------- */

static void show_clone_flags(struct showing *showing, uint64_t flags)
{
	if (!flags || flags & ~UINT64_C(0xff))
		show_values(showing, VALUES_CLONE, flags & ~UINT64_C(0xff));
	if (!(flags & 0xff))
		return;
	if (flags & ~UINT64_C(0xff))
		fputc('|', showing->out);
	show_signal(showing, flags & 0xff);
}

enum { CLONE_ARG_FLAGS, CLONE_ARG_STACK, CLONE_ARG_PARENT, CLONE_ARG_CHILD,
       CLONE_ARG_TLS };

/* Which of them count, in which order. */
enum shown special_cloned(struct showing *showing, unsigned index)
{
	uint64_t flags = arg_of(showing, CLONE_ARG_FLAGS);

	if (index == 0) {
		fputs("child_stack=", showing->out);
		show_address(showing, arg_of(showing, CLONE_ARG_STACK));
		return SHOWN;
	}
	if (index == 1) {
		fputs("flags=", showing->out);
		show_clone_flags(showing, flags);
		return SHOWN;
	}
	if (!showing->leaves)
		return SHOWN_PERHAPS;
	if (index == 2 && flags & CLONE_PARENT_SETTID) {
		fputs("parent_tid=", showing->out);
		show_struct(showing, S_INT, arg_of(showing, CLONE_ARG_PARENT));
		return SHOWN;
	}
	index += !(flags & CLONE_PARENT_SETTID);
	if (index == 3 && flags & CLONE_SETTLS) {
		fputs("tls=", showing->out);
		show_address(showing, arg_of(showing, CLONE_ARG_TLS));
		return SHOWN;
	}
	index += !(flags & CLONE_SETTLS);
	if (index == 4 && flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) {
		fputs("child_tidptr=", showing->out);
		show_address(showing, arg_of(showing, CLONE_ARG_CHILD));
		return SHOWN;
	}
	return SHOWN_NOT;
}

enum shown special_cloned_anew(struct showing *showing, unsigned index)
{
	struct clone_args args = { 0 };
	FILE *out = showing->out;
	int parent;

	/* Something more is said of the first one when the call is over. */
	if (index)
		return showing->leaves ? SHOWN_USUALLY : SHOWN_PERHAPS;
	if (!read_guest(showing, arg_of(showing, 0), &args,
			CLONE_ARGS_SIZE_VER0))
		return SHOWN_USUALLY;
	fputs("{flags=", out);
	show_values(showing, VALUES_CLONE, args.flags);
	if (args.flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID))
		fprintf(out, ", child_tid=%#" PRIx64, (uint64_t)args.child_tid);
	if (args.flags & CLONE_PARENT_SETTID)
		fprintf(out, ", parent_tid=%#" PRIx64,
			(uint64_t)args.parent_tid);
	fputs(", exit_signal=", out);
	show_signal(showing, args.exit_signal);
	fputs(", stack=", out);
	show_address(showing, args.stack);
	fprintf(out, ", stack_size=%#" PRIx64, (uint64_t)args.stack_size);
	if (args.flags & CLONE_SETTLS)
		fprintf(out, ", tls=%#" PRIx64, (uint64_t)args.tls);
	fputc('}', out);
	if (showing->leaves && !showing->has_failed &&
	    args.flags & CLONE_PARENT_SETTID &&
	    read_guest(showing, args.parent_tid, &parent, sizeof(parent)))
		fprintf(out, " => {parent_tid=[%d]}", parent);
	return SHOWN;
}

#define VARIABLES_MOST 65536u	/* a list that does not end is none */

/* Of the environment, only how large it is. */
enum shown special_executed(struct showing *showing, unsigned index)
{
	unsigned environment = is_call(showing, CALL_execve) ? 2 : 3;
	uint64_t addr = arg_of(showing, index), count = 0, string;

	if (index != environment)
		return SHOWN_USUALLY;
	show_address(showing, addr);
	if (!addr)
		return SHOWN;
	while (count < VARIABLES_MOST &&
	       read_word(showing, addr + word_of(showing) * count, &string) &&
	       string)
		count++;
	fprintf(showing->out, " /* %" PRIu64 " var%s */", count,
		count == 1 ? "" : "s");
	return SHOWN;
}

static void put_wait_status(struct showing *showing, int status)
{
	FILE *out = showing->out;

	if (WIFEXITED(status)) {
		fprintf(out, "{WIFEXITED(s) && WEXITSTATUS(s) == %d}",
			WEXITSTATUS(status));
	} else if (WIFSIGNALED(status)) {
		fputs("{WIFSIGNALED(s) && WTERMSIG(s) == ", out);
		show_signal(showing, (uint64_t)WTERMSIG(status));
		fputs(WCOREDUMP(status) ? " && WCOREDUMP(s)}" : "}", out);
	} else if (WIFSTOPPED(status)) {
		fputs("{WIFSTOPPED(s) && WSTOPSIG(s) == ", out);
		show_signal(showing, (uint64_t)WSTOPSIG(status));
		fputc('}', out);
	} else if (WIFCONTINUED(status)) {
		fputs("{WIFCONTINUED(s)}", out);
	} else {
		fprintf(out, "%#x", status);
	}
}

enum shown special_waited(struct showing *showing, unsigned index)
{
	uint64_t addr = arg_of(showing, index);
	int status;

	if (index != 1 || !showing->leaves || showing->result <= 0 || !addr ||
	    !read_guest(showing, addr, &status, sizeof(status))) {
		if (index == 1 && showing->leaves) {
			show_address(showing, addr);
			return SHOWN;
		}
		return SHOWN_USUALLY;
	}
	fputc('[', showing->out);
	put_wait_status(showing, status);
	fputc(']', showing->out);
	return SHOWN;
}

/* A bit for each processor. */
enum shown special_processors(struct showing *showing, unsigned index)
{
	bool gets = is_call(showing, CALL_sched_getaffinity);
	uint64_t size = gets ? (uint64_t)showing->result : arg_of(showing, 1);
	uint8_t bits[128];
	const char *between = "";

	if (index != 2 || (gets && (!showing->leaves || showing->has_failed)))
		return SHOWN_USUALLY;
	if (size > sizeof(bits))
		size = sizeof(bits);
	if (!size || !read_guest(showing, arg_of(showing, 2), bits, size))
		return SHOWN_USUALLY;
	fputc('[', showing->out);
	for (unsigned i = 0; i < size * 8; i++) {
		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		fprintf(showing->out, "%s%u", between, i);
		between = " ";
	}
	fputc(']', showing->out);
	return SHOWN;
}

/* ------- prctl ------- */

/* The kinds of arguments that options of prctl(2) have. */
enum control_kind {
	CONTROL_NONE,
	CONTROL_UNSIGNED,
	CONTROL_SIGNED,
	CONTROL_VALUE,		/* one of `values` */
	CONTROL_VALUE_OF_VALUE,	/* one of `values`, and of a capability */
	CONTROL_FLAG,		/* a number, and three arguments that are 0 */
	CONTROL_SIGNAL,
	CONTROL_NAME,
	CONTROL_TRACER,
	CONTROL_GETS_NUMBER,	/* addresses, where the kernel writes it */
	CONTROL_GETS_VALUE,
	CONTROL_GETS_SIGNAL,
	CONTROL_GETS_NAME,
};

static const struct control {
	int option;
	enum control_kind kind;
	enum call_values values;
} controls[] = {
	{ PR_GET_DUMPABLE, CONTROL_NONE, VALUES_NONE },
	{ PR_GET_KEEPCAPS, CONTROL_NONE, VALUES_NONE },
	{ PR_GET_SECCOMP, CONTROL_NONE, VALUES_NONE },
	{ PR_GET_SECUREBITS, CONTROL_NONE, VALUES_NONE },
	{ PR_GET_TIMERSLACK, CONTROL_NONE, VALUES_NONE },
	{ PR_GET_TIMING, CONTROL_NONE, VALUES_NONE },
	{ PR_SET_CHILD_SUBREAPER, CONTROL_UNSIGNED, VALUES_NONE },
	{ PR_SET_KEEPCAPS, CONTROL_UNSIGNED, VALUES_NONE },
	{ PR_SET_TIMING, CONTROL_UNSIGNED, VALUES_NONE },
	{ PR_SET_TIMERSLACK, CONTROL_SIGNED, VALUES_NONE },
	{ PR_SET_DUMPABLE, CONTROL_VALUE, VALUES_DUMPABLE },
	{ PR_CAPBSET_READ, CONTROL_VALUE, VALUES_CAPABILITY },
	{ PR_CAPBSET_DROP, CONTROL_VALUE, VALUES_CAPABILITY },
	{ PR_SET_TSC, CONTROL_VALUE, VALUES_TSC },
	{ PR_CAP_AMBIENT, CONTROL_VALUE_OF_VALUE, VALUES_CAP_AMBIENT },
	{ PR_SET_NO_NEW_PRIVS, CONTROL_FLAG, VALUES_NONE },
	{ PR_SET_THP_DISABLE, CONTROL_FLAG, VALUES_NONE },
	{ PR_SET_PDEATHSIG, CONTROL_SIGNAL, VALUES_NONE },
	{ PR_SET_NAME, CONTROL_NAME, VALUES_NONE },
	{ PR_SET_PTRACER, CONTROL_TRACER, VALUES_NONE },
	{ PR_GET_CHILD_SUBREAPER, CONTROL_GETS_NUMBER, VALUES_NONE },
	{ PR_GET_TSC, CONTROL_GETS_VALUE, VALUES_TSC },
	{ PR_GET_PDEATHSIG, CONTROL_GETS_SIGNAL, VALUES_NONE },
	{ PR_GET_NAME, CONTROL_GETS_NAME, VALUES_NONE },
};

static const struct control *control_of(const struct showing *showing)
{
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		if (controls[i].option == (int)arg_of(showing, 0))
			return &controls[i];
	return NULL;
}

/* Shows one of `values`, or a number: all 64 bits of the argument count. */
static enum shown control_value(struct showing *showing,
				enum call_values values, uint64_t value)
{
	if (value > UINT32_MAX)
		return show_hex(showing, value);
	show_values(showing, values, value);
	return SHOWN;
}

/* Shows the number that the kernel has written, as it was after the call. */
static enum shown control_gets(struct showing *showing,
			       const struct control *control, guest_addr addr)
{
	uint32_t number;

	if (!showing->leaves)
		return SHOWN_LATER;
	if (showing->has_failed ||
	    !read_guest(showing, addr, &number, sizeof(number))) {
		show_address(showing, addr);
		return SHOWN;
	}
	fputc('[', showing->out);
	if (control->kind == CONTROL_GETS_SIGNAL)
		show_signal(showing, number);
	else if (control->kind == CONTROL_GETS_VALUE)
		show_values(showing, control->values, number);
	else
		show_unsigned(showing, number);
	fputc(']', showing->out);
	return SHOWN;
}

static enum shown control_signed(struct showing *showing, uint64_t value)
{
	fprintf(showing->out, "%" PRId64, word_of(showing) == 4 ?
		(int64_t)(int32_t)value : (int64_t)value);
	return SHOWN;
}

static enum shown control_tracer(struct showing *showing, int pid)
{
	if (pid == -1)
		fputs("PR_SET_PTRACER_ANY", showing->out);
	else
		fprintf(showing->out, "%d", pid);
	return SHOWN;
}

/* The first argument behind the option. */
static enum shown control_first(struct showing *showing,
				const struct control *control)
{
	uint64_t value = arg_of(showing, 1);

	switch (control->kind) {
	case CONTROL_UNSIGNED:
	case CONTROL_FLAG:
		fprintf(showing->out, "%" PRIu64, value);
		return SHOWN;
	case CONTROL_SIGNED:
		return control_signed(showing, value);
	case CONTROL_VALUE:
	case CONTROL_VALUE_OF_VALUE:
		return control_value(showing, control->values, value);
	case CONTROL_SIGNAL:
		show_signal(showing, value);
		return SHOWN;
	case CONTROL_NAME:
		show_thread_name(showing, value);
		return SHOWN;
	case CONTROL_TRACER:
		return control_tracer(showing, (int)value);
	case CONTROL_GETS_NAME:
		if (!showing->leaves)
			return SHOWN_LATER;
		show_path(showing, value);
		return SHOWN;
	case CONTROL_GETS_NUMBER:
	case CONTROL_GETS_VALUE:
	case CONTROL_GETS_SIGNAL:
		return control_gets(showing, control, value);
	default:
		return SHOWN_NOT;
	}
}

enum shown special_process_control(struct showing *showing, unsigned index)
{
	const struct control *control = control_of(showing);
	bool is_ambient = control && control->kind == CONTROL_VALUE_OF_VALUE;
	uint64_t value = arg_of(showing, index);

	if (!index)
		return SHOWN_USUALLY;
	if (control && index == 1)
		return control_first(showing, control);
	if (is_ambient && index == 2 &&
	    arg_of(showing, 1) != PR_CAP_AMBIENT_CLEAR_ALL)
		return control_value(showing, VALUES_CAPABILITY, value);
	if (!control || is_ambient || control->kind == CONTROL_FLAG)
		return show_hex(showing, value);
	return SHOWN_NOT;
}

/* ------- memory of threads, descriptors ------- */

enum shown special_thread_pointer(struct showing *showing, unsigned index)
{
	int what = (int)arg_of(showing, 0);
	uint64_t value = arg_of(showing, index);

	if (!index || (what != ARCH_GET_FS && what != ARCH_GET_GS))
		return index && what != ARCH_SET_FS && what != ARCH_SET_GS ?
			       show_hex(showing, value) : SHOWN_USUALLY;
	if (!showing->leaves)
		return SHOWN_LATER;
	if (showing->has_failed ||
	    !read_guest(showing, value, &value, sizeof(value))) {
		show_address(showing, arg_of(showing, index));
		return SHOWN;
	}
	fprintf(showing->out, "[%#" PRIx64 "]", value);
	return SHOWN;
}

enum shown special_closed_range(struct showing *showing, unsigned index)
{
	return index < 2 ? show_unsigned(showing, arg_of(showing, index)) :
			   SHOWN_USUALLY;
}

/* ------- futexes ------- */

static enum shown futex_timeout(struct showing *showing)
{
	show_struct(showing, showing->row->args[3].type, arg_of(showing, 3));
	return SHOWN;
}

static enum shown futex_bits(struct showing *showing)
{
	uint32_t bits = (uint32_t)arg_of(showing, 5);

	if (bits != FUTEX_BITSET_MATCH_ANY)
		return show_hex(showing, bits);
	fputs("FUTEX_BITSET_MATCH_ANY", showing->out);
	return SHOWN;
}

/* What each operation has behind its value: arguments 3 to 5. */
static enum shown futex_rest(struct showing *showing, unsigned index)
{
	switch (arg_of(showing, 1) & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return index == 3 ? futex_timeout(showing) : SHOWN_NOT;
	case FUTEX_WAIT_BITSET:
		if (index == 3)
			return futex_timeout(showing);
		return index == 4 ? futex_bits(showing) : SHOWN_NOT;
	case FUTEX_WAKE_BITSET:
		return index == 3 ? futex_bits(showing) : SHOWN_NOT;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_WAKE_OP:
	case FUTEX_CMP_REQUEUE_PI:
		if (index == 3)
			return show_unsigned(showing, arg_of(showing, 3));
		return index == 5 ? show_unsigned(showing, arg_of(showing, 5)) :
				    SHOWN_USUALLY;
	case FUTEX_WAIT_REQUEUE_PI:
		return index == 3 ? futex_timeout(showing) :
		       index == 5 ? SHOWN_NOT : SHOWN_USUALLY;
	default:
		return SHOWN_NOT;
	}
}

enum shown special_futex(struct showing *showing, unsigned index)
{
	unsigned operation = arg_of(showing, 1) & FUTEX_CMD_MASK;

	if (index < 2)
		return SHOWN_USUALLY;
	if (index > 2)
		return futex_rest(showing, index);
	if (operation == FUTEX_UNLOCK_PI || operation == FUTEX_LOCK_PI ||
	    operation == FUTEX_TRYLOCK_PI || operation == FUTEX_LOCK_PI2)
		return operation == FUTEX_LOCK_PI ||
				       operation == FUTEX_LOCK_PI2 ?
			       futex_timeout(showing) : SHOWN_NOT;
	return show_unsigned(showing, arg_of(showing, 2));
}
