/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_requests.c - a hostile debugger: requests as they are, damaged, and noise
 *
 * Its choices come from the seed alone.  What the recordings are is served in
 * sessions; whatever came before, a session finds the program's first moment as
 * the first one found it.  Nothing is written anywhere (no_writes.h).
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/no_writes.h"
#include "tests/fuzz/requests.h"

#define SESSION 200u /* messages */
#define MESSAGE_MOST (1u << 16)

/* What is left at the end, of the engine. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:g_array_new\n";
}

const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}

/* ------- chance ------- */

static uint64_t chance_state;

static uint64_t chance(void)
{
	uint64_t x = chance_state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t below(uint64_t most)
{
	return chance() % most;
}

/* ------- what is known of the program ------- */

#define ADDRESSES 32u

struct session {
	const char *from;
	char message[MESSAGE_MOST];
	size_t size;
	uint64_t left; /* messages */
	uint64_t asked;
	uint64_t addresses[ADDRESSES];
	unsigned known;
	uint32_t tids[4];
	unsigned tid_count;
	char *first, *again; /* what the first requests were answered */
};

/* "06:DIGITS;" in a stop: the lowest byte is the first. */
static void learn_registers(struct session *session, const char *reply)
{
	const char *at = strstr(reply, "thread:p");

	if (at && sscanf(at, "thread:p%*x.%x",
			 &session->tids[session->tid_count % 4]) == 1)
		session->tid_count++;
	for (at = reply; (at = strchr(at, ':')); at++) {
		uint64_t value = 0;
		unsigned byte, digits = 0;

		while (digits < 8 &&
		       sscanf(at + 1 + 2 * digits, "%2x", &byte) == 1)
			value |= (uint64_t)byte << 8 * digits++;
		if (digits == 8)
			session->addresses[session->known++ % ADDRESSES] =
				value;
	}
}

static void heard(void *context, const char *reply, size_t size)
{
	struct session *session = context;
	char **kept = session->asked == 1   ? &session->first
		      : session->asked == 2 ? &session->again
					    : NULL;

	if (kept) {
		free(*kept);
		*kept = size ? strndup(reply, size) : strdup("");
		assert(*kept);
	}
	if (size && (*reply == 'T' || *reply == 'S'))
		learn_registers(session, reply);
}

/* ------- requests ------- */

static void put(struct session *session, const char *bytes, size_t size)
{
	if (size > MESSAGE_MOST - session->size)
		size = MESSAGE_MOST - session->size;
	memcpy(session->message + session->size, bytes, size);
	session->size += size;
}

static void put_number(struct session *session, uint64_t number)
{
	char text[20];

	put(session, text,
	    (size_t)snprintf(text, sizeof(text), "%" PRIx64, number));
}

static uint64_t number(void)
{
	static const uint64_t strange[] = {
		0,
		1,
		2,
		7,
		8,
		16,
		0xff,
		4095,
		4096,
		0x10000,
		0x20000,
		INT32_MAX,
		UINT32_MAX,
		UINT64_C(1) << 32,
		INT64_MAX,
		UINT64_C(1) << 63,
		UINT64_MAX - 1,
		UINT64_MAX,
	};

	return below(3) ? below(300)
			: strange[below(sizeof(strange) / sizeof(*strange))];
}

static uint64_t address(const struct session *session)
{
	unsigned known = session->known < ADDRESSES ? session->known
						    : ADDRESSES;

	if (!known || !below(8))
		return below(2) ? number() : UINT64_MAX - below(64);
	return session->addresses[below(known)] + below(64) -
	       (below(2) ? 32 : 0);
}

static void put_hex(struct session *session, size_t size)
{
	while (size--) {
		char digits[3];

		snprintf(digits, sizeof(digits), "%02x", (unsigned)below(256));
		put(session, digits, 2);
	}
}

static void put_thread(struct session *session)
{
	if (session->tid_count && below(4))
		put_number(session, session->tids[below(4)]);
	else if (below(2))
		put(session, "-1", 2);
	else
		put_number(session, number());
}

/* Operations that exist come more often, and with them loops. */
static void put_code(struct session *session)
{
	static const uint8_t codes[] = {
		0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x09, 0x0e,
		0x0f, 0x13, 0x14, 0x16, 0x17, 0x1a, 0x20, 0x21,
		0x22, 0x22, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,
		0x28, 0x28, 0x29, 0x2a, 0x2b, 0x32, 0x33, 0x34,
	};
	static const char print[] = "22002200340000052564256400";
	unsigned count = (unsigned)below(40);
	char text[4 * 40 + 100];
	size_t size = 0;

	for (unsigned i = 0; i < count; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size,
					 "%02x",
					 below(6) ? codes[below(sizeof(codes))]
						  : (unsigned)below(256));
	if (!below(6))
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s",
					 print);
	put(session, "X", 1);
	put_number(session, below(9) ? size / 2 : number());
	put(session, ",", 1);
	put(session, text, size);
}

