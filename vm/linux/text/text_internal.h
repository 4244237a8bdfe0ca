/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text_internal.h - what the files of this room have in common
 *
 * call_text.c goes from argument to argument; special.h has calls whose
 * arguments depend on others, structs.c the structures, strings.c the strings.
 */
#ifndef CPREC_VM_LINUX_TEXT_TEXT_INTERNAL_H
#define CPREC_VM_LINUX_TEXT_TEXT_INTERNAL_H

#include <stdio.h>

#include "vm/linux/text/text.h"

/* A call while its texts are made. */
struct showing {
	struct call_text *call;
	const struct linux_call *row;
	FILE *out;		/* of the argument, or of the result */
	bool leaves;		/* it is over: */
	int64_t result;
	bool has_failed;
};

enum shown {
	SHOWN,
	SHOWN_LATER,		/* known only when the call is over */
	SHOWN_PERHAPS,		/* ... and whether it is there at all */
	SHOWN_USUALLY,		/* as the table says */
	SHOWN_NOT,		/* neither this argument nor others behind */
};

static inline uint64_t arg_of(const struct showing *showing, unsigned index)
{
	return showing->call->args[index];
}

/* ------- call_text.c ------- */

void show_values(struct showing *showing, enum call_values kind,
		 uint64_t value);
void show_address(struct showing *showing, guest_addr addr);
void show_mode(struct showing *showing, unsigned mode);	/* permissions */
void show_descriptor(struct showing *showing, int descriptor);
void show_signal(struct showing *showing, uint64_t number);

/* False, with nothing shown, if it cannot be read. */
bool read_guest(const struct showing *showing, guest_addr addr, void *out,
		size_t size);

/* The same of a pointer or a long, and of a structure, as the host has it. */
bool read_word(const struct showing *showing, guest_addr addr, uint64_t *out);
bool read_struct(const struct showing *showing, enum guest_struct type,
		 guest_addr addr, void *host);

/* What kind of guest it is, NULL; how many bytes a pointer has. */
const struct linux_abi *abi_of(const struct showing *showing);
unsigned word_of(const struct showing *showing);
size_t size_of(const struct showing *showing, enum guest_struct type);

/* ------- special.c ------- */

/* The argument, if its call is a special one. */
enum shown show_special(struct showing *showing, unsigned index);

/* Returns false if the result is a usual one. */
bool show_special_result(struct showing *showing);

/* What stands behind the result, of a call that did not fail. */
void show_behind(struct showing *showing);

/* ------- sockets.c ------- */

void show_socket_address(struct showing *showing, guest_addr addr,
			 uint64_t size);
void show_message(struct showing *showing, guest_addr addr, bool is_sent);
enum shown show_socket_option(struct showing *showing, unsigned index);

/* ------- signals.c ------- */

void show_signal_set(struct showing *showing, uint64_t set);
void show_siginfo(struct showing *showing, const siginfo_t *info);

/* ------- structs.c ------- */

/*
 * A structure, or an address if it cannot be read.  With `count`, an array:
 * "[...]".
 */
void show_struct(struct showing *showing, enum guest_struct type,
		 guest_addr addr);
void show_structs(struct showing *showing, enum guest_struct type,
		  guest_addr addr, uint64_t count);

/* ------- strings.c ------- */

/* Quoted; with dots behind it, if there is more. */
void show_bytes(struct showing *showing, guest_addr addr, uint64_t size);
void show_hex_bytes(struct showing *showing, guest_addr addr, uint64_t size);
void show_path(struct showing *showing, guest_addr addr);
void show_thread_name(struct showing *showing, guest_addr addr);
void show_strings(struct showing *showing, guest_addr addr);

/* Buffers, of which `filled` bytes count at most. */
void show_vector(struct showing *showing, guest_addr addr, uint64_t count,
		 uint64_t filled);

/* `size` bytes, quoted. */
void put_quoted(FILE *out, const uint8_t *bytes, size_t size);

#endif
