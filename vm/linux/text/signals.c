/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signals.c - sets of signals, and what is known of one that was sent */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/registers.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/names.h"
#include "vm/linux/text/text_internal.h"
#include "vm/vm.h"

enum { SIGNALS = 64, FIRST_REAL_TIME = 32 };

static void put_signal(FILE *out, unsigned number)
{
	const char *name = linux_signal_name(number);

	if (number == FIRST_REAL_TIME)
		fputs("RTMIN", out);
	else if (number > FIRST_REAL_TIME)
		fprintf(out, "RT_%u", number - FIRST_REAL_TIME);
	else if (name)
		fputs(name + strlen("SIG"), out);
}

/* Of most signals, those that are missing. */
void show_signal_set(struct showing *showing, uint64_t set)
{
	bool is_large = __builtin_popcountll(set) >= SIGNALS * 2 / 3;
	uint64_t left = is_large ? ~set : set;

	fputs(is_large ? "~[" : "[", showing->out);
	for (unsigned i = 1; left; i++, left >>= 1) {
		if (!(left & 1))
			continue;
		put_signal(showing->out, i);
		if (left > 1)
			fputc(' ', showing->out);
	}
	fputc(']', showing->out);
}

/* Codes above 0 mean something else for each signal. */
static enum call_values codes_of(const siginfo_t *info)
{
	if (info->si_code <= 0 || info->si_code == SI_KERNEL)
		return VALUES_SI;
	switch (info->si_signo) {
	case SIGSEGV:
		return VALUES_SI_SEGV;
	case SIGBUS:
		return VALUES_SI_BUS;
	case SIGILL:
		return VALUES_SI_ILL;
	case SIGFPE:
		return VALUES_SI_FPE;
	case SIGTRAP:
		return VALUES_SI_TRAP;
	case SIGCHLD:
		return VALUES_SI_CLD;
	default:
		return VALUES_SI;
	}
}

static bool is_fault(const siginfo_t *info)
{
	switch (info->si_signo) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGTRAP:
		return true;
	default:
		return false;
	}
}

static void put_status(struct showing *showing, const siginfo_t *info)
{
	FILE *out = showing->out;

	fputs(", si_status=", out);
	if (info->si_code == CLD_EXITED)
		fprintf(out, "%d", info->si_status);
	else
		show_signal(showing, (uint64_t)info->si_status);
	fprintf(out, ", si_utime=%ld, si_stime=%ld", info->si_utime,
		info->si_stime);
}

static void put_value(struct showing *showing, const siginfo_t *info)
{
	uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;

	if (!value)
		return;
	fprintf(showing->out, ", si_int=%d, si_ptr=%#" PRIx64, (int)value,
		value);
}

static void put_details(struct showing *showing, const siginfo_t *info)
{
	FILE *out = showing->out;

	if (info->si_code == SI_TIMER) {
		fprintf(out, ", si_timerid=%d, si_overrun=%d", info->si_timerid,
			info->si_overrun);
		put_value(showing, info);
	} else if (info->si_code == SI_KERNEL && !is_fault(info)) {
		return;
	} else if (info->si_code > 0 && is_fault(info)) {
		fputs(", si_addr=", out);
		show_address(showing, (guest_addr)(uintptr_t)info->si_addr);
	} else {
		fprintf(out, ", si_pid=%d, si_uid=%u", info->si_pid,
			info->si_uid);
		if (info->si_signo == SIGCHLD && info->si_code > 0)
			put_status(showing, info);
		else if (info->si_code < 0 && info->si_code != SI_TKILL)
			put_value(showing, info);
	}
}

void show_siginfo(struct showing *showing, const siginfo_t *info)
{
	if (!info->si_signo) {
		fputs("{}", showing->out);
		return;
	}
	fputs("{si_signo=", showing->out);
	show_signal(showing, (uint64_t)info->si_signo);
	fputs(", si_code=", showing->out);
	show_values(showing, codes_of(info), (uint64_t)info->si_code);
	put_details(showing, info);
	fputc('}', showing->out);
}

void signal_info(unsigned arch, const void *bytes, siginfo_t *out)
{
	const struct linux_abi *abi = linux_abi(arch);

	_Static_assert(sizeof(*out) == SIGNAL_INFO, "struct siginfo");
	memset(out, 0, sizeof(*out));
	if (abi)
		layout_in(&abi->layouts[S_SIGINFO], out, bytes);
}

