// Four phases over the same matrices: what a long trace looks like from near and from far. Some 20 million references.
#include "orrery.h"
#include <stdio.h>
#include <stdlib.h>

enum { N = 160, BLOCK = 16, LINKS = 1 << 16, STEPS = 3000000 };

static double A[N][N], B[N][N], C[N][N];
static unsigned next[LINKS];

int main(void)
{
	orrery_mark("fill");
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			A[i][j] = i + j, B[i][j] = i - j;
	for (unsigned n = 0; n < LINKS; n++)
		next[n] = (n * 40503u + 12345u) % LINKS;

	orrery_mark("multiply");
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				C[i][j] += A[i][k] * B[k][j];

	orrery_mark("multiply by blocks");
	for (int ii = 0; ii < N; ii += BLOCK)
		for (int jj = 0; jj < N; jj += BLOCK)
			for (int kk = 0; kk < N; kk += BLOCK)
				for (int i = ii; i < ii + BLOCK; i++)
					for (int j = jj; j < jj + BLOCK; j++)
						for (int k = kk; k < kk + BLOCK; k++)
							C[i][j] += A[i][k] * B[k][j];

	orrery_mark("chase");
	unsigned at = 0;
	for (int n = 0; n < STEPS; n++)
		at = next[at];
	printf("%g %u\n", C[N / 2][N / 3], at);
	return 0;
}
