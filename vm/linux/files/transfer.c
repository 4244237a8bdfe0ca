/* SPDX-License-Identifier: GPL-2.0-or-later */
/* transfer.c - read(2), write(2) and their kin, straight to guest memory */
#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/files/files_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/* One way to move bytes: with a single buffer, and with many. */
struct transfer {
	long single, vector;
	enum memory_use use;
	uint64_t fd;
	uint64_t rest[3];	/* arguments after buffer and length */
	bool has_offset;	/* the first of them */
};

/* `failed` is why the spans are none, or 0. */
static int64_t perform(struct linux_process *process,
		       const struct transfer *transfer, int failed, bool waits)
{
	const struct spans *spans = &process->thread->spans;
	const struct iovec bad = { (void *)(uintptr_t)BAD_POINTER, 1 };
	const struct iovec *iov = failed ? &bad : spans->host;
	uint64_t count = failed ? 1 : (uint64_t)spans->count;

	bool single = transfer->single && count <= 1;
	const uint64_t arg[6] = {
		transfer->fd,
		!single ? host_pointer(iov) :
		count	? host_pointer(iov->iov_base) :
			  BAD_POINTER,
		!single ? count : count ? iov->iov_len : 0,
		transfer->rest[0], transfer->rest[1], transfer->rest[2],
	};
	long number = single ? transfer->single : transfer->vector;

	return waits ? host_wait_array(process, number, arg) :
		       host_call_array(process, number, arg);
}

static bool changes_file(const struct transfer *transfer)
{
	struct stat file;

	return transfer->use == MEMORY_IN &&
	       !fstat((int)transfer->fd, &file) && S_ISREG(file.st_mode);
}

/* Others may have mapped the file. */
static int64_t perform_alone(struct linux_process *process,
			     const struct transfer *transfer, int failed)
{
	int64_t result;

	memory_enter_files(process->memory);
	result = perform(process, transfer, failed, false);
	memory_doubt_shared(process->memory);
	return result;
}

/* A write beyond the limit of a file's size is shortened, or -EFBIG. */
static int64_t heed_limit(struct linux_process *process,
			  const struct transfer *transfer, int failed)
{
	struct spans *spans = &process->thread->spans;
	int64_t offset = transfer->has_offset ? (int64_t)transfer->rest[0] :
						-1;
	bool appends = transfer->vector == SYS_pwritev2 &&
		       transfer->rest[2] & RWF_APPEND;
	uint64_t size = spans_size(spans);
	uint64_t room;

	if (transfer->has_offset && offset < 0)
		return 0;	/* the host says what is wrong */
	room = limits_file_room(process, (int)transfer->fd, offset, appends);
	if (room && room >= size)
		return 0;
	if (!room && (size || failed))
		return limits_file_exceeded();
	spans_cut(spans, room);
	return 0;
}

/* Other threads run while this one waits; or the recording is written out. */
static bool is_to_wait(struct linux_process *process,
		       const struct transfer *transfer)
{
	int fd = (int)transfer->fd;

	if (process->thread_count > 1)
		return !spans_ready(process, fd, transfer->use);
	return transfer->use == MEMORY_OUT && !transfer->has_offset &&
	       read_waits(process, fd);
}

static int64_t finish(struct linux_process *process,
		      const struct transfer *transfer, int failed)
{
	bool waits = is_to_wait(process, transfer);
	bool detached = (waits && process->thread_count > 1) ||
			spans_others_see(process, transfer->use);
	int64_t result;

	if (transfer->use == MEMORY_IN &&
	    limit_of(process, LIMIT_FILE) != UNLIMITED) {
		result = heed_limit(process, transfer, failed);
		if (result)
			return result;
	}
	if (detached) {
		result = spans_detach(process, transfer->use);
		if (result)
			return result;
	}
	result = changes_file(transfer) ?
			 perform_alone(process, transfer, failed) :
			 perform(process, transfer, failed, waits);
	if (detached)
		spans_attach(process, transfer->use,
			     result > 0 ? (uint64_t)result : 0);
	if (result <= 0)
		return result;
	if (transfer->use == MEMORY_OUT) {
		spans_wrote(process, (uint64_t)result);
		return result;
	}
	spans_output(process, (int)transfer->fd, (uint64_t)result);
	mapped_files_wrote(process, (int)transfer->fd,
			   transfer->has_offset ? (int64_t)transfer->rest[0] :
						  -1,
			   (uint64_t)result);
	return result;
}

