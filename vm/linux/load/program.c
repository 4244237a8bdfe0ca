/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program.c - from what a user typed to the file and arguments to be loaded */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/host/host.h"
#include "vm/linux/linux.h"
#include "vm/linux/load/load_internal.h"
#include "vm/linux/process.h"

static int no_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

int program_open(const char *path, int *fd, struct failure *why)
{
	struct stat file;

	if (stat(path, &file) && errno == ENOENT)
		return failed(why, ERR_NOT_FOUND,
			      "cannot run '%s': there is no such program",
			      path);
	if (stat(path, &file))
		return failed(why, ERR_INPUT, "cannot run '%s': %s", path,
			      strerror(errno));
	if (S_ISDIR(file.st_mode))
		return failed(why, ERR_INPUT,
			      "cannot run '%s': it is a directory", path);
	if (!S_ISREG(file.st_mode))
		return failed(why, ERR_INPUT,
			      "cannot run '%s': it is not a regular file",
			      path);
	if (access(path, X_OK))
		return failed(why, ERR_INPUT,
			      "cannot run '%s': it is not executable", path);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return failed(why, ERR_INPUT, "cannot read '%s': %s", path,
			      strerror(errno));
	return 0;
}

/* Whether a file that exists is in a folder or below. */
static bool is_below(const char *path, const char *folder)
{
	char *real = realpath(path, NULL);
	size_t length = strlen(folder);
	bool is = real && !strncmp(real, folder, length) &&
		  real[length] == '/';

	free(real);
	return is;
}

void interpreter_place(char *path, const char *sysroot, const char *script,
		       const struct linux_process *process, const char *name)
{
	int size = sysroot && *name == '/' && is_below(script, sysroot) ?
		snprintf(path, PATH_MAX, "%s%s", sysroot, name) : PATH_MAX;

	if (size < PATH_MAX && !access(path, F_OK))
		return;
	snprintf(path, PATH_MAX, "%s", name);
	if (process)
		sysroot_redirect(process, process->abi, path);
}

/* The file of that name, which is there. */
static int open_named(struct program *program, const char *name,
		      const char *path, struct failure *why)
{
	program->name = strdup(name);
	program->path = strdup(path);
	if (!program->name || !program->path)
		return no_memory(why);
	return program_open(program->path, &program->fd, why);
}

static void close_named(struct program *program)
{
	if (program->fd >= 0)
		close(program->fd);
	program->fd = -1;
	free(program->name);
	free(program->path);
	program->name = program->path = NULL;
}

/* ------- PATH ------- */