/* A text as digits. */
static void put_words(struct session *session)
{
	static const char *const words[] = {
		"help",
		"when",
		"goto 0",
		"goto 1.1",
		"goto end",
		"goto start",
		"goto 18446744073709551615",
		"goto %d",
		"goto +5",
		"plan none",
		"plan goto 5",
		"plan goto -3",
		"plan goto main",
		"state",
		"plan last %d 8",
		"plan last 0 18446744073709551615",
		"plan last %d 1 end",
		"plan register rax",
		"plan register ",
		"plan register eflags",
		"recording",
		"processes",
		"bookmarks",
		"bookmark a b",
		"bookmark ../../tmp/x y",
		"delete-bookmark a",
		"moment 1",
		"moment %d",
		"address *(long *)$rsp",
		"address main",
		"address ((((",
		"address %d",
		"nothing",
		"/proc/self/mem",
		"/etc/passwd",
		"../../../etc/passwd",
		"/proc/1/maps",
		"/bin/true",
		"main",
		"end",
		"",
	};
	const char *chosen = words[below(sizeof(words) / sizeof(*words))];
	char text[200];
	int size;

	if (strstr(chosen, "%d"))
		size = snprintf(text, sizeof(text), "%.*s%" PRIu64 "%s",
				(int)(strstr(chosen, "%d") - chosen), chosen,
				below(2) ? address(session) : number(),
				strstr(chosen, "%d") + 2);
	else
		size = snprintf(text, sizeof(text), "%s", chosen);
	for (int i = 0; i < size; i++) {
		char digits[3];

		snprintf(digits, sizeof(digits), "%02x",
			 (unsigned char)text[i]);
		put(session, digits, 2);
	}
}

/*
 * A address, N number, T thread, H digits, C agent code, W words, B any bytes;
 * behind '%'.
 */
static const char *const shapes[] = {
	"?",
	"!",
	"bs",
	"bc",
	"bs",
	"c",
	"C05",
	"C05;%A",
	"s",
	"S%N",
	"c%A",
	"D",
	"D;%N",
	"g",
	"g",
	"G%H",
	"Hg%T",
	"Hcp%N.%T",
	"Hg0",
	"Hc-1",
	"m%A,%N",
	"m%A,%N",
	"m%A,8",
	"M%A,%N:%H",
	"M%A,1:%H",
	"M%A,0:",
	"p%N",
	"p10",
	"P%N=%H",
	"P10=%H",
	"P10=0000000000000000",
	"qAttached",
	"QCatchSyscalls:1",
	"QCatchSyscalls:0",
	"QCatchSyscalls:1;%N;%N;%N",
	"QCatchSyscalls:%B",
	"qC",
	"qfThreadInfo",
	"qsThreadInfo",
	"QPassSignals:%N;%N;e;%N",
	"QPassSignals:",
	"qRcmd,%W",
	"qRcmd,%W",
	"qRcmd,%W",
	"qRcmd,%H",
	"qSearch:memory:%A;%N;%B",
	"qSearch:memory:%A;%N;%B%B%B",
	"QStartNoAckMode",
	"qSupported:%B+;exec-events+;fork-events+",
	"qSupported:error-message+;vfork-events+;swbreak+",
	"qSymbol::",
	"qSymbol:%N:%W",
	"qThreadExtraInfo,p%N.%T",
	"qThreadExtraInfo,%T",
	"qXfer:features:read:target.xml:%N,%N",
	"qXfer:features:read:%B:%N,%N",
	"qXfer:auxv:read::%N,%N",
	"qXfer:exec-file:read:%N:%N,%N",
	"qXfer:libraries-svr4:read::%N,%N",
	"qXfer:threads:read::%N,%N",
	"qXfer:siginfo:read::%N,%N",
	"qXfer:siginfo:write::%N:%B",
	"qXfer:%B:read::%N,%N",
	"qGetTLSAddr:%T,%N,%A",
	"QThreadEvents:1",
	"QThreadEvents:%B",
	"T%T",
	"Tp%N.%T",
	"vCont?",
	"vCont;c",
	"vCont;s",
	"vCont;s:p1.%T;c",
	"vCont;r%A,%A:%T",
	"vCont;r%A,%A",
	"vCont;r%N",
	"vCont;C%N:%T;t",
	"vCont;%B",
	"vCont;c:%T;s:%T;r%A,%A:-1",
	"vFile:setfs:%N",
	"vFile:open:%W,%N,%N",
	"vFile:open:%W,0,0",
	"vFile:pread:%N,%N,%N",
	"vFile:pread:0,1000,%N",
	"vFile:close:%N",
	"vFile:fstat:%N",
	"vFile:stat:%W",
	"vFile:readlink:%W",
	"vFile:pwrite:0,0,%B",
	"vFile:unlink:%W",
	"vFile:%B",
	"vKill;%N",
	"vRun;%W;%W",
	"vRun",
	"vRun;%W",
	"x%A,%N",
	"x%A,8",
	"X%A,%N:%B",
	"X%A,0:",
	"X%A,1:%B",
	"z0,%A,1",
	"z%N,%A,%N",
	"z2,%A,8",
	"Z0,%A,1",
	"Z0,%A,1;%C%C",
	"Z0,%A,1;%C;cmds:0,%C",
	"Z0,%A,1;cmds:1,%C%C",
	"Z1,%A,%N;%C",
	"Z2,%A,%N",
	"Z3,%A,8",
	"Z4,%A,%N",
	"Z%N,%A,%N;%B",
	"Z0,%A,1;%B",
	"vMustReplyEmpty",
	"R0",
	"k",
	"qTStatus",
	"QNonStop:1",
	"%B",
};

