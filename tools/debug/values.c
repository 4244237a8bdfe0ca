/* SPDX-License-Identifier: GPL-2.0-or-later */
/* values.c - expressions, memory and registers */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/bit_field.h"
#include "tools/debug/session.h"
#include "tools/print.h"

/* ------- expressions ------- */

static int evaluate(struct session *session, const char *expression,
		    char letter, const struct cprec_value **out,
		    struct cprec_failure *why)
{
	const struct cprec_format format = {
		.size = sizeof(format), .letter = letter, .is_value = true,
	};

	return cprec_evaluate(session->cursor, expression, &format, out, why);
}

static uint64_t number_of(const struct cprec_value *value)
{
	uint64_t number = 0;

	for (uint64_t i = value->length; i-- > 0;)
		number = number << 8 | value->bytes[i];
	return number;
}

int find_address(struct session *session, const char *expression,
		 uint64_t *out, struct cprec_failure *why)
{
	const struct cprec_value *value;
	char *end;
	int rc;

	*out = strtoull(expression, &end, 0);
	if (end != expression && !*end)
		return 0;
	rc = cprec_evaluate(session->cursor, expression, NULL, &value, why);
	if (rc)
		return rc;
	/* What is in memory and no number is where it is. */
	if (value->has_addr && (value->is_code || !value->type ||
				strchr(value->type, '[') || !value->bytes ||
				value->length > sizeof(*out)))
		*out = value->addr;
	else if (value->bytes && value->length <= sizeof(*out))
		*out = number_of(value);
	else
		return wrong(why, "'%s' is no address", expression);
	return 0;
}

/* "/x", "/16xb" at the beginning. */
struct format {
	uint64_t count;
	char letter;
	unsigned unit;		/* bytes; 0: not given */
};

static int take_format(const char **args, struct format *out,
		       struct cprec_failure *why)
{
	static const char units[] = "bhwg";
	const char *at = *args, *unit;
	char *end;

	*out = (struct format){ .count = 1 };
	if (*at != '/')
		return 0;
	at++;
	if (isdigit((unsigned char)*at)) {
		out->count = strtoull(at, &end, 10);
		at = end;
	}
	for (; *at && !isspace((unsigned char)*at); at++) {
		unit = strchr(units, *at);
		if (unit)
			out->unit = 1u << (unit - units);
		else if (strchr("xduotcfsaiz", *at))
			out->letter = *at == 'z' ? 'x' : *at;
		else
			return wrong(why, "'%c' is no format", *at);
	}
	*args = at + strspn(at, " \t");
	return 0;
}

int do_print(struct session *session, const char *args,
	     struct cprec_failure *why)
{
	const struct cprec_value *value;
	struct format format;
	int rc = take_format(&args, &format, why);

	if (!rc && !*args)
		return wrong(why, "an expression is missing");
	if (!rc && format.letter == 'i')
		return wrong(why, "instructions are shown by x/i");
	if (!rc)
		rc = evaluate(session, args, format.letter, &value, why);
	if (rc)
		return rc;
	fputs("= ", stdout);
	if (value->text)
		print_value_text(stdout, value->text);
	else
		printf("<%s>", value->no_text ? value->no_text : "?");
	putchar('\n');
	return 0;
}

static int show_type(struct session *session, const char *args, bool whole,
		     struct cprec_failure *why)
{
	const char *type;
	int rc = *args ? cprec_find_type(session->cursor, args, whole, &type,
					 why) :
			 wrong(why, "an expression is missing");

	if (rc)
		return rc;
	fputs("type = ", stdout);
	while (*type) {
		size_t length = strcspn(type, "\n");

		print_source_text(stdout, type, length);
		putchar('\n');
		type += length + (type[length] == '\n');
	}
	return 0;
}

int do_whatis(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	return show_type(session, args, false, why);
}

int do_ptype(struct session *session, const char *args,
	     struct cprec_failure *why)
{
	return show_type(session, args, true, why);
}

/* ------- memory ------- */

static void show_address(struct session *session, uint64_t addr)
{
	const struct cprec_place *place;

	tint(session, TINT_NUMBER);
	printf("0x%" PRIx64, addr);
	tint(session, TINT_NONE);
	if (!cprec_find_place(session->cursor, addr, &place, NULL) &&
	    place->symbol) {
		fputs(" <", stdout);
		print_escaped(stdout, place->symbol, strlen(place->symbol));
		putchar('>');
	}
}

