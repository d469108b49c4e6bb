/* main.c - fills struct app from the board's tables and runs the loop. */
#include "firmware/app/app.h"
#include "firmware/hal/idle.h"

static struct app app;

int main(void)
{
	app_init(&app, &board);
	for (;;)
		hal_idle(app_run(&app));
}
