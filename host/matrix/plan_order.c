/* In which order the cells of a matrix run. */
#include "host/matrix/plan_priv.h"

#include <errno.h>
#include <stdlib.h>

/* SplitMix64 (Steele, Lea, Flood 2014): any seed is a good one. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void shuffle(size_t *list, size_t n, uint64_t seed)
{
	size_t i, k, t;

	for (i = 0; i < n; i++)
		list[i] = i;
	for (i = n; i > 1; i--) {
		k = (size_t)(next_random(&seed) % i);
		t = list[i - 1];
		list[i - 1] = list[k];
		list[k] = t;
	}
}

/* Which axes have a place of their own in the order. */
struct special {
	int kernel, compare; /* index of the axis, -1 = none */
};

static struct special find_special(const struct matrix *m)
{
	const struct axis *kernel = axis_find(m, "kernel");
	const struct axis *compare =
		m->compare ? axis_find(m, m->compare) : NULL;
	struct special s;

	s.kernel = kernel ? (int)(kernel - m->axes) : -1;
	s.compare = compare ? (int)(compare - m->axes) : -1;
	/* Kernels are compared if nothing else was asked for. */
	if (!m->compare && kernel && kernel->n > 1)
		s.compare = s.kernel;
	return s;
}

static bool same_block(const struct matrix *m, const struct special *s,
		       const struct point *a, const struct point *b)
{
	unsigned i;

	for (i = 0; i < m->n_axes; i++)
		if ((int)i != s->kernel && (int)i != s->compare &&
		    a->at[i] != b->at[i])
			return false;
	return true;
}

/* Number the combinations of all other axes. Quadratic only in the number of
 * blocks; the limit on cells keeps it bearable. */
static size_t number_blocks(const struct matrix *m, const struct special *s,
			    struct points *p, size_t *first)
{
	size_t n = 0, i, b;

	for (i = 0; i < p->n; i++) {
		struct point *pt = &p->list[i];

		pt->kernel = s->kernel < 0 ? 0 : pt->at[s->kernel];
		pt->compare = s->compare < 0 ? 0 : pt->at[s->compare];
		/* Neighbours mostly share the block: look backwards. */
		for (b = n; b > 0; b--)
			if (same_block(m, s, pt, &p->list[first[b - 1]]))
				break;
		if (!b) {
			first[n++] = i;
			b = n;
		}
		pt->block = b - 1;
	}
	return n;
}

/* A B | B A | A B: turned in every second repeat, so that a drift hits both
 * sides alike. */
static unsigned turned(unsigned index, unsigned n, bool turn)
{
	return turn ? n - 1 - index : index;
}

static void set_sort(const struct matrix *m, const struct special *s,
		     struct point *p)
{
	unsigned kernels = s->kernel < 0 ? 1 : m->axes[s->kernel].n;
	unsigned sides = s->compare < 0 ? 1 : m->axes[s->compare].n;
	bool odd_repeat = p->repeat & 1;

	if (s->compare == s->kernel) {
		p->sort[0] = (uint64_t)p->repeat * kernels +
			     turned(p->kernel, kernels, odd_repeat);
		p->sort[2] = 0;
	} else {
		p->sort[0] = (uint64_t)p->kernel * m->repeats + p->repeat;
		p->sort[2] =
			turned(p->compare, sides, odd_repeat ^ (p->place & 1));
	}
	p->sort[1] = p->place;
}

static int by_sort(const void *a, const void *b)
{
	const struct point *x = a, *y = b;
	int i;

	for (i = 0; i < 3; i++)
		if (x->sort[i] != y->sort[i])
			return x->sort[i] < y->sort[i] ? -1 : 1;
	return 0;
}

int plan_order_points(const struct matrix *m, struct points *p)
{
	struct special s = find_special(m);
	size_t *first, *place, blocks, i, k;
	uint64_t seed;
	unsigned r;

	if (!p->n || !p->list)
		return 0;
	first = malloc(p->n * sizeof(*first));
	place = calloc(p->n, sizeof(*place));
	if (!first || !place) {
		free(first);
		free(place);
		return -ENOMEM;
	}
	blocks = number_blocks(m, &s, p, first);
	for (r = 0; r < m->repeats; r++) {
		seed = m->seed + r * UINT64_C(0x632be59bd9b4e019);
		shuffle(first, blocks, next_random(&seed));
		for (k = 0; k < blocks; k++)
			place[first[k]] = k;
		for (i = 0; i < p->n; i++)
			if (p->list[i].repeat == r)
				p->list[i].place = place[p->list[i].block];
	}
	free(first);
	free(place);
	for (i = 0; i < p->n; i++)
		set_sort(m, &s, &p->list[i]);
	qsort(p->list, p->n, sizeof(*p->list), by_sort);
	return 0;
}