static void show_bits(uint64_t value, unsigned unit)
{
	for (unsigned i = 8 * unit; i-- > 0;)
		putchar((int)('0' + (value >> i & 1)));
}

static void show_float(uint64_t value, unsigned unit)
{
	double wide;
	float narrow;
	uint32_t low = (uint32_t)value;

	if (unit == 4) {
		memcpy(&narrow, &low, sizeof(narrow));
		printf("%.9g", (double)narrow);
	} else {
		memcpy(&wide, &value, sizeof(wide));
		printf("%.17g", wide);
	}
}

static void show_number(struct session *session, const struct format *format,
			uint64_t value)
{
	unsigned unit = format->unit;
	unsigned shift = 64 - 8 * unit;
	int64_t with_sign = (int64_t)(value << shift) >> shift;

	switch (format->letter) {
	case 'd':
		printf("%" PRId64, with_sign);
		break;
	case 'u':
		printf("%" PRIu64, value);
		break;
	case 'o':
		printf("0%0*" PRIo64, (int)(8 * unit + 2) / 3, value);
		break;
	case 't':
		show_bits(value, unit);
		break;
	case 'c':
		printf("%" PRId64 " '", with_sign);
		if (isprint((int)(value & 0xff)) && (value & 0xff) < 0x80)
			putchar((int)(value & 0xff));
		else
			printf("\\%03o", (unsigned)(value & 0xff));
		putchar('\'');
		break;
	case 'f':
		show_float(value, unit);
		break;
	case 'a':
		show_address(session, value);
		break;
	default:
		printf("0x%0*" PRIx64, (int)(2 * unit), value);
	}
}

static unsigned per_line(const struct format *format)
{
	if (format->letter == 'a' || format->letter == 't')
		return format->unit > 2 ? 2 : 8 / format->unit;
	if (format->unit == 1)
		return 8;
	return 16 / format->unit;
}

static int show_numbers(struct session *session, const struct format *format,
			uint64_t addr, struct cprec_failure *why)
{
	const struct cprec_memory *memory;
	uint64_t length = format->count * format->unit;
	int rc;

	if (format->count > CPREC_MEMORY_MOST / format->unit)
		return wrong(why, "that is too much memory to be shown");
	rc = cprec_read(session->cursor, addr, length, &memory, why);
	for (uint64_t i = 0; !rc && i < format->count; i++) {
		const uint8_t *bytes = memory->bytes + i * format->unit;
		const uint8_t *known = memory->known + i * format->unit;
		uint64_t value = 0;

		if (i % per_line(format) == 0) {
			fputs(i ? "\n" : "", stdout);
			show_address(session, addr + i * format->unit);
			putchar(':');
		}
		for (unsigned k = format->unit; k-- > 0;)
			value = value << 8 | bytes[k];
		putchar('\t');
		if (memchr(known, 0, format->unit))
			fputs("??", stdout);
		else
			show_number(session, format, value);
	}
	if (rc)
		return rc;
	putchar('\n');
	session->examined = addr + length;
	return 0;
}

#define STRING_MOST 4096u
#define STRING_PART 64u

static int show_string(struct session *session, uint64_t *addr,
		       struct cprec_failure *why)
{
	const struct cprec_memory *memory;
	uint64_t at = *addr;
	bool ends = false;
	int rc = 0;

	show_address(session, *addr);
	fputs(":\t\"", stdout);
	while (!rc && !ends && at - *addr < STRING_MOST) {
		uint64_t part = STRING_PART - at % STRING_PART;
		uint64_t length = 0;

		rc = cprec_read(session->cursor, at, part, &memory, why);
		while (!rc && length < part && memory->known[length] &&
		       memory->bytes[length])
			length++;
		if (!rc)
			print_escaped(stdout, (const char *)memory->bytes,
				      length);
		at += length;
		ends = length < part;
	}
	puts(ends ? "\"" : "\"...");
	*addr = at + 1;
	return rc;
}

struct code_listing {
	struct session *session;
	uint64_t pc;
	uint64_t behind;
};

