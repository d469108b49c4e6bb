/* app/configure.h - a new configuration: staged message by message, checked
 * as a whole, stored, and only then in force. Task context. */
#ifndef APP_CONFIGURE_H
#define APP_CONFIGURE_H

#include "firmware/app/app.h"

/* Load what is stored, or the board's defaults. */
void configure_init(struct app *app);

/* Forget what was staged before, start from what is in force.
 * RIG_OK; RIG_STALE: generation is not above the one in force; RIG_RANGE:
 * more slots than the board has. */
RIG_MUST_USE rig_status configure_begin(struct app *app,
					const ConfigBegin *begin);

/* RIG_OK; RIG_STATE: no begin; RIG_RANGE: no such slot; RIG_INVALID: came
 * already. */
RIG_MUST_USE rig_status configure_rig(struct app *app, const RigConfig *rig);
RIG_MUST_USE rig_status configure_slot(struct app *app, const SlotConfig *slot);

/* Check, store, put in force.
 *   detail  out: what is wrong: field, see config_check(), or slot
 * RIG_OK; RIG_STATE: no begin, messages missing, or a slot whose limits
 * change holds a fault; RIG_BUSY: a slot has power; RIG_STALE: another
 * generation than begun; RIG_CRC; RIG_RANGE; RIG_STORAGE. Unless RIG_OK or
 * RIG_STORAGE nothing was written; the old one stays in force. Blocks for up
 * to 0.3 s. */
RIG_MUST_USE rig_status configure_commit(struct app *app,
					 const ConfigCommit *commit,
					 uint32_t *detail, uint64_t now_us);

#endif
