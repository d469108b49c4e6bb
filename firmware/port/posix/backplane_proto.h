/* port/posix/backplane_proto.h - what bay-firmware-posix and the backplane
 * say to each other: text lines over a Unix stream socket on which the
 * firmware listens (--backplane PATH); one client, a later one replaces it.
 *
 * From the firmware:
 *   hello 1 SLOTS          first line to each client
 *   reset CAUSE            the MCU starts: all gates are off (CAUSE: number of
 *                          enum reset_cause)
 *   gate SLOT RAIL LEVEL   RAIL 5 or 12; LEVEL 1 = on. All that are on are
 *                          told after hello.
 *   now US                 answer to advance
 *
 * To the firmware, in any order, each in force at once:
 *   rail SLOT RAIL VOUT_MV IOUT_MA VIN_MV    what the monitors measure
 *   temperature MDEGC                        of the board
 *   activity SLOT LEVEL                      0 = active; idle is 1
 *   part ADDRESS PRESENT                     0: stops to answer on the bus
 *   advance US                               --stepped only: time goes on by
 *                                            US, then "now" is answered
 *   reset CAUSE                              reset the MCU
 *   hang                                     the main loop stops for ever; the
 *                                            watchdog (real time) resets
 * An unknown line is ignored. Before the first rail line a rail reads 0 mV,
 * 0 mA and its nominal input; the board 25 degrees; activity idle.
 */
#ifndef PORT_POSIX_BACKPLANE_PROTO_H
#define PORT_POSIX_BACKPLANE_PROTO_H

#define BACKPLANE_PROTO_VERSION 1
#define BACKPLANE_PROTO_LINE    80 /* longest line, newline included */

#endif
