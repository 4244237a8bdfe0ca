/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_writer.c - writes trace files; see trace_file.h */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/error.h"
#include "formats/trace_layout.h"
#include "formats/trace_lock.h"

/*
 * Content that may be waiting for the thread before the caller waits too:
 * memory, against bursts that the thread cannot follow.  A choice.
 */
#define WAITING_MAX (64u << 20)

/* Descriptors of ours are moved here, out of the way of a guest's. */
#define DESCRIPTOR_MIN 500

/* A chunk that waits to be written. */
struct job {
	struct job *next;
	struct chunk_info info;
	struct output content;
	void *note;
};

static void free_job(struct job *job)
{
	output_release(&job->content);
	free(job->note);
	free(job);
}

enum ending {
	GOES_ON,
	ENDS,			/* once nothing waits */
	ENDS_WITH_FOOTER,
};

struct trace_writer {
	/* Of the caller. */
	char *path;
	pthread_t thread;
	bool is_running;
	bool is_named;		/* the thread has its name */
	void (*written)(void *context, const struct chunk_info *info,
			const void *note);
	void *context;

	/* Shared, under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t added;	/* a job, or the wish to end */
	pthread_cond_t taken;	/* a job is no longer waiting */
	struct job *first;
	struct job **last;
	size_t waiting;		/* bytes of content */
	enum ending ending;
	int error;
	struct failure why;
	uint64_t kind_bytes[CHUNK_KINDS];

	/* Of the thread, while it runs. */
	int fd;
	uint64_t offset;	/* of what comes next */
	ZSTD_CCtx *compressor;
	int level;
	uint64_t first_bytes;	/* that are still to come at another level */
	uint8_t *stored;	/* a chunk as it goes to the file */
	size_t stored_capacity;
	struct output table;	/* of the footer */
	uint64_t table_count;
};

/* ------- the thread's side ------- */