static int on_instruction(void *context, const struct cprec_instruction *one)
{
	struct code_listing *listing = context;

	printf("%s 0x%" PRIx64, one->addr == listing->pc ? "=>" : "  ",
	       one->addr);
	if (one->symbol) {
		fputs(" <", stdout);
		print_escaped(stdout, one->symbol, strlen(one->symbol));
		putchar('>');
	}
	printf(":\t%s", one->text ? one->text : "(bad)");
	if (one->target_symbol) {
		fputs(" <", stdout);
		print_escaped(stdout, one->target_symbol,
			      strlen(one->target_symbol));
		putchar('>');
	}
	putchar('\n');
	listing->behind = one->addr + one->length;
	return 0;
}

static int show_code(struct session *session, uint64_t addr, uint64_t count,
		     struct cprec_failure *why)
{
	const struct cprec_code code = {
		.size = sizeof(code), .start = addr, .count = count,
	};
	struct code_listing listing = { .session = session };
	int rc = find_pc(session->cursor, &listing.pc, why);

	if (!rc)
		rc = cprec_each_instruction(session->cursor, &code,
					    on_instruction, &listing, why);
	session->examined = listing.behind;
	return rc;
}

int do_examine(struct session *session, const char *args,
	       struct cprec_failure *why)
{
	struct format format;
	uint64_t addr = session->examined;
	bool has_format = *args == '/';
	int rc = take_format(&args, &format, why);

	if (!rc && *args)
		rc = find_address(session, args, &addr, why);
	if (rc)
		return rc;
	/* What is not said is as before. */
	if (!has_format || !format.letter)
		format.letter = session->examined_letter;
	if (!has_format)
		format.unit = session->examined_unit;
	session->examined_letter = format.letter;
	session->examined_unit = format.unit;
	if (format.letter == 'i')
		return show_code(session, addr, format.count, why);
	for (uint64_t i = 0; format.letter == 's' && !rc && i < format.count;
	     i++)
		rc = show_string(session, &addr, why);
	session->examined = addr;
	if (rc || format.letter == 's')
		return rc;
	if (!format.unit)
		format.unit = format.letter == 'a' || format.letter == 'f' ?
				      8 : format.letter == 'c' ? 1 : 4;
	return show_numbers(session, &format, addr, why);
}

/* ------- displays ------- */

static int show_display(struct session *session, const struct display *display)
{
	bool is_memory = *display->command == 'x';
	uint64_t examined = session->examined;
	struct cprec_failure why;
	int rc;

	printf("%u: %s%c", display->number, is_memory ? display->command :
	       strchr(display->command, ' ') + 1, is_memory ? '\n' : ' ');
	fflush(stdout);
	rc = session_do(session, display->command, &why);
	session->examined = examined;
	if (rc && rc != CPREC_CANCELLED)
		printf("<%s>\n", why.text);
	return rc == CPREC_CANCELLED ? rc : 0;
}

int show_displays(struct session *session, struct cprec_failure *why)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < session->display_count; i++)
		rc = show_display(session, &session->displays[i]);
	return rc ? wrong(why, "interrupted"), rc : 0;
}

static int add_display(struct session *session, char *command,
		       struct cprec_failure *why)
{
	if (session->display_count == session->display_room) {
		size_t room = 2 * session->display_room + 8;
		struct display *more = reallocarray(session->displays, room,
						    sizeof(*more));

		if (!more) {
			free(command);
			return no_memory(why);
		}
		session->displays = more;
		session->display_room = room;
	}
	session->displays[session->display_count++] = (struct display) {
		.number = ++session->next_display, .command = command,
	};
	return show_display(session,
			    &session->displays[session->display_count - 1]);
}

int do_display(struct session *session, const char *args,
	       struct cprec_failure *why)
{
	const char *rest = args;
	struct format format;
	char *command;
	int rc = take_format(&rest, &format, why);
	bool is_memory = format.unit || format.letter == 'i' ||
			 format.letter == 's';

	if (rc)
		return rc;
	if (!*args)
		return show_displays(session, why);
	if (!*rest)
		return wrong(why, "an expression is missing");
	rc = check_here(session, rest, why);
	if (rc)
		return rc;
	if (asprintf(&command, "%s%.*s %s", is_memory ? "x" : "print",
		     (int)strcspn(args, *args == '/' ? " \t" : args), args,
		     rest) < 0)
		return no_memory(why);
	return add_display(session, command, why);
}

