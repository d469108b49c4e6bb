/* hal/types.h - what every part of the firmware shares.
 *
 * rig_status, slot_state, slot_fault, rail_id and the configuration messages
 * come from proto/rig.proto: a value means the same in the firmware and on
 * the wire. */
#ifndef HAL_TYPES_H
#define HAL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/rig.pb.h"

#define RIG_MUST_USE  __attribute__((warn_unused_result))
#define RIG_SLOTS_MAX 8u
#define RIG_RAILS     2u /* RAIL_5V, RAIL_12V */

/* A pin of the MCU: port 0 = A. */
struct hal_pin {
	uint8_t port;
	uint8_t bit;
};

#endif
