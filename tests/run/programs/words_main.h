/* SPDX-License-Identifier: GPL-2.0-or-later */
/* words_main.h - see words.h */

/* The words of one round lie side by side. */
#define ROUND 256
#define APART 16		/* bytes from one to the next */

static const void *places[ROUND];

static void write_words(const struct group *group, uint32_t *words)
{
	for (int i = 0; i < ROUND; i++) {
		words[i] = draw_word(group);
		places[i] = write_word(group, words[i],
				       FIRST_WORD + APART * i);
	}
	__builtin___clear_cache((char *)FIRST_WORD,
				(char *)FIRST_WORD + APART * ROUND);
}

static void execute(uint32_t word, const void *place, int is_shown)
{
	got = 0;
	memset(&state.after, 0, sizeof(state.after));
	if (is_shown)
		show("before", &state.before);
	run(&state, place);
	if (is_shown)
		show("after", &state.after);
	printf("%08x %016llx %d\n", word, (unsigned long long)
	       hash(&state.after, sizeof(state.after)), got);
}

static const struct group *find_group(const char *name)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (!strcmp(groups[i].name, name))
			return &groups[i];
	exit(2);
}

int main(int argc, char **argv)
{
	const struct group *group = find_group(argc > 3 ? argv[1] : "");
	long count = atol(argv[3]), first = argc > 4 ? atol(argv[4]) : -1;
	static uint8_t data[DATA_SIZE];
	uint32_t words[ROUND];

	seed = strtoul(argv[2], NULL, 0);
	map(CODE_AT, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);
	map(DATA_AT, DATA_SIZE, PROT_READ | PROT_WRITE);
	memcpy(data, DATA_AT, DATA_SIZE);
	memcpy(CODE_AT, leave, (size_t)((const uint8_t *)leave_end -
					(const uint8_t *)leave));
	catch_signals();
	for (long i = 0; i < count; i++) {
		if (i % ROUND == 0)
			write_words(group, words);
		draw_registers(group);
		execute(words[i % ROUND], places[i % ROUND], i == first);
		if (i % ROUND == ROUND - 1) {
			printf("memory %016llx\n", (unsigned long long)
			       hash(DATA_AT, DATA_SIZE));
			memcpy(DATA_AT, data, DATA_SIZE);
		}
	}
	return 0;
}
