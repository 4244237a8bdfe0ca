/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sockets.c - addresses, options and messages of sockets */
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "vm/linux/text/text_internal.h"

/* ------- addresses ------- */

/* One that begins with a NUL is no file's name. */
static void put_unix(FILE *out, const struct sockaddr_un *unix_, size_t size)
{
	size_t room = size - offsetof(struct sockaddr_un, sun_path);
	const uint8_t *path = (const uint8_t *)unix_->sun_path;

	if (!room)
		return;
	fputs(", sun_path=", out);
	if (*path || room == 1) {
		put_quoted(out, path, strnlen(unix_->sun_path, room));
	} else {
		fputc('@', out);
		put_quoted(out, path + 1, room - 1);
	}
}

static void put_inet(FILE *out, const struct sockaddr_in *inet)
{
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &inet->sin_addr, text, sizeof(text));
	fprintf(out, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")",
		ntohs(inet->sin_port), text);
}

static void put_inet6(FILE *out, const struct sockaddr_in6 *inet)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &inet->sin6_addr, text, sizeof(text));
	fprintf(out, ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u),"
		" inet_pton(AF_INET6, \"%s\", &sin6_addr), sin6_scope_id=%u",
		ntohs(inet->sin6_port), ntohl(inet->sin6_flowinfo), text,
		inet->sin6_scope_id);
}

static void put_netlink(FILE *out, const struct sockaddr_nl *netlink)
{
	fprintf(out, ", nl_pid=%u, nl_groups=%08x", netlink->nl_pid,
		netlink->nl_groups);
}

union any_address {
	struct sockaddr any;
	struct sockaddr_un unix_;
	struct sockaddr_in inet;
	struct sockaddr_in6 inet6;
	struct sockaddr_nl netlink;
	uint8_t bytes[sizeof(struct sockaddr_storage)];
};

static void put_address(FILE *out, const union any_address *address,
			size_t size)
{
	unsigned family = address->any.sa_family;

	if (family == AF_UNIX)
		put_unix(out, &address->unix_,
			 size < sizeof(address->unix_) ?
				 size : sizeof(address->unix_));
	else if (family == AF_INET && size >= sizeof(address->inet))
		put_inet(out, &address->inet);
	else if (family == AF_INET6 && size >= sizeof(address->inet6))
		put_inet6(out, &address->inet6);
	else if (family == AF_NETLINK && size >= sizeof(address->netlink))
		put_netlink(out, &address->netlink);
	else if (size > sizeof(sa_family_t)) {
		fputs(", sa_data=", out);
		put_quoted(out, address->bytes + sizeof(sa_family_t),
			   size - sizeof(sa_family_t));
	}
}

void show_socket_address(struct showing *showing, guest_addr addr,
			 uint64_t size)
{
	union any_address address = { .bytes = { 0 } };

	if (!addr || size < sizeof(sa_family_t) || size > sizeof(address) ||
	    !read_guest(showing, addr, address.bytes, size)) {
		show_address(showing, addr);
		return;
	}
	fputs("{sa_family=", showing->out);
	show_values(showing, VALUES_DOMAIN, address.any.sa_family);
	put_address(showing->out, &address, size);
	fputc('}', showing->out);
}

/* ------- options ------- */

enum { OPTION_LEVEL = 1, OPTION_NAME, OPTION_VALUE, OPTION_SIZE };

static enum call_values options_of(uint64_t level)
{
	switch ((int)level) {
	case SOL_SOCKET:
		return VALUES_SO;
	case IPPROTO_IP:
		return VALUES_SO_IP;
	case IPPROTO_TCP:
		return VALUES_SO_TCP;
	case IPPROTO_IPV6:
		return VALUES_SO_IPV6;
	default:
		return VALUES_NONE;
	}
}

/* Most are a number. */
static void show_option_value(struct showing *showing, guest_addr addr,
			      uint64_t size)
{
	int number;

	if (addr && size == sizeof(number) &&
	    read_guest(showing, addr, &number, sizeof(number)))
		fprintf(showing->out, "[%d]", number);
	else
		show_bytes(showing, addr, size);
}

enum shown show_socket_option(struct showing *showing, unsigned index)
{
	bool gets = showing->row == &linux_calls[CALL_getsockopt];
	uint64_t value = arg_of(showing, index);
	uint32_t size = (uint32_t)arg_of(showing, OPTION_SIZE);

