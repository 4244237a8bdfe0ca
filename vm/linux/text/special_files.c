/* SPDX-License-Identifier: GPL-2.0-or-later */
/* special_files.c - calls about files and descriptors, to special.h */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "vm/linux/text/special.h"

/* ------- files ------- */

/* Flags of a call that opens nothing: how to read and write is no question. */
static void show_file_flags(struct showing *showing, uint64_t flags)
{
	char text[200];
	const char *at = text;

	linux_values_text(text, sizeof(text), showing->call->arch, VALUES_OPEN,
			  flags);
	if (!strncmp(at, "O_RDONLY", 8))
		at += at[8] ? 9 : 8;
	fputs(*at ? at : "0", showing->out);
}

enum shown special_made_flags(struct showing *showing, unsigned index)
{
	if (showing->row->args[index].kind != ARG_FLAGS)
		return SHOWN_USUALLY;
	show_file_flags(showing, arg_of(showing, index));
	return SHOWN;
}

/* The mode counts only for a file that may be made. */
enum shown special_opened(struct showing *showing, unsigned index)
{
	bool has_mode = showing->row->args[index].kind == ARG_MODE;
	uint64_t flags = has_mode ? arg_of(showing, index - 1) : 0;

	if (!has_mode || flags & O_CREAT ||
	    (flags & O_TMPFILE) == O_TMPFILE)
		return SHOWN_USUALLY;
	return SHOWN_NOT;
}

/* A device's number counts only for a device. */
enum shown special_made_node(struct showing *showing, unsigned index)
{
	unsigned first = is_call(showing, CALL_mknodat);
	uint64_t value = arg_of(showing, index);
	unsigned mode = (unsigned)arg_of(showing, first + 1);

	if (index == first + 1) {
		const char *type = S_ISFIFO(mode) ? "S_IFIFO|" :
				   S_ISCHR(mode) ? "S_IFCHR|" :
				   S_ISBLK(mode) ? "S_IFBLK|" :
				   S_ISSOCK(mode) ? "S_IFSOCK|" :
				   S_ISREG(mode) ? "S_IFREG|" : "";

		fputs(type, showing->out);
		show_mode(showing, mode & 07777);
		return SHOWN;
	}
	if (index != first + 2)
		return SHOWN_USUALLY;
	if (!S_ISCHR(mode) && !S_ISBLK(mode))
		return SHOWN_NOT;
	fprintf(showing->out, "makedev(%#x, %#x)", major(value), minor(value));
	return SHOWN;
}

enum shown special_access_flags(struct showing *showing, unsigned index)
{
	if (index != 3)
		return SHOWN_USUALLY;
	show_values(showing, VALUES_ACCESS_AT, arg_of(showing, index));
	return SHOWN;
}

enum shown special_statx_flags(struct showing *showing, unsigned index)
{
	uint64_t flags = arg_of(showing, 2);

	if (index != 2)
		return SHOWN_USUALLY;
	if (!(flags & (AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC)))
		fprintf(showing->out, "AT_STATX_SYNC_AS_STAT%s",
			flags ? "|" : "");
	if (flags)
		show_values(showing, VALUES_AT, flags);
	return SHOWN;
}

/* A path that has no NUL, or one that the length counts. */
enum shown special_filled_path(struct showing *showing, unsigned index)
{
	unsigned most = showing->call->string_most;

	if (showing->row->args[index].kind != ARG_BYTES_OUT ||
	    !showing->leaves || showing->has_failed)
		return SHOWN_USUALLY;
	showing->call->string_most = PATH_MAX;
	if (is_call(showing, CALL_getcwd))
		show_path(showing, arg_of(showing, index));
	else
		show_bytes(showing, arg_of(showing, index),
			   (uint64_t)showing->result);
	showing->call->string_most = most;
	return SHOWN;
}

/* struct linux_dirent and linux_dirent64: the length is at the same place. */
#define ENTRY_LENGTH 16u

enum shown special_directory(struct showing *showing, unsigned index)
{
	uint64_t addr = arg_of(showing, index), at = 0, count = 0;
	uint16_t size;

	if (index != 1 || !showing->leaves || showing->has_failed)
		return SHOWN_USUALLY;
	while (at < (uint64_t)showing->result &&
	       read_guest(showing, addr + at + ENTRY_LENGTH, &size,
			  sizeof(size)) && size) {
		at += size;
		count++;
	}
	show_address(showing, addr);
	if (at >= (uint64_t)showing->result)
		fprintf(showing->out, " /* %" PRIu64 " entries */", count);
	return SHOWN;
}