static struct made_transfer of_made(const struct transfer *transfer)
{
	return (struct made_transfer){
		.fd = (int)transfer->fd,
		.use = transfer->use,
		.has_offset = transfer->has_offset,
		.offset = (int64_t)transfer->rest[0],
	};
}

static int64_t one_buffer(struct linux_process *process,
			  const struct transfer *transfer, guest_addr addr,
			  uint64_t size)
{
	if (size > 0x7ffff000)
		size = 0x7ffff000;	/* as the kernel: MAX_RW_COUNT */
	if (descriptor_of(process, (int)transfer->fd)->file) {
		const struct made_transfer made = of_made(transfer);
		int64_t result = made_transfer(process, &made, addr, size);

		if (result != -ENOSYS)
			return result;
	}
	process->thread->spans.count = 0;
	return finish(process, transfer,
		      add_spans(process, addr, size, transfer->use));
}

static int64_t many_buffers(struct linux_process *process,
			    const struct transfer *transfer, guest_addr vector,
			    uint64_t count)
{
	int rc;

	if (descriptor_of(process, (int)transfer->fd)->file) {
		const struct made_transfer made = of_made(transfer);
		int64_t result = made_transfer_vector(process, &made, vector,
						      count);

		if (result != -ENOSYS)
			return result;
	}
	process->thread->spans.count = 0;
	rc = add_vector(process, vector, count, transfer->use);
	if (rc == -EINVAL)
		return rc;
	return finish(process, transfer, rc);
}

int64_t sys_read(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	const struct transfer transfer = { SYS_read, SYS_readv, MEMORY_OUT,
					   arg[0], { 0 } };

	(void)row;
	return one_buffer(process, &transfer, arg[1], arg[2]);
}

int64_t sys_write(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	const struct transfer transfer = { SYS_write, SYS_writev, MEMORY_IN,
					   arg[0], { 0 } };

	(void)row;
	return one_buffer(process, &transfer, arg[1], arg[2]);
}

int64_t sys_pread64(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	const struct transfer transfer = { SYS_pread64, SYS_preadv, MEMORY_OUT,
					   arg[0], { arg[3] }, true };

	(void)row;
	return one_buffer(process, &transfer, arg[1], arg[2]);
}

int64_t sys_pwrite64(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	const struct transfer transfer = { SYS_pwrite64, SYS_pwritev,
					   MEMORY_IN, arg[0], { arg[3] },
					   true };

	(void)row;
	return one_buffer(process, &transfer, arg[1], arg[2]);
}

int64_t sys_readv(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	const struct transfer transfer = { 0, SYS_readv, MEMORY_OUT, arg[0],
					   { 0 } };

	(void)row;
	return many_buffers(process, &transfer, arg[1], arg[2]);
}

int64_t sys_writev(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	const struct transfer transfer = { 0, SYS_writev, MEMORY_IN, arg[0],
					   { 0 } };

	(void)row;
	return many_buffers(process, &transfer, arg[1], arg[2]);
}

int64_t sys_preadv(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	const struct transfer transfer = { 0, SYS_preadv, MEMORY_OUT, arg[0],
					   { arg[3], arg[4] }, true };

	(void)row;
	return many_buffers(process, &transfer, arg[1], arg[2]);
}

int64_t sys_pwritev(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	const struct transfer transfer = { 0, SYS_pwritev, MEMORY_IN, arg[0],
					   { arg[3], arg[4] }, true };

	(void)row;
	return many_buffers(process, &transfer, arg[1], arg[2]);
}

/* The offset that stands for the descriptor's own. */
#define CURRENT UINT64_MAX

int64_t sys_preadv2(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	const struct transfer transfer = { 0, SYS_preadv2, MEMORY_OUT, arg[0],
					   { arg[3], arg[4], arg[5] },
					   arg[3] != CURRENT };

	(void)row;
	return many_buffers(process, &transfer, arg[1], arg[2]);
}

int64_t sys_pwritev2(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	const struct transfer transfer = { 0, SYS_pwritev2, MEMORY_IN, arg[0],
					   { arg[3], arg[4], arg[5] },
					   arg[3] != CURRENT };

	(void)row;
	return many_buffers(process, &transfer, arg[1], arg[2]);
}