static void put_noise(struct session *session)
{
	size_t size = below(9) ? below(12) : below(3000);

	while (size--) {
		char byte = (char)below(256);

		put(session, &byte, 1);
	}
}

static void put_shape(struct session *session, const char *shape)
{
	for (; *shape; shape++) {
		if (*shape != '%') {
			put(session, shape, 1);
			continue;
		}
		switch (*++shape) {
		case 'A':
			put_number(session, address(session));
			break;
		case 'N':
			put_number(session, number());
			break;
		case 'T':
			put_thread(session);
			break;
		case 'H':
			put_hex(session, below(20) ? below(20) : below(2000));
			break;
		case 'C':
			put_code(session);
			break;
		case 'W':
			put_words(session);
			break;
		default:
			put_noise(session);
		}
	}
}

/* ------- damage ------- */

static void remove_part(struct session *session)
{
	size_t from = below(session->size), count = below(8) + 1;

	if (count > session->size - from)
		count = session->size - from;
	memmove(session->message + from, session->message + from + count,
		session->size - from - count);
	session->size -= count;
}

static void double_part(struct session *session)
{
	char part[64];
	size_t from = below(session->size), count = below(sizeof(part)) + 1;

	if (count > session->size - from)
		count = session->size - from;
	memcpy(part, session->message + from, count);
	for (uint64_t times = below(4) ? 1 : below(200); times; times--)
		put(session, part, count);
}

static void damage(struct session *session)
{
	static const char special[] = ";:,.=-pX0fF;%*#$}";

	for (uint64_t times = below(4) + 1; times && session->size; times--) {
		char *at = &session->message[below(session->size)];

		switch (below(6)) {
		case 0:
			*at ^= (char)(1 << below(8));
			break;
		case 1:
			*at = special[below(sizeof(special))];
			break;
		case 2:
			remove_part(session);
			break;
		case 3:
			double_part(session);
			break;
		case 4:
			session->size = (size_t)(at - session->message);
			break;
		default:
			put_shape(
				session,
				shapes[below(sizeof(shapes) / sizeof(*shapes))]);
		}
	}
}

/* The first two look at where it begins. */
static bool next(void *context, const char **message, size_t *size)
{
	struct session *session = context;

	if (!session->left)
		return false;
	session->left--;
	session->asked++;
	session->size = 0;
	if (session->asked == 1)
		put_shape(session, "?");
	else if (session->asked == 2)
		put_shape(session, "g");
	else
		put_shape(session,
			  shapes[below(sizeof(shapes) / sizeof(*shapes))]);
	if (session->asked > 2 && !below(3))
		damage(session);
	*message = session->message;
	*size = session->size;
	return true;
}

/* ------- sessions ------- */

struct beginning {
	char *stop, *registers;
};

static uint64_t serve(struct beginning *found, uint64_t most)
{
	struct session *session = calloc(1, sizeof(*session));
	const struct requests requests = {
		.from = "start",
		.next = next,
		.heard = heard,
		.context = session,
		.no_diversion = !below(4),
	};
	uint64_t asked;

	assert(session);
	session->left = most < SESSION ? most : SESSION;
	requests_serve(&requests);
	asked = session->asked;
	if (asked >= 2 && !found->stop) {
		*found = (struct beginning){ session->first, session->again };
	} else {
		assert(asked < 1 || !strcmp(session->first, found->stop));
		assert(asked < 2 || !strcmp(session->again, found->registers));
		free(session->first);
		free(session->again);
	}
	free(session);
	return asked;
}

static void serve_recording(const char *path, uint64_t messages)
{
	struct beginning found = { NULL, NULL };

	requests_use(path);
	while (messages > 2)
		messages -= serve(&found, messages);
	requests_close();
	free(found.stop);
	free(found.registers);
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{ "messages", required_argument, NULL, 'm' },
		{ "seed", required_argument, NULL, 's' },
		{ 0 }
	};
	uint64_t messages = 20000, seed = 1;
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) > 0)
		if (option == 'm')
			messages = strtoull(optarg, NULL, 0);
		else if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else
			return EXIT_FAILURE;
	if (optind == argc) {
		fprintf(stderr,
			"usage: %s [--messages N] [--seed N]"
			" RECORDING...\n",
			argv[0]);
		return EXIT_FAILURE;
	}
	forbid_writes();
	for (int i = optind; i < argc; i++) {
		chance_state = seed;
		serve_recording(argv[i], messages / (unsigned)(argc - optind));
	}
	printf("%" PRIu64 " messages to %d recordings\n", messages,
	       argc - optind);
	return EXIT_SUCCESS;
}