static int write_all(struct trace_writer *writer, const uint8_t *bytes,
		     size_t size, struct failure *why)
{
	while (size) {
		ssize_t done = write(writer->fd, bytes, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return failed(why, ERR_SYSTEM, "cannot write '%s': %s",
				      writer->path,
				      strerror(done ? errno : ENOSPC));
		bytes += done;
		size -= (size_t)done;
		writer->offset += (uint64_t)done;
	}
	return 0;
}

static int reserve_stored(struct trace_writer *writer, size_t size,
			  struct failure *why)
{
	size_t need = CHUNK_HEADER_SIZE + ZSTD_compressBound(size);
	uint8_t *stored;

	if (need <= writer->stored_capacity)
		return 0;
	stored = realloc(writer->stored, need);
	if (!stored)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	writer->stored = stored;
	writer->stored_capacity = need;
	return 0;
}

static void set_level(struct trace_writer *writer, int level)
{
	ZSTD_CCtx_setParameter(writer->compressor, ZSTD_c_compressionLevel,
			       level);
}

/* Puts content, smaller if it can be, behind where its header will be. */
static uint32_t store(struct trace_writer *writer, const uint8_t *content,
		      size_t size)
{
	uint8_t *to = writer->stored + CHUNK_HEADER_SIZE;
	size_t room = writer->stored_capacity - CHUNK_HEADER_SIZE;
	size_t stored = 0;

	if (writer->first_bytes && size >= writer->first_bytes)
		set_level(writer, writer->level);
	writer->first_bytes -= size < writer->first_bytes ? size :
							    writer->first_bytes;
	if (size)
		stored = ZSTD_compress2(writer->compressor, to, room, content,
					size);
	if (ZSTD_isError(stored) || stored >= size) {
		stored = size;
		if (size)
			memcpy(to, content, size);
	}
	return (uint32_t)stored;
}

/* Writes one chunk; sets what `info` did not know yet. */
static int write_chunk(struct trace_writer *writer, struct chunk_info *info,
		       const struct output *content, struct failure *why)
{
	uint64_t checksum;
	int rc = reserve_stored(writer, content->size, why);

	if (rc)
		return rc;
	info->offset = writer->offset;
	info->size = (uint32_t)content->size;
	info->stored_size = store(writer, content->bytes, content->size);
	checksum = trace_checksum(writer->stored + CHUNK_HEADER_SIZE,
				  info->stored_size);
	chunk_header_encode(writer->stored, info, checksum);
	return write_all(writer, writer->stored,
			 CHUNK_HEADER_SIZE + info->stored_size, why);
}

static int write_listed_chunk(struct trace_writer *writer, struct job *job,
			      struct failure *why)
{
	int rc = write_chunk(writer, &job->info, &job->content, why);

	if (rc)
		return rc;
	footer_line_encode(&writer->table, &job->info);
	writer->table_count++;
	if (job->note)
		writer->written(writer->context, &job->info, job->note);
	return 0;
}

/* The footer is a chunk; the trailer behind it says where it is. */
static int write_footer(struct trace_writer *writer, struct failure *why)
{
	struct chunk_info info = { .kind = CHUNK_FOOTER };
	uint8_t trailer[TRACE_TRAILER_SIZE];
	struct output content = { 0 };
	int rc;

	output_varint(&content, writer->table_count);
	output_bytes(&content, writer->table.bytes, writer->table.size);
	if (writer->table.error || content.error)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	else if (content.size > TRACE_CHUNK_MAX)
		rc = failed(why, ERR_SYSTEM,
			    "cannot end '%s': it has too many chunks",
			    writer->path);
	else
		rc = write_chunk(writer, &info, &content, why);
	output_release(&content);
	if (rc)
		return rc;
	writer->kind_bytes[CHUNK_FOOTER] =
		CHUNK_HEADER_SIZE + info.stored_size + sizeof(trailer);
	trace_trailer_encode(trailer, info.offset);
	return write_all(writer, trailer, sizeof(trailer), why);
}

/* Waits for a job; NULL when there will be none. */
static struct job *take_job(struct trace_writer *writer)
{
	struct job *job;

	while (!writer->first && writer->ending == GOES_ON)
		pthread_cond_wait(&writer->added, &writer->lock);
	job = writer->first;
	if (!job)
		return NULL;
	writer->first = job->next;
	if (!writer->first)
		writer->last = &writer->first;
	return job;
}

static void note_error(struct trace_writer *writer, int rc,
		       const struct failure *why)
{
	if (!rc || writer->error)
		return;
	writer->error = rc;
	writer->why = *why;
}

/* Does one job without holding the lock; after an error it only drops it. */
static void do_job(struct trace_writer *writer, struct job *job)
{
	struct failure why;
	int rc = 0;

	if (!writer->error) {
		pthread_mutex_unlock(&writer->lock);
		rc = write_listed_chunk(writer, job, &why);
		pthread_mutex_lock(&writer->lock);
		if (!rc)
			writer->kind_bytes[job->info.kind] +=
				CHUNK_HEADER_SIZE + job->info.stored_size;
	}
	note_error(writer, rc, &why);
	writer->waiting -= job->content.size;
	pthread_cond_signal(&writer->taken);
	free_job(job);
}

static void *run_thread(void *context)
{
	struct trace_writer *writer = context;
	struct job *job;

	prctl(PR_SET_NAME, TRACE_THREAD_NAME);
	pthread_mutex_lock(&writer->lock);
	writer->is_named = true;
	pthread_cond_signal(&writer->taken);
	while ((job = take_job(writer)))
		do_job(writer, job);
	if (writer->ending == ENDS_WITH_FOOTER && !writer->error) {
		struct failure why;

		note_error(writer, write_footer(writer, &why), &why);
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

/* ------- the caller's side ------- */

/* Nobody is to find it before it is locked. */
static int open_file(const char *path, int *fd, struct failure *why)
{
	int high, names = trace_lock_names(path);

	*fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*fd >= 0)
		trace_lock(*fd);
	if (names >= 0)
		close(names);
	if (*fd < 0)
		return failed(why, ERR_SYSTEM, "cannot create '%s': %s", path,
			      strerror(errno));
	high = fcntl(*fd, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
	if (high >= 0) {
		close(*fd);
		*fd = high;
	}
	return 0;
}

static int write_header(struct trace_writer *writer,
			const struct trace_header *header, struct failure *why)
{
	uint8_t bytes[TRACE_HEADER_SIZE];

	trace_header_encode(bytes, header);
	return write_all(writer, bytes, sizeof(bytes), why);
}

static int make_compressor(struct trace_writer *writer, int level,
			   struct failure *why)
{
	writer->compressor = ZSTD_createCCtx();
	if (!writer->compressor)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	writer->level = level;
	set_level(writer, level);
	/*
	 * The chunk's checksum is of the stored bytes; this is the content's.
	 */
	ZSTD_CCtx_setParameter(writer->compressor, ZSTD_c_checksumFlag, 1);
	return 0;
}

/* Other recorded processes know the thread by its name. */
static void wait_for_name(struct trace_writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	while (!writer->is_named)
		pthread_cond_wait(&writer->taken, &writer->lock);
	pthread_mutex_unlock(&writer->lock);
}

/* Signals are the main thread's: the new one takes none. */
static int start_thread(struct trace_writer *writer, struct failure *why)
{
	sigset_t all, before;
	int error;

	writer->is_named = false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&writer->thread, NULL, run_thread, writer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return failed(why, ERR_SYSTEM, "cannot start a thread: %s",
			      strerror(error));
	writer->is_running = true;
	wait_for_name(writer);
	return 0;
}

static void stop_thread(struct trace_writer *writer, enum ending ending)
{
	if (!writer->is_running)
		return;
	pthread_mutex_lock(&writer->lock);
	writer->ending = ending;
	pthread_cond_signal(&writer->added);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	writer->is_running = false;
}

int trace_writer_start(struct trace_writer **out, int fd, const char *path,
		       const struct trace_header *header, int level,
		       struct failure *why)
{
	struct trace_writer *writer = calloc(1, sizeof(*writer));
	int rc;

	assert(1 <= level && level <= 19);
	if (!writer) {
		close(fd);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	trace_lock(fd);
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->added, NULL);
	pthread_cond_init(&writer->taken, NULL);
	writer->last = &writer->first;
	writer->fd = fd;
	writer->path = strdup(path);
	if (writer->path)
		rc = make_compressor(writer, level, why);
	else
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (!rc)
		rc = write_header(writer, header, why);
	if (!rc)
		rc = start_thread(writer, why);
	if (!rc)
		*out = writer;
	else
		trace_writer_close(writer);
	return rc;
}

int trace_writer_open(struct trace_writer **out, const char *path,
		      const struct trace_header *header, int level,
		      struct failure *why)
{
	int fd, rc;

	rc = open_file(path, &fd, why);
	if (rc)
		return rc;
	rc = trace_writer_start(out, fd, path, header, level, why);
	if (rc)
		unlink(path);
	return rc;
}

void trace_writer_pause(struct trace_writer *writer)
{
	stop_thread(writer, ENDS);
}

bool trace_writer_is_sound(const struct trace_writer *writer)
{
	assert(!writer->is_running);
	return !writer->error;
}

int trace_writer_resume(struct trace_writer *writer, struct failure *why)
{
	writer->ending = GOES_ON;
	return start_thread(writer, why);
}

/* The sticky error of the thread; the lock is held. */
static int sticky_error(const struct trace_writer *writer, struct failure *why)
{
	if (writer->error && why)
		*why = writer->why;
	return writer->error;
}

/* Takes the content and the note over into a job. */
static struct job *make_job(const struct chunk_info *info,
			    struct output *content, void *note)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job) {
		output_release(content);
		free(note);
		return NULL;
	}
	job->info = *info;
	job->content = *content;
	job->note = note;
	*content = (struct output){ 0 };
	return job;
}

/* Queues the job, once there is room; takes it over. */
static int add_job(struct trace_writer *writer, struct job *job,
		   struct failure *why)
{
	int rc;

	pthread_mutex_lock(&writer->lock);
	while (writer->waiting && !writer->error &&
	       job->content.size > WAITING_MAX - writer->waiting)
		pthread_cond_wait(&writer->taken, &writer->lock);
	rc = sticky_error(writer, why);
	if (rc) {
		free_job(job);
	} else {
		*writer->last = job;
		writer->last = &job->next;
		writer->waiting += job->content.size;
		pthread_cond_signal(&writer->added);
	}
	pthread_mutex_unlock(&writer->lock);
	return rc;
}

int trace_writer_wait(struct trace_writer *writer, struct failure *why)
{
	int rc;

	pthread_mutex_lock(&writer->lock);
	while (writer->waiting && !writer->error)
		pthread_cond_wait(&writer->taken, &writer->lock);
	rc = sticky_error(writer, why);
	pthread_mutex_unlock(&writer->lock);
	return rc;
}

int trace_writer_move(struct trace_writer *writer, int (*move)(int fd),
		      struct failure *why)
{
	int fd = move(writer->fd);

	if (fd < 0)
		return failed(why, ERR_SYSTEM,
			      "cannot write '%s': no descriptor is free",
			      writer->path);
	writer->fd = fd;
	return 0;
}

void trace_writer_watch(struct trace_writer *writer,
			void (*written)(void *context,
					const struct chunk_info *info,
					const void *note),
			void *context)
{
	writer->written = written;
	writer->context = context;
}

void trace_writer_pack_first(struct trace_writer *writer, int level,
			     uint64_t bytes)
{
	set_level(writer, level);
	writer->first_bytes = bytes;
}

int trace_writer_chunk(struct trace_writer *writer, enum chunk_kind kind,
		       uint32_t stream, uint32_t segment, uint64_t first,
		       struct output *content, struct failure *why)
{
	return trace_writer_noted(writer, kind, stream, segment, first, content,
				  NULL, why);
}

int trace_writer_noted(struct trace_writer *writer, enum chunk_kind kind,
		       uint32_t stream, uint32_t segment, uint64_t first,
		       struct output *content, void *note, struct failure *why)
{
	struct chunk_info info = {
		.kind = kind,
		.stream = stream,
		.segment = segment,
		.first = first,
	};
	struct job *job;

	assert(writer->is_running);
	assert(chunk_kind_is_known(kind) && kind != CHUNK_FOOTER);
	assert(!note || writer->written);
	if (content->error) {
		output_release(content);
		free(note);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	if (content->size > TRACE_CHUNK_MAX) {
		output_release(content);
		free(note);
		return failed(why, ERR_INPUT,
			      "cannot write '%s': a chunk (%s) has more than"
			      " %u bytes",
			      writer->path, chunk_kind_name(kind),
			      TRACE_CHUNK_MAX);
	}
	job = make_job(&info, content, note);
	if (!job)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return add_job(writer, job, why);
}

uint64_t trace_writer_bytes(struct trace_writer *writer, enum chunk_kind kind)
{
	uint64_t bytes;

	assert(chunk_kind_is_known(kind));
	pthread_mutex_lock(&writer->lock);
	bytes = writer->kind_bytes[kind];
	pthread_mutex_unlock(&writer->lock);
	return bytes;
}

int trace_writer_finish(struct trace_writer *writer, struct failure *why)
{
	int fd = writer->fd;

	assert(writer->is_running);
	stop_thread(writer, ENDS_WITH_FOOTER);
	writer->fd = -1;
	/* Some file systems tell only now that there was no room. */
	if (close(fd) && !writer->error)
		writer->error = failed(&writer->why, ERR_SYSTEM,
				       "cannot write '%s': %s", writer->path,
				       strerror(errno));
	return sticky_error(writer, why);
}

/* Also ends a writer that trace_writer_start() left half made. */
void trace_writer_close(struct trace_writer *writer)
{
	if (!writer)
		return;
	stop_thread(writer, ENDS);
	if (writer->fd >= 0)
		close(writer->fd);
	pthread_cond_destroy(&writer->taken);
	pthread_cond_destroy(&writer->added);
	pthread_mutex_destroy(&writer->lock);
	ZSTD_freeCCtx(writer->compressor);
	output_release(&writer->table);
	free(writer->stored);
	free(writer->path);
	free(writer);
}
