/* SPDX-License-Identifier: GPL-2.0-or-later */
/* disk.c - see disk.h */
#include "vm/board/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"

/* As QEMU: not in memory, where /tmp may be. */
#define CHANGES_FOLDER "/var/tmp"

#define SECTORS (GUEST_PAGE / DISK_SECTOR)	/* of a block */

static int cannot(const struct disk *disk, const char *reason,
		  struct failure *why)
{
	return failed(why, ERR_INPUT, "cannot use '%s' as a disk: %s",
		      disk->options->path, reason);
}

/* ------- opening ------- */

/* Images of other kinds begin so; a disk never does. */
static const char *other_kind(int fd)
{
	static const struct {
		const char *magic, *reason;
	} kinds[] = {
		{ "QFI\xfb", "it is a qcow2 image: 'qemu-img convert -O raw'"
		  " makes a raw one of it" },
		{ "KDMV", "it is a VMDK image, not a raw one" },
		{ "vhdxfile", "it is a VHDX image, not a raw one" },
		{ "conectix", "it is a VHD image, not a raw one" },
	};
	char head[8] = { 0 };

	if (pread(fd, head, sizeof(head), 0) < 0)
		return strerror(errno);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!memcmp(head, kinds[i].magic, strlen(kinds[i].magic)))
			return kinds[i].reason;
	return NULL;
}