	if (index == OPTION_NAME) {
		show_values(showing,
			    options_of(arg_of(showing, OPTION_LEVEL)), value);
		return SHOWN;
	}
	if (index != OPTION_VALUE)
		return SHOWN_USUALLY;
	if (gets && !showing->leaves)
		return SHOWN_LATER;
	if (gets && (showing->has_failed ||
		     !read_guest(showing, arg_of(showing, OPTION_SIZE), &size,
				 sizeof(size))))
		show_address(showing, value);
	else
		show_option_value(showing, value, size);
	return SHOWN;
}

/* ------- messages ------- */

#define CONTROL_MOST 4096u	/* bytes: a choice */

static void put_descriptors(struct showing *showing, const uint8_t *bytes,
			    size_t size)
{
	int descriptor;

	fputc('[', showing->out);
	for (size_t i = 0; i + sizeof(int) <= size; i += sizeof(int)) {
		memcpy(&descriptor, bytes + i, sizeof(descriptor));
		if (i)
			fputs(", ", showing->out);
		show_descriptor(showing, descriptor);
	}
	fputc(']', showing->out);
}

static void put_control(struct showing *showing, const struct cmsghdr *header,
			const uint8_t *bytes, size_t size)
{
	fprintf(showing->out, "{cmsg_len=%zu, cmsg_level=", header->cmsg_len);
	show_values(showing, VALUES_SOL, (uint32_t)header->cmsg_level);
	if (header->cmsg_level == SOL_SOCKET &&
	    header->cmsg_type == SCM_RIGHTS) {
		fputs(", cmsg_type=SCM_RIGHTS, cmsg_data=", showing->out);
		put_descriptors(showing, bytes, size);
	} else {
		fprintf(showing->out, ", cmsg_type=%#x", header->cmsg_type);
	}
	fputc('}', showing->out);
}

/* The length is a word, and all begins at a multiple of one. */
static void take_header(const uint8_t *at, unsigned word,
			struct cmsghdr *header)
{
	header->cmsg_len = 0;
	memcpy(&header->cmsg_len, at, word);
	memcpy(&header->cmsg_level, at + word, sizeof(int));
	memcpy(&header->cmsg_type, at + word + sizeof(int), sizeof(int));
}

static void show_control(struct showing *showing, guest_addr addr,
			 uint64_t size)
{
	unsigned word = word_of(showing), head = word + 2 * sizeof(int);
	uint8_t bytes[CONTROL_MOST];
	struct cmsghdr header;
	uint64_t at = 0;

	if (!addr || size > sizeof(bytes) ||
	    !read_guest(showing, addr, bytes, size)) {
		show_address(showing, addr);
		return;
	}
	fputc('[', showing->out);
	while (size - at >= head) {
		take_header(bytes + at, word, &header);
		if (header.cmsg_len < head ||
		    header.cmsg_len > size - at)
			break;
		if (at)
			fputs(", ", showing->out);
		put_control(showing, &header, bytes + at + head,
			    header.cmsg_len - head);
		at += (header.cmsg_len + word - 1) & ~(uint64_t)(word - 1);
		if (at > size)
			break;
	}
	fputc(']', showing->out);
}

void show_message(struct showing *showing, guest_addr addr, bool is_sent)
{
	struct msghdr message;
	FILE *out = showing->out;

	if (!addr || !read_struct(showing, S_MSGHDR, addr, &message)) {
		show_address(showing, addr);
		return;
	}
	fputs("{msg_name=", out);
	show_socket_address(showing, (uintptr_t)message.msg_name,
			    message.msg_namelen);
	fprintf(out, ", msg_namelen=%u, msg_iov=", message.msg_namelen);
	show_vector(showing, (uintptr_t)message.msg_iov, message.msg_iovlen,
		    is_sent ? UINT64_MAX : (uint64_t)showing->result);
	fprintf(out, ", msg_iovlen=%zu, ", message.msg_iovlen);
	if (message.msg_controllen) {
		fputs("msg_control=", out);
		show_control(showing, (uintptr_t)message.msg_control,
			     message.msg_controllen);
		fputs(", ", out);
	}
	fprintf(out, "msg_controllen=%zu, msg_flags=", message.msg_controllen);
	show_values(showing, VALUES_MSG, (uint32_t)message.msg_flags);
	fputc('}', out);
}
