/* app/configure.h - a new configuration: staged message by message, checked
 * as a whole, stored, and only then in force. Task context. */
#ifndef APP_CONFIGURE_H
#define APP_CONFIGURE_H

#include "firmware/app/app.h"

/* Load what is stored, or the board's defaults. */
void configure_init(struct app *app);

/* Forget what was staged before, start from what is in force. All of these
 * block for the storage, up to 0.2 s, in which nothing is sampled: RIG_BUSY
 * while a slot has power.
 * RIG_OK; RIG_BUSY; RIG_STALE: generation is not above the one in force;
 * RIG_RANGE: more slots than the board has; RIG_STORAGE. */
RIG_MUST_USE rig_status configure_begin(struct app *app,
					const ConfigBegin *begin);

/* RIG_OK; RIG_BUSY; RIG_STORAGE; RIG_INVALID: came already; RIG_RANGE: no such
 * slot; RIG_STATE: no begin, or the slot holds a fault and its limits would
 * change. */
RIG_MUST_USE rig_status configure_rig(struct app *app, const RigConfig *rig);
RIG_MUST_USE rig_status configure_slot(struct app *app, const SlotConfig *slot);

/* Check the whole, commit it, put it in force.
 *   detail  out: what is wrong: field, see config_check(), or slot
 * RIG_OK; RIG_STATE: no begin, or messages missing; RIG_BUSY; RIG_STALE:
 * another generation than begun; RIG_CRC; RIG_RANGE; RIG_STORAGE. Unless
 * RIG_OK the one before stays in force. */
RIG_MUST_USE rig_status configure_commit(struct app *app,
					 const ConfigCommit *commit,
					 uint32_t *detail, uint64_t now_us);

#endif
