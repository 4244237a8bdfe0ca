/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.h - a live machine, of any kind: its devices, and what it starts with
 *
 * What a recorder needs besides the board.  A kind is a row of the table in
 * live.c; a replay never needs one.
 *
 * Units:      as in board.h.
 * Ownership:  `destroy` ends it, and not the board.
 * Errors:     ERR_INPUT (a file is no good), ERR_NO_MEMORY.
 */
#ifndef CPREC_VM_BOARD_LIVE_H
#define CPREC_VM_BOARD_LIVE_H

#include "formats/meta.h"
#include "vm/board/mps2.h"
#include "vm/board/virt.h"

struct output;
struct state;

struct live_options {
	const struct live_kind *kind;
	struct virt_options virt;	/* but what devices call */
	struct mps2_options mps2;

	/* As of struct virt_options. */
	void (*out)(void *context, uint8_t byte);
	void (*said)(void *context, uint64_t addr, const uint8_t *bytes,
		     size_t size);
	void (*stored)(void *context, uint64_t addr, size_t size);
	void (*warn)(void *context, const char *text);
	void *context;
};

/* Memory that a call has changed. */
struct live_change {
	uint64_t addr;
	const uint8_t *bytes;
	size_t size;
};

#define LIVE_CHANGES_MOST 2u

/* What comes of a call of what is around the machine. */
struct live_answer {
	bool waits;		/* for input: ask again when there is some */
	bool ends;
	unsigned end;		/* how: enum machine_end */
	uint64_t value;		/* what the call returns */
	bool fails;
	uint64_t error;		/* then: why, for who asks later */
	struct live_change changes[LIVE_CHANGES_MOST];
	unsigned change_count;
};

struct live_kind {
	const char *name;
	enum arch arch;

	/* The processor's; and the file that the machine executes first. */
	const char *(*model)(const struct live_options *options);
	const char *(*image)(const struct live_options *options);

	int (*create)(void **out, const struct live_options *options,
		      struct failure *why);
	void (*destroy)(void *live);

	/* How many pieces of RAM there are. */
	unsigned (*rams)(const void *live, struct board_ram *out);

	/* Puts everything into the board's memory, which `stored` is told of,
	 * and the processor, which was reset, to its start. */
	int (*start)(void *live, struct board *board, struct failure *why);

	/* Devices are as before that; what they are connected with stays. */
	void (*reset)(void *live);

	/* RAM and devices, sorted by address.  Names say what is there. */
	const struct region *(*regions)(const void *live, size_t *count);

	uint64_t (*read)(void *live, uint64_t addr, unsigned size);
	void (*write)(void *live, uint64_t addr, unsigned size, uint64_t value);

	/* How many cores there are; NULL: one, which is on.  The rest is as
	 * virt_is_on() and virt_begins(). */
	unsigned (*cores)(const void *live);
	bool (*is_on)(const void *live, unsigned core);
	bool (*begins)(void *live, unsigned core, uint64_t *entry,
		       uint64_t *context);

	/* Whether the processor is to be interrupted; it was; a core is to go
	 * on behind a WFI; the tick at which that changes by itself. */
	bool (*interrupts)(void *live, unsigned *number);
	void (*taken)(void *live, unsigned number);	/* or NULL */
	bool (*wakes)(void *live, unsigned core);
	uint64_t (*next)(void *live);

	/* The machine has ended itself, and how; NULL: none does so. */
	bool (*ends)(void *live, unsigned *end);

	/* Devices use memory, while the board does not run: NULL: they never
	 * do. */
	void (*work)(void *live);

	/* Behind BOARD_CALLS.  `closed`: there will be no more input. */
	void (*called)(void *live, bool closed, struct live_answer *answer);

	/* What is typed: how much there is room for. */
	size_t (*room)(const void *live);
	void (*type)(void *live, const uint8_t *bytes, size_t count);

	/* As virt_sockets() and virt_found(); NULL: there is no network. */
	size_t (*sockets)(void *live, struct pollfd *out, size_t room,
			  uint64_t *wait);
	void (*found)(void *live, const struct pollfd *found, size_t count);

	/* As virt_connect() and virt_follow_...(); the processor took an
	 * interrupt. */
	void (*connect)(void *live, struct board *board);
	void (*follow_read)(void *live, uint64_t addr, uint64_t value);
	void (*follow_write)(void *live, uint64_t addr, unsigned size,
			     uint64_t value);
	void (*follow_interrupt)(void *live, unsigned number);	/* or NULL */
	void (*follow_stores)(void *live, bool begins);
	/* `error`: why it failed; NULL: it has not, or nobody knows. */
	void (*follow_call)(void *live, uint64_t result, const uint64_t *error);

	/* As virt_state() and so on, for key frames. */
	void (*state)(void *live, struct state *state);

	/* NULL: there are none. */
	unsigned (*disks)(const void *live);
	bool (*next_written)(void *live, unsigned disk, uint64_t *block,
			  uint8_t bytes[GUEST_PAGE]);
	void (*follow_block)(void *live, unsigned disk, uint64_t block,
			     const uint8_t bytes[GUEST_PAGE]);
};

extern const struct live_kind live_virt, live_mps2_an385, live_mps2_an386,
	live_mps2_an500;

unsigned live_cores(const struct live_kind *kind, const void *live);
bool live_is_on(const struct live_kind *kind, const void *live, unsigned core);
unsigned live_disks(const struct live_kind *kind, const void *live);

/* The state of its devices as bytes; false: bytes make no sense. */
void live_save(const struct live_kind *kind, void *live, struct output *out);
bool live_load(const struct live_kind *kind, void *live, const uint8_t *bytes,
	       size_t size);

/* By its name, or its processor; NULL: there is none. */
const struct live_kind *live_find(const char *name);
const struct live_kind *live_of(enum arch arch, const char *model);

#endif