char *signal_text(unsigned arch, const siginfo_t *info)
{
	struct call_text call = { .arch = arch };
	struct showing showing = { .call = &call };
	char *text = NULL;
	size_t size;

	showing.out = open_memstream(&text, &size);
	if (!showing.out)
		return NULL;
	show_siginfo(&showing, info);
	fclose(showing.out);
	return text;
}

char *unknown_signal_text(unsigned arch, uint64_t number)
{
	struct call_text call = { .arch = arch };
	struct showing showing = { .call = &call };
	char *text = NULL;
	size_t size;

	showing.out = open_memstream(&text, &size);
	if (!showing.out)
		return NULL;
	fputs("{si_signo=", showing.out);
	show_signal(&showing, number);
	fputc('}', showing.out);
	fclose(showing.out);
	return text;
}

#define NO_ARGUMENT UINT8_MAX

/* Calls that send a signal: which arguments say to whom, and what. */
static const struct sending {
	const char *name;
	uint8_t pid, tid, signal, info;
	int code;
} sendings[] = {
	{ "kill", 0, NO_ARGUMENT, 1, NO_ARGUMENT, SI_USER },
	{ "tkill", NO_ARGUMENT, 0, 1, NO_ARGUMENT, SI_TKILL },
	{ "tgkill", 0, 1, 2, NO_ARGUMENT, SI_TKILL },
	{ "rt_sigqueueinfo", 0, NO_ARGUMENT, 1, 2, 0 },
	{ "rt_tgsigqueueinfo", 0, 1, 2, 3, 0 },
};

static const struct sending *find_sending(const struct signal_sender *sender,
					  uint64_t signal)
{
	const uint64_t *args = sender->args;

	if (!sender->call)
		return NULL;
	for (size_t i = 0; i < sizeof(sendings) / sizeof(*sendings); i++) {
		const struct sending *one = &sendings[i];

		if (!strcmp(sender->call->name, one->name) &&
		    (uint32_t)args[one->signal] == signal &&
		    (one->pid == NO_ARGUMENT ||
		     (uint32_t)args[one->pid] == sender->pid) &&
		    (one->tid == NO_ARGUMENT ||
		     (uint32_t)args[one->tid] == sender->tid))
			return one;
	}
	return NULL;
}

/* What the sender says itself. */
static char *given_text(const struct signal_sender *sender,
			const struct sending *sending, uint64_t signal)
{
	uint8_t bytes[SIGNAL_INFO];
	siginfo_t info;

	if (!sender->read(sender->context, sender->args[sending->info], bytes,
			  sizeof(bytes)))
		return NULL;
	signal_info(sender->arch, bytes, &info);
	info.si_signo = (int)signal;
	return signal_text(sender->arch, &info);
}

char *own_signal_text(const struct signal_sender *sender, uint64_t signal)
{
	const struct sending *sending = find_sending(sender, signal);
	struct call_text call = { .arch = sender->arch };
	struct showing showing = { .call = &call };
	char *text = NULL;
	size_t size;

	if (!sending)
		return NULL;
	if (sending->info != NO_ARGUMENT)
		return given_text(sender, sending, signal);
	showing.out = open_memstream(&text, &size);
	if (!showing.out)
		return NULL;
	fputs("{si_signo=", showing.out);
	show_signal(&showing, signal);
	fputs(", si_code=", showing.out);
	show_values(&showing, VALUES_SI, (uint64_t)sending->code);
	fprintf(showing.out, ", si_pid=%" PRIu32, sender->pid);
	if (sender->has_uid)
		fprintf(showing.out, ", si_uid=%" PRIu32, sender->uid);
	fputc('}', showing.out);
	fclose(showing.out);
	return text;
}

/* Explaining an interrupt moves the guest behind it: not for good. */
static void explain(const struct linux_abi *abi, struct vm *vm,
		    const struct vm_stop *stop, struct guest_fault *out)
{
	unsigned pc = reg_table(abi->arch)->pc;
	uint64_t before = vm_reg(vm, pc);

	abi->fault(vm, stop, false, out);
	vm_set_reg(vm, pc, before);
}

char *fault_text(unsigned arch, struct vm *vm, const struct vm_stop *stop,
		 uint64_t number)
{
	const struct linux_abi *abi = linux_abi(arch);
	struct guest_fault fault = { 0 };

	if (abi)
		explain(abi, vm, stop, &fault);
	/* A page behind the end of a file. */
	if (number == SIGBUS && stop->fault == FAULT_MEMORY) {
		fault.info.si_signo = SIGBUS;
		fault.info.si_code = BUS_ADRERR;
	}
	return fault.info.si_signo == (int)number ?
		       signal_text(arch, &fault.info) :
		       unknown_signal_text(arch, number);
}
