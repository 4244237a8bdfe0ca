/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arguments_arm64.c - calls with arguments in all places that there are */
struct large {
	long a, b, c;
};

struct small {
	long a;
	int b;
};

struct alike {
	float a, b, c, d;
};

struct odd {
	double a;
	long b;
};

typedef int pair __attribute__((vector_size(8)));

struct pairs {
	pair a, b;
};

__attribute__((noinline)) struct alike four(float a, struct alike b)
{
	b.d += a;
	return b;
}

__attribute__((noinline)) struct odd both(struct odd a)
{
	a.a *= 2;
	return a;
}

__attribute__((noinline)) struct pairs vectors(pair a, struct pairs b)
{
	b.b += a;
	return b;
}

__attribute__((noinline)) int ten(int a, long b, char c, short d, unsigned e,
				  long f, int g, long h, int i, long j)
{
	return (int)(a + b + c + d + e + f + g + h + i + j);
}

__attribute__((noinline)) double mixed(double x, int a, float y,
				       struct large l, struct small s)
{
	return x + a + y + (double)l.c + s.b;
}

__attribute__((noinline)) struct small two(int a)
{
	return (struct small){ a, a + 1 };
}

__attribute__((noinline)) long double quarter(long double a, int b)
{
	return (a + b) / 4;
}

int main(void)
{
	const struct large large = { 1, 2, 3 };
	const struct small small = { 4, 5 };
	const struct alike alike = { 1, 2, 3, 4 };
	const struct pairs pairs = { { 3, 4 }, { 5, 6 } };

	if (four(0.5f, alike).d != 4.5f ||
	    both((struct odd){ 1.5, 7 }).a != 3 ||
	    vectors((pair){ 1, 2 }, pairs).b[1] != 8)
		return 1;

	return ten(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) != 55 ||
	       mixed(0.5, 7, 0.25f, large, small) != 15.75 || two(6).b != 7 ||
	       quarter(1.5L, 6) != 1.875L;
}
