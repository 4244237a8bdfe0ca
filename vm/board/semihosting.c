/* SPDX-License-Identifier: GPL-2.0-or-later */
/* semihosting.c - see semihosting.h */
#include "vm/board/semihosting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/meta.h"
#include "vm/board/live.h"
#include "vm/board/state.h"

enum operation {
	OPEN = 1, CLOSE, WRITE_BYTE, WRITE_TEXT, WRITE, READ, READ_BYTE,
	IS_ERROR, IS_TERMINAL, SEEK, LENGTH = 12, NAME_TEMPORARY, REMOVE,
	RENAME, CLOCK, TIME, SYSTEM, ERROR, COMMAND_LINE = 21, HEAP, EXIT = 24,
	EXIT_WITH = 32, ELAPSED = 48, FREQUENCY,
};

/* The console's handles; files have those above. */
enum { INPUT = 1, OUTPUT, ERRORS, FEATURES, FILES };

#define FAILED UINT32_MAX
#define MODE_MOST 11u
#define EXIT_REGULAR 0x20026u	/* the program ended by itself */
#define CENTISECONDS 100u

/* What ":semihosting-features" has: EXIT_WITH, and its own handle for errors. */
static const uint8_t features[] = { 'S', 'H', 'F', 'B', 3 };

void semihosting_init(struct semihosting *semihosting)
{
	for (unsigned i = 0; i < SEMIHOSTING_FILES; i++)
		semihosting->files[i].file = -1;
}

void semihosting_release(struct semihosting *semihosting)
{
	for (unsigned i = 0; i < SEMIHOSTING_FILES; i++)
		if (semihosting->files[i].file >= 0)
			close(semihosting->files[i].file);
}

/* ------- arguments ------- */

/* Of the block that R1 points to. */
static uint32_t argument(const struct board *board, unsigned number)
{
	return board_word(board, (uint32_t)board_reg(board, CM_R0 + 1) +
				 4 * number);
}

/* A name of a length; false: it is none. */
static bool take_name(const struct board *board, uint32_t addr, uint32_t size,
		      char *out)
{
	const uint8_t *bytes = board_bytes(board, addr, size);

	if (!bytes || size >= SEMIHOSTING_NAME)
		return false;
	memcpy(out, bytes, size);
	out[size] = '\0';
	return true;
}

/* ------- the console ------- */

static void say(const struct semihosting *semihosting, uint32_t addr,
		uint32_t size)
{
	const uint8_t *bytes = board_bytes(semihosting->board, addr, size);

	if (bytes && size)
		semihosting->said(semihosting->context, addr, bytes, size);
}

/* As far as there is memory. */
static uint32_t text_size(const struct board *board, uint32_t addr)
{
	uint32_t size = 0;
	const uint8_t *byte;

	while ((byte = board_bytes(board, addr + size, 1)) && *byte)
		size++;
	return size;
}

size_t semihosting_room(const struct semihosting *semihosting)
{
	return SEMIHOSTING_TYPED - semihosting->typed_count;
}

void semihosting_type(struct semihosting *semihosting, const uint8_t *bytes,
		      size_t count)
{
	memcpy(semihosting->typed + semihosting->typed_count, bytes, count);
	semihosting->typed_count += count;
}

size_t semihosting_take(struct semihosting *semihosting, uint8_t *out,
			size_t most)
{
	size_t count = semihosting->typed_count;

	if (count > most)
		count = most;
	memcpy(out, semihosting->typed, count);
	semihosting->typed_count -= count;
	memmove(semihosting->typed, semihosting->typed + count,
		semihosting->typed_count);
	return count;
}

/* ------- files ------- */

static struct semihosting_file *file_of(struct semihosting *semihosting,
					uint32_t handle)
{
	return handle - FILES < SEMIHOSTING_FILES &&
	       semihosting->files[handle - FILES].is_open ?
		       &semihosting->files[handle - FILES] : NULL;
}

/* As of fopen(): r, rb, r+, r+b, w, wb, w+, w+b, a, ab, a+, a+b. */
static int flags_of(uint32_t mode)
{
	static const int kinds[] = { 0, O_CREAT | O_TRUNC, O_CREAT | O_APPEND };
	int access = mode & 2 ? O_RDWR : mode < 4 ? O_RDONLY : O_WRONLY;

	return access | kinds[mode / 4] | O_CLOEXEC;
}

