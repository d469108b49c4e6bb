/* host/store/result.h - the rows of one result, inside host/store. */
#ifndef HOST_STORE_RESULT_H
#define HOST_STORE_RESULT_H

#include "host/store/store.h"

/* Enter a result with its metrics, and its environment unless the same one is
 * there. Inside the caller's transaction. 0, or as db.h; s->err says what. */
int result_enter(struct store *s, const Bay__CellResult *r);

#endif
