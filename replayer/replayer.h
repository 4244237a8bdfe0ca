/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replayer.h - executes a recording again
 *
 * A replayer stands at a position and can go to any other: forwards by running,
 * elsewhere by starting at a key frame, or at a state that it has kept, before.
 * Nothing of the guest's operating system is performed; what it did is in the
 * recording.
 *
 * Units:      times are retired instructions of the recording.
 * Ownership:  the recording is borrowed and must outlive the replayer.
 * Errors:     ERR_DIVERGED (`why` says where and what), those of recording.h
 *             and vm.h.
 * Threads:    one thread uses a replayer; others may use others, each with a
 *             recording opened for it.
 */
#ifndef CPREC_REPLAYER_REPLAYER_H
#define CPREC_REPLAYER_REPLAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/registers.h"
#include "replayer/observer.h"
#include "replayer/recording/recording.h"
#include "replayer/run.h"

struct failure;
struct replayer;
struct vm;

/*
 * Before the first is made: this process leaves faults of the host to guests,
 * and the addresses that programs have.  One of them at a time needs these, and
 * is then replayed faster.
 */
void replayer_take_faults(void);

int replayer_create(struct replayer **out, struct recording *recording,
		    struct failure *why);
void replayer_destroy(struct replayer *replayer);

/*
 * Goes to a position, at most the recording's end.  Where there are fewer
 * events, it is the one behind them all.
 */
int replayer_seek(struct replayer *replayer, const struct position *to,
		  struct failure *why);

/*
 * Goes to the first key frame of a segment by way of the segment before; with
 * the number of segments, to the end of the recording, behind all events.
 */
int replayer_seek_frame(struct replayer *replayer, size_t segment,
			struct failure *why);

/*
 * Goes to time `t` and through the events at it that are in this segment,
 * whose end may be `t`: then it does not go on to the key frame that is there.
 */
int replayer_seek_in(struct replayer *replayer, size_t segment, uint64_t t,
		     struct failure *why);

/*
 * From now on it never jumps forwards: every instruction on the way is
 * executed, as verifying demands; or it does again.
 */
void replayer_in_order(struct replayer *replayer, bool in_order);

/* Keeps the present state, too, to start again from it; see below. */
int replayer_keep_point(struct replayer *replayer, struct failure *why);

/*
 * A replayer that goes back keeps states on the way, from which it can start
 * again, besides the key frames of the recording.  `most` is how many bytes
 * they may take, `gap` how many steps are between two of them at least.
 */
void replayer_keep_points(struct replayer *replayer, uint64_t most,
			  uint64_t gap);

/* Whether it does so; else it only uses those that there are.  It does at first. */
void replayer_lay_points(struct replayer *replayer, bool lays);

/* When the start point is from which a replay of a position would start anew. */
int replayer_start_time(const struct replayer *replayer,
			const struct position *position, uint64_t *out,
			struct failure *why);

/*
 * From now on it keeps one also shortly before wherever it goes: whoever steps
 * back from there does not wait for all that is before it.
 */
void replayer_expect_back(struct replayer *replayer);

/*
 * The side file, which outlives the replayer, has start points, too.  NULL: it
 * has not.
 */
struct side_file;
void replayer_use_side_file(struct replayer *replayer, struct side_file *side);

/*
 * Keeps the present state in the side file; `*kept` is false if that is not
 * possible here.
 */
int replayer_store_point(struct replayer *replayer, bool *kept,
			 struct failure *why);

/*
 * Executes one thread from its first instruction to where it stands at a
 * position, without the streams of the others, and compares its registers with
 * each of its key frames.  `*steps` is how many it had.  `progress`, which may
 * be NULL, is told from time to time how far the run is.  The replayer stands
 * nowhere afterwards.  ERR_NOT_FOUND if the thread begins later.
 */
typedef void replayer_progress(void *context, uint64_t t);

struct alone_run {
	uint32_t stream;
	struct position to;	/* at most the recording's end */
	replayer_progress *progress;
	void *context;		/* of `progress` */
};

int replayer_run_alone(struct replayer *replayer, const struct alone_run *run,
		       uint64_t *steps, struct failure *why);

/* The time it stands at. */
uint64_t replayer_time(const struct replayer *replayer);

/* The position that it was last asked to go to, or where a run stopped. */
struct position replayer_position(const struct replayer *replayer);

/* The stream of the thread whose turn it is. */
uint32_t replayer_stream(const struct replayer *replayer);

/*
 * Whether that thread's system call has retired, and comes back in a later
 * turn; `*size` is that of the instruction.
 */
bool replayer_in_call(const struct replayer *replayer, unsigned *size);

/*
 * Why the instruction of the last FAULT that it executed could not retire.
 * False if it has executed none.
 */
bool replayer_last_fault(const struct replayer *replayer, struct vm_stop *out);

/* Whether the thread whose turn it is has ended: another one's comes next. */
bool replayer_has_ended(const struct replayer *replayer);

/* A register of the thread whose turn it is, of at most 8 bytes. */
uint64_t replayer_reg(struct replayer *replayer, unsigned reg);

/* All of them, also where it ended. */
void replayer_registers(struct replayer *replayer, struct reg_file *out);

/*
 * Registers of any thread at the present time.  ERR_NOT_FOUND if it has not
 * begun, or has ended.  All that were there when the process ended can be
 * looked at behind that, too.
 */
