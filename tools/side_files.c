/* SPDX-License-Identifier: GPL-2.0-or-later */
/* side_files.c - see side_files.h */
#include "tools/side_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/family_path.h"

void side_file_remove(const char *recording)
{
	char *path = family_side_file(recording, NULL);

	if (path)
		unlink(path);
	free(path);
}

void side_file_move(const char *from, const char *to)
{
	char *path = family_side_file(from, NULL);
	char *to_path = family_side_file(to, NULL);

	/* What an earlier recording may have left there is of no use. */
	if (path && to_path && rename(path, to_path))
		unlink(to_path);
	free(path);
	free(to_path);
}