/* The host's; -1, with errno: there is none. */
static int host_file(struct semihosting *semihosting, uint32_t handle)
{
	struct semihosting_file *file = file_of(semihosting, handle);

	errno = EBADF;
	if (!file)
		return -1;
	if (file->file < 0)
		file->file = open(file->name, flags_of(file->mode) & ~O_TRUNC,
				  0666);
	else
		return file->file;
	if (file->file >= 0)
		lseek(file->file, (off_t)file->at, SEEK_SET);
	return file->file;
}

static uint32_t open_file(struct semihosting *semihosting, const char *name,
			  uint32_t mode)
{
	unsigned i = 0;

	if (!strcmp(name, ":semihosting-features"))
		return FEATURES;
	if (!strcmp(name, ":tt"))
		return mode < 4 ? INPUT : mode < 8 ? OUTPUT : ERRORS;
	while (i < SEMIHOSTING_FILES && semihosting->files[i].is_open)
		i++;
	errno = EMFILE;
	if (i == SEMIHOSTING_FILES || mode > MODE_MOST)
		return FAILED;
	semihosting->files[i].file = open(name, flags_of(mode), 0666);
	return semihosting->files[i].file >= 0 ? FILES + i : FAILED;
}

static uint32_t call_open(struct semihosting *semihosting)
{
	const struct board *board = semihosting->board;
	char name[SEMIHOSTING_NAME];

	errno = EINVAL;
	return take_name(board, argument(board, 0), argument(board, 2), name) ?
		       open_file(semihosting, name, argument(board, 1)) :
		       FAILED;
}

static uint32_t call_close(struct semihosting *semihosting)
{
	uint32_t handle = argument(semihosting->board, 0);
	struct semihosting_file *file = file_of(semihosting, handle);

	errno = EBADF;
	if (!file)
		return handle && handle < FILES ? 0 : FAILED;
	if (file->file >= 0)
		close(file->file);
	file->file = -1;
	return 0;
}

/* Returns how much is not written. */
static uint32_t call_write(struct semihosting *semihosting)
{
	const struct board *board = semihosting->board;
	uint32_t handle = argument(board, 0), size = argument(board, 2);
	const uint8_t *bytes = board_bytes(board, argument(board, 1), size);
	ssize_t done;
	int file;

	if (handle == OUTPUT || handle == ERRORS) {
		say(semihosting, argument(board, 1), size);
		return bytes ? 0 : size;
	}
	file = host_file(semihosting, handle);
	if (file < 0 || !bytes)
		return size;
	done = write(file, bytes, size);
	return done < 0 ? size : size - (uint32_t)done;
}

/* Memory changes; the bytes stay. */
static void give(const struct semihosting *semihosting,
		 struct live_answer *answer, uint32_t addr,
		 const void *bytes, size_t size)
{
	if (size && board_bytes(semihosting->board, addr, size))
		answer->changes[answer->change_count++] =
			(struct live_change){ addr, bytes, size };
}

static size_t read_features(struct semihosting *semihosting, size_t most)
{
	uint32_t at = semihosting->features_at;
	size_t left = at < sizeof(features) ? sizeof(features) - at : 0;
	size_t count = most < left ? most : left;

	if (count)
		memcpy(semihosting->bytes, features + at, count);
	return count;
}

/* Returns how much was not read; all of it at the end of the file. */
static void call_read(struct semihosting *semihosting, bool closed,
		      struct live_answer *answer)
{
	const struct board *board = semihosting->board;
	uint32_t handle = argument(board, 0), size = argument(board, 2);
	size_t most = size < SEMIHOSTING_ROOM ? size : SEMIHOSTING_ROOM;
	ssize_t got = 0;

	if (handle == INPUT) {
		got = (ssize_t)semihosting_take(semihosting, semihosting->bytes,
					  most);
		answer->waits = !got && size && !closed;
	} else if (handle == FEATURES) {
		got = (ssize_t)read_features(semihosting, most);
	} else {
		got = read(host_file(semihosting, handle), semihosting->bytes,
			   most);
	}
	if (got < 0)
		got = 0;
	answer->value = size - (uint32_t)got;
	give(semihosting, answer, argument(board, 1), semihosting->bytes,
	     (size_t)got);
}

static uint32_t call_seek(struct semihosting *semihosting)
{
	uint32_t handle = argument(semihosting->board, 0);
	uint32_t to = argument(semihosting->board, 1);

	if (handle == FEATURES && to <= sizeof(features))
		return 0;
	return lseek(host_file(semihosting, handle), to, SEEK_SET) < 0 ?
		       FAILED : 0;
}