static const char *search_path(char *const *envp)
{
	for (size_t i = 0; envp && envp[i]; i++)
		if (!strncmp(envp[i], "PATH=", 5))
			return envp[i] + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

static bool is_program(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISREG(file.st_mode) &&
	       !access(path, X_OK);
}

/* The first program of that name in PATH; failing that, any such file. */
static int search(char **out, const char *name, char *const *envp,
		  struct failure *why)
{
	char path[PATH_MAX], other[PATH_MAX] = "";
	const char *at = search_path(envp);

	for (;;) {
		size_t length = strcspn(at, ":");
		int size = snprintf(path, sizeof(path), "%.*s%s%s",
				    (int)length, at, length ? "/" : "", name);

		if (size > 0 && (size_t)size < sizeof(path)) {
			if (is_program(path)) {
				*out = strdup(path);
				return *out ? 0 : no_memory(why);
			}
			if (!*other && !access(path, F_OK))
				memcpy(other, path, (size_t)size + 1);
		}
		if (!at[length])
			break;
		at += length + 1;
	}
	if (!*other)
		return failed(why, ERR_NOT_FOUND,
			      "cannot run '%s': there is no such program in PATH",
			      name);
	*out = strdup(other);
	return *out ? 0 : no_memory(why);
}

/* ------- `#!` ------- */

/* The script's arguments: interpreter, argument of the line, path, rest. */
static int put_before(struct program *program, const struct script *line)
{
	size_t more = line->argument ? 2 : 1;
	size_t rest = program->argc ? program->argc - 1 : 0;
	char **argv = calloc(more + 1 + rest + 1, sizeof(*argv));

	if (!argv)
		return ERR_NO_MEMORY;
	argv[0] = strdup(line->interpreter);
	if (line->argument)
		argv[1] = strdup(line->argument);
	argv[more] = strdup(program->name);
	for (size_t i = 0; i < rest; i++)
		argv[more + 1 + i] = program->argv[i + 1];
	if (program->argc)
		free(program->argv[0]);
	free(program->argv);
	program->argv = argv;
	program->argc = more + 1 + rest;
	return argv[0] && argv[more] && (more == 1 || argv[1]) ?
		       0 :
		       ERR_NO_MEMORY;
}

static int follow(struct program *program, const struct linux_process *process,
		  const char *sysroot, const struct script *line,
		  struct failure *why)
{
	char path[PATH_MAX];

	if (!*line->interpreter)
		return failed(why, ERR_INPUT,
			      "cannot run '%s': its first line names no interpreter",
			      program->path);
	interpreter_place(path, sysroot, program->path, process,
			  line->interpreter);
	if (access(path, F_OK))
		return failed(why, ERR_INPUT,
			      "cannot run '%s': its interpreter '%s': %s",
			      program->path, line->interpreter,
			      strerror(errno));
	if (put_before(program, line))
		return no_memory(why);
	close_named(program);
	return open_named(program, line->interpreter, path, why);
}

static int follow_scripts(struct program *program,
			  const struct linux_process *process,
			  const char *sysroot, struct failure *why)
{
	struct script line;

	for (int i = 0;; i++) {
		int rc = script_read(&line, program->fd);

		if (rc < 0)
			return failed(why, ERR_SYSTEM, "cannot read '%s': %s",
				      program->path, strerror(-rc));
		if (!rc)
			return 0;
		if (i == SCRIPTS_MOST)
			return failed(why, ERR_INPUT,
				      "cannot run '%s': too many interpreters "
				      "of interpreters",
				      program->typed);
		rc = follow(program, process, sysroot, &line, why);
		if (rc)
			return rc;
	}
}

/* What the kernel refuses, execvp(3) has the shell read, if it can be text. */
static int follow_text(struct program *program, const char *sysroot,
		       struct failure *why)
{
	char shell[] = "/bin/sh";
	const struct script line = { .interpreter = shell };

	if (strcmp(program->name, program->typed) != 0 ||
	    !script_may_be_text(program->fd))
		return 0;
	return follow(program, NULL, sysroot, &line, why);
}

static int copy_arguments(struct program *program, char *const *argv)
{
	while (argv[program->argc])
		program->argc++;
	program->argv = calloc(program->argc + 1, sizeof(*program->argv));
	if (!program->argv)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < program->argc; i++) {
		program->argv[i] = strdup(argv[i]);
		if (!program->argv[i])
			return ERR_NO_MEMORY;
	}
	return 0;
}

int program_find(struct program *out, const struct linux_options *options,
		 struct failure *why)
{
	const char *name = options->program;
	char *sysroot;
	int rc;

	*out = (struct program){ .fd = -1 };
	if (copy_arguments(out, options->argv))
		return no_memory(why);
	if (!*name)
		return failed(why, ERR_NOT_FOUND,
			      "cannot run '': it has no name");
	if (strchr(name, '/')) {
		out->typed = strdup(name);
		if (!out->typed)
			return no_memory(why);
	} else {
		rc = search(&out->typed, name, options->envp, why);
		if (rc)
			return rc;
	}
	sysroot = sysroot_find(options);
	rc = open_named(out, out->typed, out->typed, why);
	if (!rc)
		rc = follow_scripts(out, NULL, sysroot, why);
	if (!rc)
		rc = follow_text(out, sysroot, why);
	free(sysroot);
	return rc;
}

const struct linux_abi *program_abi(int fd)
{
	Elf64_Ehdr header;	/* of any class, up to what is looked at */
	const size_t size = offsetof(Elf64_Ehdr, e_version);

	if (pread(fd, &header, size, 0) != (ssize_t)size ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return NULL;
	return linux_abi_of_machine(header.e_machine,
				    header.e_ident[EI_CLASS]);
}

int program_at(struct program *out, const struct linux_process *process,
	       const char *name, char *const *argv, struct failure *why)
{
	char path[PATH_MAX];
	int rc;

	*out = (struct program){ .fd = -1 };
	if (copy_arguments(out, argv))
		return no_memory(why);
	out->typed = strdup(name);
	if (!out->typed)
		return no_memory(why);
	snprintf(path, sizeof(path), "%s", name);
	sysroot_redirect(process, process->abi, path);
	rc = open_named(out, name, path, why);
	return rc ? rc : follow_scripts(out, process, process->sysroot, why);
}

void program_release(struct program *program)
{
	close_named(program);
	for (size_t i = 0; i < program->argc; i++)
		free(program->argv[i]);
	free(program->argv);
	free(program->typed);
	*program = (struct program){ .fd = -1 };
}