int replayer_thread_registers(struct replayer *replayer, uint32_t stream,
			      struct reg_file *out, struct failure *why);

/*
 * Memory at the present time.  `known[i]` is set to 1 for each byte that is
 * known, else to 0.
 */
int replayer_read(struct replayer *replayer, uint64_t addr, uint8_t *bytes,
		  uint8_t *known, size_t size, struct failure *why);

/* Whether it stands at a position, and can be asked there at once. */
bool replayer_is_at(const struct replayer *replayer,
		    const struct position *position);

/* The same, quickly: false if some of it is not in the guest's memory. */
bool replayer_peek(struct replayer *replayer, uint64_t addr, uint8_t *bytes,
		   size_t size);

/*
 * The address by which an access to `addr` is told: that of a common page, or
 * `addr`; of a machine, the physical one.  And an address that the guest has
 * for it.
 */
guest_addr replayer_home(struct replayer *replayer, guest_addr addr);
guest_addr replayer_address(struct replayer *replayer, guest_addr home);

/* Nothing is there. */
#define HOME_NONE UINT64_MAX

/* Which addresses of a machine are meant, by whoever reads. */
struct address_space {
	bool is_physical;
	bool has_table;		/* virtual ones of a process, whose first page
				   table for the lower half is at ... */
	uint64_t table;		/* ... this physical address; else of the
				   present one */
	bool has_core;		/* the present ones are not those of the core
				   that has its turn, but of ... */
	uint32_t core;		/* ... this stream */
};

/* From now on; at first, virtual ones as they are at the time. */
void replayer_use_space(struct replayer *replayer,
			const struct address_space *space);

const struct address_space *replayer_space(const struct replayer *replayer);

/* Tells which process of a machine is that of a core; false: no machine. */
struct machine_view {
	bool is_program;	/* the core is not in the kernel */
	uint64_t program_sp, kernel_sp;	/* registers, whatever their use */
	uint64_t low, high;	/* page tables of both halves */
	uint64_t left_at;	/* the time when a program last gave way to the
				   kernel; one that was not executed on the way
				   does not count */
};
bool replayer_machine(const struct replayer *replayer, uint32_t stream,
		      struct machine_view *out);

/*
 * The same for what it executes from now on, or stands at: programs with this
 * number of an address space, and their first table (board.h).
 */
#define REPLAYER_NO_SPACE UINT32_MAX
void replayer_look_for_space(struct replayer *replayer, uint32_t number);
bool replayer_found_space(const struct replayer *replayer, uint64_t *table);

/*
 * Of a machine: from now on, breakpoints are met only where `is_meant` says so,
 * which is asked at each, and may ask the replayer; NULL, at first: everywhere.
 */
void replayer_meet_only(struct replayer *replayer,
			bool (*is_meant)(void *context), void *context);

/* The instruction whose first bytes these are, at `pc`. */
void replayer_instruction(struct replayer *replayer, guest_addr pc,
			  const uint8_t *code, size_t size,
			  enum vm_syntax syntax, struct vm_instruction *out);

/*
 * The guest, of a program; NULL: it is a machine.  Do not run or change it.
 */
struct vm *replayer_vm(struct replayer *replayer);

/*
 * Asked by replayer_read() for bytes of a file's page that is read-only and
 * unused up to the end of the segment: fills in what it knows.
 * NULL, at first: nothing is known.
 */
struct replay_unused {
	int (*read)(void *context, const struct region *region, uint64_t addr,
		    uint8_t *bytes, uint8_t *known, size_t size,
		    struct failure *why);
	void *context;
};

void replayer_use_unused(struct replayer *replayer,
			 const struct replay_unused *unused);

/*
 * The guest may be run and changed from now on.  `contents` is asked for pages
 * that the program did not see before the end of the segment; what it fails
 * with, replayer_diverted() returns, once.  After all that, the guest is
 * as it was nowhere in the recording, and the replayer stands nowhere.
 */
struct replay_diversion {
	int (*contents)(void *context, uint64_t page, uint8_t *bytes,
			struct failure *why);
	void *context;
};

void replayer_divert(struct replayer *replayer,
		     const struct replay_diversion *diversion);
int replayer_diverted(struct replayer *replayer, struct failure *why);
void replayer_rejoin(struct replayer *replayer);

/* What a check found to differ. */
struct difference {
	bool is_register;
	unsigned reg;		/* is_register */
	uint32_t stream;	/* is_register: of which thread */
	uint64_t addr;		/* else: of 8 bytes */
	uint64_t expected, found;	/* of a wide register: 8 bytes of it,
					   from `part` on */
	unsigned part;
};

/* The first so many: enough to find the instruction that was first. */
#define DIFFERENCES_MOST 256

struct differences {
	struct difference list[DIFFERENCES_MOST];
	size_t count;
};

/*
 * Compares the present state with what the recording says of it, at the time
 * of the key frame of `segment`.  ERR_DIVERGED if it is another one; then
 * `*out` says where.
 */
int replayer_check(struct replayer *replayer, size_t segment,
		   struct differences *out, struct failure *why);

/*
 * Describes what replayer_check() found at the key frame of `segment`:
 * replays the segment before it instruction by instruction.  Of all places
 * that are wrong, it names the one that got its last value first, and the
 * instruction that left it there.  Always returns an error, mostly
 * ERR_DIVERGED.
 */
int replayer_explain(struct replayer *replayer, size_t segment,
		     const struct differences *found, struct failure *why);

#endif
