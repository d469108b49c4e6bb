/* host/rig/client.h - inside of the rig's client; rig.h is for others. */
#ifndef HOST_RIG_CLIENT_H
#define HOST_RIG_CLIENT_H

#include "host/rig/rig.h"
#include "host/rig/timefit.h"
#include "host/rig/transport.h"

#define CLIENT_WINDOW 4u
#define CLIENT_TX     8192u
#define CLIENT_NAME   320u

/* Where the command that a caller waits for stands. */
enum op_state {
	OP_IDLE,
	OP_NEW, /* not sent in this session */
	OP_SENT,
	OP_UNKNOWN, /* the link was lost before its result came */
	OP_ASKED,   /* GetOp is under way */
	OP_DONE,
};

struct op {
	enum op_state state;
	uint64_t id;
	uint64_t ask_id;
	bool ever_sent;
	bool reads;       /* changes nothing: may be repeated */
	bool reset;       /* the rig was reset while it was under way */
	uint32_t boot_id; /* of the rig it was first sent to */
	uint16_t len;
	uint8_t bytes[FRAME_PAYLOAD_MAX];
	Result *result;
};

struct rig {
	uv_loop_t *loop;
	struct rig_address address; /* texts are copies */
	char *path;
	char *usb_serial;
	const struct rig_ops *ops;
	void *arg;
	uint32_t answer_ms;
	char where[CLIENT_NAME];
	char why[ERR_TEXT_BYTES]; /* the link is down: the last reason */

	struct transport io;
	uv_poll_t poll;
	bool polling;
	uv_timer_t timer;  /* session */
	uv_timer_t reopen; /* carrier */
	uv_timer_t wait;   /* wakes a waiting function */
	unsigned handles;  /* open uv handles, for rig_close() */
	bool cancelled;

	struct session session;
	struct session_packet packets[CLIENT_WINDOW];
	uint8_t payloads[CLIENT_WINDOW * FRAME_PAYLOAD_MAX];
	uint8_t tx[CLIENT_TX];
	struct control_hello peer;
	struct control_info info;
	bool ever_up;
	bool all_off_done;
	uint32_t rtt_us;
	struct timefit clock;

	uint64_t next_op_id;
	struct op op;
	RigStatus refusal;
	uint32_t refusal_detail;

	uint32_t last_event; /* delivered */
	uint32_t last_line;  /* of the log, delivered; of this boot */
	uint32_t acked_event;
	bool ask_events;
	uint32_t wanted_event; /* rig_wait_events() */
	uint32_t dirty_slots;  /* had an event; for slots.c */
};

/* Move bytes both ways and set the timer. Call it after anything was put
 * into the session. */
void client_pump(struct rig *r);

/* Run the loop until done(r), rig_cancel() or the deadline (0 = none).
 * 0, -ECANCELED or -ETIME. */
int client_wait(struct rig *r, bool (*done)(struct rig *r), uint64_t ms);

uint64_t client_now_us(void);

/* The carrier (carrier.c). Once open it is opened anew by itself whenever it
 * is lost, until carrier_close(), which leaves handles to be waited for. */
int carrier_open(struct rig *r, struct err *err);
void carrier_close(struct rig *r);

/* What the session tells (news.c), and what is said for it when its turn has
 * come: which events have arrived, and from where on they are wanted. */
extern const struct session_ops news_ops;
void news_ack_events(struct rig *r);
void news_ask_events(struct rig *r);
uint32_t news_random(void *arg); /* arg is not used */

/* A command that nobody waits for here (command.c): its answer comes by the
 * channel that it asks for, or is looked for by *op_id (may be NULL). cmd has
 * no text. False: the session takes nothing now; try when it moves on. */
bool op_send_aside(struct rig *r, Command *cmd, uint64_t *op_id);

/* The session's news for the command under way (command.c). */
void op_session_lost(struct rig *r);
void op_push(struct rig *r); /* send what can be sent now */
void op_result(struct rig *r, const uint8_t *bytes, size_t len);

#endif
