/* SPDX-License-Identifier: GPL-2.0-or-later */
/* other.h - the other file of names.c */
int other(int n);