static int check_image(struct disk *disk, struct failure *why)
{
	struct stat status;
	off_t size;
	const char *other;

	if (fstat(disk->image, &status))
		return cannot(disk, strerror(errno), why);
	if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
		return cannot(disk, S_ISDIR(status.st_mode) ?
			      "it is a folder" : "it is not a file", why);
	other = other_kind(disk->image);
	if (other)
		return cannot(disk, other, why);
	size = lseek(disk->image, 0, SEEK_END);
	if (size <= 0)
		return cannot(disk, size ? strerror(errno) : "it is empty",
			      why);
	if (size % DISK_SECTOR)
		return cannot(disk, "its size is no multiple of 512 bytes",
			      why);
	disk->sectors = (uint64_t)size / DISK_SECTOR;
	disk->written = calloc(disk->sectors / SECTORS / 8 + 1, 1);
	return disk->written ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

/* Two machines that write to one image destroy what is on it. */
static int lock_image(struct disk *disk, bool writes, struct failure *why)
{
	if (!flock(disk->image, (writes ? LOCK_EX : LOCK_SH) | LOCK_NB))
		return 0;
	return cannot(disk, errno == EWOULDBLOCK ?
		      "another machine, or another --drive, has it" :
		      strerror(errno), why);
}

static int begin_changes(struct disk *disk, struct failure *why)
{
	const char *folder = getenv("TMPDIR");

	if (!folder || !*folder)
		folder = CHANGES_FOLDER;
	disk->changes = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (disk->changes < 0)
		return failed(why, ERR_SYSTEM, "cannot create a file for what"
			      " is written to '%s', in '%s': %s",
			      disk->options->path, folder, strerror(errno));
	disk->changed = calloc(disk->sectors / 8 + 1, 1);
	return disk->changed ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

int disk_open(struct disk *disk, const struct disk_options *options,
	      struct failure *why)
{
	bool writes = !options->readonly && !options->snapshot;
	int rc;

	disk->options = options;
	disk->changes = -1;
	disk->image = open(options->path, (writes ? O_RDWR : O_RDONLY) |
					  O_CLOEXEC | O_NONBLOCK);
	disk->is_open = disk->image >= 0;
	if (!disk->is_open)
		return cannot(disk, errno == EISDIR ? "it is a folder" :
						      strerror(errno), why);
	rc = check_image(disk, why);
	if (!rc)
		rc = lock_image(disk, writes, why);
	if (!rc && options->snapshot)
		rc = begin_changes(disk, why);
	return rc;
}

void disk_close(struct disk *disk)
{
	if (!disk->is_open)
		return;
	close(disk->image);
	if (disk->changes >= 0)
		close(disk->changes);
	free(disk->changed);
	free(disk->written);
	*disk = (struct disk){ 0 };
}

/* ------- reading and writing ------- */

static bool fails(struct disk *disk, const char *doing, const char *reason)
{
	char text[300];

	if (!disk->warned) {
		snprintf(text, sizeof(text), "the disk '%.150s' cannot be %s:"
			 " %s; the guest gets errors", disk->options->path,
			 doing, reason);
		disk->warn(disk->context, text);
	}
	disk->warned = true;
	return false;
}

static bool read_file(struct disk *disk, int fd, uint64_t at, uint8_t *bytes,
		      size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t count = pread(fd, bytes + done, size - done,
				      (off_t)(at + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return fails(disk, "read", count ? strerror(errno) :
				     "it has become shorter");
		done += (size_t)count;
	}
	return true;
}

static bool write_file(struct disk *disk, int fd, uint64_t at,
		       const uint8_t *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t count = pwrite(fd, bytes + done, size - done,
				       (off_t)(at + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return fails(disk, "written", strerror(errno));
		done += (size_t)count;
	}
	return true;
}

static bool is_changed(const struct disk *disk, uint64_t sector)
{
	return disk->changed && disk->changed[sector / 8] >> sector % 8 & 1;
}

static bool is_inside(const struct disk *disk, uint64_t sector, size_t size)
{
	return size % DISK_SECTOR == 0 && sector <= disk->sectors &&
	       size / DISK_SECTOR <= disk->sectors - sector;
}

static bool load(struct disk *disk, uint64_t sector, void *bytes, size_t size)
{
	uint64_t count = size / DISK_SECTOR, done = 0;

	while (done < count) {
		uint64_t first = done;
		bool changed = is_changed(disk, sector + first);

		while (done < count &&
		       is_changed(disk, sector + done) == changed)
			done++;
		if (!read_file(disk, changed ? disk->changes : disk->image,
			       (sector + first) * DISK_SECTOR,
			       (uint8_t *)bytes + first * DISK_SECTOR,
			       (done - first) * DISK_SECTOR))
			return false;
	}
	return true;
}

static void note_write(struct disk *disk, uint64_t sector, size_t size)
{
	for (uint64_t i = 0; i < size / DISK_SECTOR; i++) {
		uint64_t block = (sector + i) / SECTORS;

		disk->written[block / 8] |= (uint8_t)(1 << block % 8);
	}
}

bool disk_read(struct disk *disk, uint64_t sector, void *bytes, size_t size)
{
	return is_inside(disk, sector, size) &&
	       load(disk, sector, bytes, size);
}

static bool store(struct disk *disk, uint64_t sector, const void *bytes,
		  size_t size)
{
	for (uint64_t i = 0; disk->changed && i < size / DISK_SECTOR; i++)
		disk->changed[(sector + i) / 8] |=
			(uint8_t)(1 << (sector + i) % 8);
	return write_file(disk, disk->changed ? disk->changes : disk->image,
			  sector * DISK_SECTOR, bytes, size);
}

bool disk_write(struct disk *disk, uint64_t sector, const void *bytes,
		size_t size)
{
	if (!is_inside(disk, sector, size) || disk->options->readonly)
		return false;
	note_write(disk, sector, size);
	return store(disk, sector, bytes, size);
}

void disk_follow(struct disk *disk, uint64_t sector,
		 const uint8_t bytes[DISK_SECTOR])
{
	if (disk->changed && is_inside(disk, sector, DISK_SECTOR))
		store(disk, sector, bytes, DISK_SECTOR);
}

/* Bytes of a block; the last one may be short. */
static size_t block_size(const struct disk *disk, uint64_t block)
{
	uint64_t left = disk->sectors - block * SECTORS;

	return (size_t)(left < SECTORS ? left : SECTORS) * DISK_SECTOR;
}

bool disk_next_written(struct disk *disk, uint64_t *block,
		    uint8_t bytes[GUEST_PAGE])
{
	for (; *block * SECTORS < disk->sectors; ++*block) {
		uint8_t *bits = &disk->written[*block / 8];
		uint8_t bit = (uint8_t)(1 << *block % 8);
		size_t size = block_size(disk, *block);

		if (!(*bits & bit))
			continue;
		*bits &= (uint8_t)~bit;
		memset(bytes + size, 0, GUEST_PAGE - size);
		if (load(disk, *block * SECTORS, bytes, size))
			return true;
	}
	return false;
}

void disk_follow_block(struct disk *disk, uint64_t block,
		       const uint8_t bytes[GUEST_PAGE])
{
	if (disk->changed && block < (disk->sectors + SECTORS - 1) / SECTORS)
		store(disk, block * SECTORS, bytes, block_size(disk, block));
}

/* The image outlives the machine, and may outlive the host. */
bool disk_flush(struct disk *disk)
{
	if (disk->options->readonly || disk->changed ||
	    !fdatasync(disk->image) || errno == EROFS || errno == EINVAL)
		return true;
	return fails(disk, "written", strerror(errno));
}