enum shown special_random_bytes(struct showing *showing, unsigned index)
{
	if (index || !showing->leaves || showing->has_failed)
		return SHOWN_USUALLY;
	show_hex_bytes(showing, arg_of(showing, 0), (uint64_t)showing->result);
	return SHOWN;
}

/* ------- fcntl() and ioctl() ------- */

enum shown special_file_control(struct showing *showing, unsigned index)
{
	uint64_t value = arg_of(showing, index);

	if (index != 2)
		return SHOWN_USUALLY;
	switch ((int)arg_of(showing, 1)) {
	case F_GETFD:
	case F_GETFL:
	case F_GETOWN:
	case F_GETSIG:
	case F_GETLEASE:
	case F_GETPIPE_SZ:
	case F_GET_SEALS:
		return SHOWN_NOT;
	case F_SETFD:
		show_values(showing, VALUES_FD_FLAGS, value);
		break;
	case F_SETFL:
		show_values(showing, VALUES_OPEN, value);
		break;
	case F_GETLK:
	case F_OFD_GETLK:
		if (!showing->leaves)
			return SHOWN_LATER;
		/* fallthrough */
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		show_struct(showing, S_FLOCK, value);
		break;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
	case F_SETPIPE_SZ:
	case F_SETOWN:
		fprintf(showing->out, "%d", (int)value);
		break;
	default:
		show_hex(showing, value);
	}
	return SHOWN;
}

static void show_terminal(struct showing *showing, uint64_t addr)
{
	struct { uint32_t in, out, control, local; } modes;

	if (!addr || !read_guest(showing, addr, &modes, sizeof(modes)))
		show_address(showing, addr);
	else
		fprintf(showing->out, "{c_iflag=%#x, c_oflag=%#x, c_cflag=%#x,"
			" c_lflag=%#x, ...}", modes.in, modes.out,
			modes.control, modes.local);
}

static void show_window(struct showing *showing, uint64_t addr)
{
	uint16_t size[4];

	if (!addr || !read_guest(showing, addr, size, sizeof(size)))
		show_address(showing, addr);
	else
		fprintf(showing->out, "{ws_row=%u, ws_col=%u, ws_xpixel=%u,"
			" ws_ypixel=%u}", size[0], size[1], size[2], size[3]);
}

/* One that has no name here says itself what it is. */
static bool show_request(struct showing *showing, uint32_t request)
{
	static const char *const directions[] = {
		"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE",
	};
	const struct value_table *table = linux_values(showing->call->arch,
						       VALUES_IOCTL);

	for (size_t i = 0; table && i < table->count; i++)
		if (table->names[i].value == request)
			return false;
	fprintf(showing->out, "_IOC(%s, %#x, %#x, %#x)",
		directions[request >> 30], request >> 8 & 0xff,
		request & 0xff, request >> 16 & 0x3fff);
	return true;
}

enum shown special_device_control(struct showing *showing, unsigned index)
{
	uint32_t request = (uint32_t)arg_of(showing, 1);
	uint64_t value = arg_of(showing, index);

	if (index == 1)
		return show_request(showing, request) ? SHOWN : SHOWN_USUALLY;
	if (index != 2)
		return SHOWN_USUALLY;
	switch (request) {
	case FIOCLEX:
	case FIONCLEX:
	case TIOCNOTTY:
		return SHOWN_NOT;
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		show_terminal(showing, value);
		return SHOWN;
	case FIONBIO:
	case FIOASYNC:
	case TIOCSPGRP:
	case TIOCSPTLCK:
		show_struct(showing, S_INT, value);
		return SHOWN;
	case TIOCSWINSZ:
		show_window(showing, value);
		return SHOWN;
	case TIOCSCTTY:
	case TIOCGPTPEER:
		show_hex(showing, value);
		return SHOWN;
	case TCGETS:
	case TIOCGWINSZ:
	case FIONREAD:
	case TIOCGPGRP:
	case TIOCGSID:
	case TIOCGPTN:
		break;
	default:
		return SHOWN_USUALLY;
	}
	if (!showing->leaves)
		return SHOWN_LATER;
	if (showing->has_failed)
		show_address(showing, value);
	else if (request == TCGETS)
		show_terminal(showing, value);
	else if (request == TIOCGWINSZ)
		show_window(showing, value);
	else
		show_struct(showing, S_INT, value);
	return SHOWN;
}