int do_undisplay(struct session *session, const char *args,
		 struct cprec_failure *why)
{
	uint64_t number;
	size_t kept = 0;
	int rc = take_count(args, 0, &number, why);

	if (rc)
		return rc;
	for (size_t i = 0; i < session->display_count; i++) {
		struct display *one = &session->displays[i];

		if (!number || one->number == number)
			free(one->command);
		else
			session->displays[kept++] = *one;
	}
	if (number && kept == session->display_count)
		return wrong(why, "there is no display %" PRIu64, number);
	session->display_count = kept;
	return 0;
}

/* ------- registers ------- */

struct registers {
	const char *wanted;	/* with blanks between; "": the general ones */
	bool all, any;
};

static bool is_asked_for(const struct registers *registers,
			 const struct cprec_register *reg)
{
	const char *at = registers->wanted;
	size_t length = strlen(reg->name);

	if (!*at)
		return registers->all || reg->is_general;
	for (; (at = strstr(at, reg->name)); at += length)
		if ((at == registers->wanted || strchr(" $,", at[-1])) &&
		    (!at[length] || strchr(" ,", at[length])))
			return true;
	return false;
}

static int on_register(void *context, const struct cprec_register *reg)
{
	struct registers *registers = context;

	if (!is_asked_for(registers, reg))
		return 0;
	registers->any = true;
	printf("%-15s", reg->name);
	if (!reg->is_known) {
		puts("<not known>");
		return 0;
	}
	if (reg->length <= 8) {
		printf("0x%-18" PRIx64 "%" PRId64 "\n", reg->value,
		       (int64_t)reg->value);
		return 0;
	}
	fputs("0x", stdout);
	for (uint32_t i = reg->length; i-- > 0;)
		printf("%02x", reg->bytes[i]);
	putchar('\n');
	return 0;
}

/* One that is not of the list, but a part or a second name. */
static int show_part(struct session *session, const char *name,
		     struct cprec_failure *why)
{
	const struct cprec_value *value;
	char expression[32];
	uint64_t number = 0;
	int rc;

	name += *name == '$';
	snprintf(expression, sizeof(expression), "$%s", name);
	rc = cprec_evaluate(session->cursor, expression, NULL, &value, why);
	if (rc || !value->bytes)
		return rc ? rc : wrong(why, "$%s is not known", name);
	if (value->length <= sizeof(number))
		memcpy(&number, value->bytes, value->length);
	return on_register(&(struct registers){ .all = true, .wanted = "" },
			   &(struct cprec_register){
				.name = name, .length = (uint32_t)value->length,
				.bytes = value->bytes, .value = number,
				.is_known = true, .is_general = true,
			   });
}

int do_registers(struct session *session, const char *args,
		 struct cprec_failure *why)
{
	struct registers registers = {
		.all = is_word(args, "all"),
	};
	int rc;

	registers.wanted = registers.all ? "" : args;
	rc = cprec_each_register(session->cursor, on_register, &registers,
				 why);
	return rc || registers.any ? rc : show_part(session, args, why);
}

/* ------- bit-fields ------- */

char *bits_text(const struct cprec_bits *bits, const uint8_t *bytes,
		const uint8_t *known)
{
	uint64_t number;
	char *text;
	int size;

	if (!bytes || !bit_field_read(bytes, known, bits->bit_offset,
				      bits->bit_size, &number))
		return NULL;
	size = bits->is_signed ?
		asprintf(&text, "%" PRId64,
			 bit_field_signed(number, bits->bit_size)) :
		asprintf(&text, "%" PRIu64, number);
	return size < 0 ? NULL : text;
}

/* ------- what is shown of memory ------- */

static char *shown_bits(struct cprec_cursor *cursor,
			const struct cprec_bits *what)
{
	const struct cprec_memory *memory;

	return cprec_read(cursor, what->addr, what->length, &memory, NULL) ?
		       NULL : bits_text(what, memory->bytes, memory->known);
}

char *shown_value(struct cprec_cursor *cursor, const struct cprec_bits *what,
		  const char *shown)
{
	const struct cprec_value *value;

	if (what && what->bit_size)
		return shown_bits(cursor, what);
	return shown && !cprec_evaluate(cursor, shown, NULL, &value, NULL) &&
			       value->text ?
		       strdup(value->text) : NULL;
}