static uint32_t call_length(struct semihosting *semihosting)
{
	uint32_t handle = argument(semihosting->board, 0);
	struct stat status;

	if (handle == FEATURES)
		return sizeof(features);
	return fstat(host_file(semihosting, handle), &status) ?
		       FAILED : (uint32_t)status.st_size;
}

static uint32_t call_names(struct semihosting *semihosting, bool renames)
{
	const struct board *board = semihosting->board;
	char from[SEMIHOSTING_NAME], to[SEMIHOSTING_NAME];
	bool valid = take_name(board, argument(board, 0), argument(board, 1),
			       from);

	errno = EINVAL;
	if (!valid || (renames && !take_name(board, argument(board, 2),
					     argument(board, 3), to)))
		return FAILED;
	return renames ? (uint32_t)rename(from, to) : (uint32_t)unlink(from);
}

/* ------- the rest ------- */

static uint64_t elapsed(const struct semihosting *semihosting, unsigned units)
{
	return board_ticks(semihosting->board) /
	       (board_ticks_per_second(semihosting->board) / units);
}

static void put_word(uint8_t *out, uint32_t value)
{
	memcpy(out, &value, sizeof(value));
}

static void call_command_line(struct semihosting *semihosting,
			      struct live_answer *answer)
{
	const struct board *board = semihosting->board;
	uint32_t block = (uint32_t)board_reg(board, CM_R0 + 1);
	size_t size = strlen(semihosting->command_line);

	answer->value = FAILED;
	if (size >= argument(board, 1))
		return;
	put_word(semihosting->bytes, (uint32_t)size);
	give(semihosting, answer, argument(board, 0),
	     semihosting->command_line, size + 1);
	give(semihosting, answer, block + 4, semihosting->bytes, 4);
	answer->value = 0;
}

/* Where heap and stack are: a block of four words. */
static void call_heap(struct semihosting *semihosting,
		      struct live_answer *answer)
{
	put_word(semihosting->bytes, (uint32_t)semihosting->heap);
	put_word(semihosting->bytes + 4, (uint32_t)semihosting->heap_end);
	put_word(semihosting->bytes + 8, (uint32_t)semihosting->stack);
	put_word(semihosting->bytes + 12, (uint32_t)semihosting->stack_end);
	give(semihosting, answer, argument(semihosting->board, 0),
	     semihosting->bytes, 16);
}

static void call_elapsed(struct semihosting *semihosting,
			 struct live_answer *answer)
{
	uint64_t ticks = board_ticks(semihosting->board);

	memcpy(semihosting->bytes, &ticks, sizeof(ticks));
	give(semihosting, answer,
	     (uint32_t)board_reg(semihosting->board, CM_R0 + 1),
	     semihosting->bytes, sizeof(ticks));
}

static void call_exit(uint32_t reason, uint32_t status,
		      struct live_answer *answer)
{
	answer->ends = true;
	answer->end = MACHINE_EXITED +
		      (reason == EXIT_REGULAR ? status & 0xff : 1);
}

static void call_byte(struct semihosting *semihosting, bool closed,
		      struct live_answer *answer)
{
	uint8_t byte = 0;

	answer->waits = !semihosting_take(semihosting, &byte, 1) && !closed;
	answer->value = byte;
}

static bool is_file_call(struct semihosting *semihosting, uint64_t operation,
			 struct live_answer *answer)
{
	uint32_t handle = argument(semihosting->board, 0);

	switch (operation) {
	case OPEN:
		answer->value = call_open(semihosting);
		return true;
	case CLOSE:
		answer->value = call_close(semihosting);
		return true;
	case WRITE:
		answer->value = call_write(semihosting);
		return true;
	case SEEK:
		answer->value = call_seek(semihosting);
		return true;
	case LENGTH:
		answer->value = call_length(semihosting);
		return true;
	case REMOVE:
	case RENAME:
		answer->value = call_names(semihosting, operation == RENAME);
		return true;
	case IS_TERMINAL:
		answer->value = handle && handle < FEATURES;
		return true;
	default:
		return false;
	}
}

