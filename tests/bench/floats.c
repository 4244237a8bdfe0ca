/* SPDX-License-Identifier: GPL-2.0-or-later */
/* floats.c - a floating-point kernel: planets, a matrix, a fractal */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 5, SIDE = 96 };

static double place[BODIES][3], speed[BODIES][3], mass[BODIES];
static double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];

static void attract(int i, int j)
{
	double d[3], square = 0, force;

	for (int k = 0; k < 3; k++) {
		d[k] = place[i][k] - place[j][k];
		square += d[k] * d[k];
	}
	force = 0.001 / (square * sqrt(square));
	for (int k = 0; k < 3; k++) {
		speed[i][k] -= d[k] * mass[j] * force;
		speed[j][k] += d[k] * mass[i] * force;
	}
}

static double planets(int steps)
{
	for (int i = 0; i < BODIES; i++) {
		mass[i] = 1.0 + i;
		for (int k = 0; k < 3; k++)
			place[i][k] = cos(3.0 * i + k) * (4 + i);
	}
	while (steps-- > 0) {
		for (int i = 0; i < BODIES; i++)
			for (int j = i + 1; j < BODIES; j++)
				attract(i, j);
		for (int i = 0; i < BODIES; i++)
			for (int k = 0; k < 3; k++)
				place[i][k] += 0.001 * speed[i][k];
	}
	return place[0][0] + place[4][2];
}

static double multiply(void)
{
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			a[i][j] = i + 0.5 * j;
			b[i][j] = i - 0.25 * j;
		}
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			double sum = 0;

			for (int k = 0; k < SIDE; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
	return c[3][5] + c[90][17];
}

static long fractal(int side)
{
	long total = 0;

	for (int i = 0; i < side * side; i++) {
		double x0 = 3.0 * (i % side) / side - 2.0;
		double y0 = 2.0 * (i / side) / side - 1.0;
		double x = 0, y = 0;

		for (int n = 0; n < 50 && x * x + y * y < 4; n++, total++) {
			double kept = x * x - y * y + x0;

			y = 2 * x * y + y0;
			x = kept;
		}
	}
	return total;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	printf("%.15g\n", planets(rounds * 20000));
	for (int i = 0; i < rounds; i++)
		multiply();
	printf("%.15g %ld\n", c[5][7], fractal(rounds * 40));
	return 0;
}