static void call_other(struct semihosting *semihosting, uint64_t operation,
		       bool closed, struct live_answer *answer)
{
	const struct board *board = semihosting->board;
	uint32_t first = (uint32_t)board_reg(board, CM_R0 + 1);

	switch (operation) {
	case READ:
		call_read(semihosting, closed, answer);
		break;
	case READ_BYTE:
		call_byte(semihosting, closed, answer);
		break;
	case IS_ERROR:
		answer->value = argument(board, 0) >> 31;
		break;
	case CLOCK:
		answer->value = elapsed(semihosting, CENTISECONDS);
		break;
	case TIME:
		answer->value = semihosting->clock + elapsed(semihosting, 1);
		break;
	case ERROR:
		answer->value = semihosting->error;
		break;
	case COMMAND_LINE:
		call_command_line(semihosting, answer);
		break;
	case HEAP:
		call_heap(semihosting, answer);
		break;
	case EXIT:
		call_exit(first, 0, answer);
		break;
	case EXIT_WITH:
		call_exit(argument(board, 0), argument(board, 1), answer);
		break;
	case ELAPSED:
		call_elapsed(semihosting, answer);
		break;
	case FREQUENCY:
		answer->value = board_ticks_per_second(board);
		break;
	case WRITE_BYTE:
		say(semihosting, first, 1);
		break;
	case WRITE_TEXT:
		say(semihosting, first, text_size(board, first));
		break;
	default:
		answer->value = FAILED;
	}
}

void semihosting_call(struct semihosting *semihosting, bool closed,
		      struct live_answer *answer)
{
	uint64_t operation = board_reg(semihosting->board, CM_R0);

	/* A call without a result leaves R0. */
	answer->value = operation == WRITE_BYTE || operation == WRITE_TEXT ?
				operation : 0;
	errno = 0;
	if (!is_file_call(semihosting, operation, answer))
		call_other(semihosting, operation, closed, answer);
	answer->value &= UINT32_MAX;
	answer->fails = operation != ERROR && answer->value == FAILED;
	answer->error = (uint32_t)errno;
	if (answer->fails)
		semihosting->error = (uint32_t)errno;
	if (!answer->waits)
		semihosting_follow(semihosting, (uint32_t)answer->value);
}

/* ------- what that makes of files ------- */

static void is_opened(struct semihosting *semihosting, uint32_t handle)
{
	const struct board *board = semihosting->board;
	struct semihosting_file *file;

	if (handle == FEATURES)
		semihosting->features_at = 0;
	if (handle - FILES >= SEMIHOSTING_FILES)
		return;
	file = &semihosting->files[handle - FILES];
	file->mode = argument(board, 1);
	file->is_open = file->mode <= MODE_MOST &&
			take_name(board, argument(board, 0),
				  argument(board, 2), file->name);
	file->at = 0;
}

/* To a place, or by what was read or written. */
static void is_moved(struct semihosting *semihosting, bool seeks,
		     uint32_t number)
{
	uint32_t handle = argument(semihosting->board, 0);
	struct semihosting_file *file = file_of(semihosting, handle);

	if (handle == FEATURES)
		semihosting->features_at = number +
				(seeks ? 0 : semihosting->features_at);
	else if (file)
		file->at = number + (seeks ? 0 : file->at);
}

void semihosting_follow(struct semihosting *semihosting, uint32_t result)
{
	const struct board *board = semihosting->board;
	struct semihosting_file *file =
		file_of(semihosting, argument(board, 0));

	switch (board_reg(board, CM_R0)) {
	case OPEN:
		is_opened(semihosting, result);
		break;
	case CLOSE:
		if (file)
			file->is_open = false;
		break;
	case READ:
	case WRITE:
		is_moved(semihosting, false, argument(board, 2) - result);
		break;
	case SEEK:
		if (!result)
			is_moved(semihosting, true, argument(board, 1));
		break;
	case ERROR:
		semihosting->error = result;
		break;
	}
}

/* What is not there is no part. */
static void text_state(struct state *state, const char *name, char *text,
		       size_t room)
{
	struct state_part part = {
		.name = name, .first = text, .size = 1, .stride = 1,
		.count = state->out ? strlen(text) : room - 1,
		.most = UINT8_MAX,
	};

	if (part.count)
		state_part(state, &part);
}

static void file_state(struct semihosting_file *file, unsigned number,
		       struct state *state)
{
	if (state->out && !file->is_open)
		return;
	state_device(state, "file", number);
	STATE_NUMBER(state, file->is_open, 1);
	STATE_NUMBER(state, file->mode, MODE_MOST);
	STATE_NUMBER(state, file->at, INT64_MAX);
	text_state(state, "name", file->name, sizeof(file->name));
}

void semihosting_state(struct semihosting *semihosting, struct state *state)
{
	for (unsigned i = 0; i < SEMIHOSTING_FILES; i++)
		file_state(&semihosting->files[i], i, state);
	state_device(state, "semihosting", 0);
	STATE_NUMBER(state, semihosting->error, UINT32_MAX);
	STATE_NUMBER(state, semihosting->features_at, sizeof(features));
	text_state(state, "command_line", semihosting->command_line,
		   sizeof(semihosting->command_line));
}
