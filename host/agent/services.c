#include "host/agent/agent.h"

/* server.c answers Ping and Cancel, and Hello again while the worker works. */
const struct service services[] = {
	{ BAY__REQUEST__OP_HELLO, "hello", svc_hello, true },
	{ BAY__REQUEST__OP_INVENTORY, "inventory", svc_inventory, false },
	{ BAY__REQUEST__OP_WAIT_DISKS, "wait_disks", svc_wait_disks, false },
	{ BAY__REQUEST__OP_ARRAY_CREATE, "array_create", svc_array_create,
	  false },
	{ BAY__REQUEST__OP_ARRAY_ASSEMBLE, "array_assemble", svc_array_assemble,
	  false },
	{ BAY__REQUEST__OP_ARRAY_STOP, "array_stop", svc_array_stop, false },
	{ BAY__REQUEST__OP_ARRAY_ZERO, "array_zero", svc_array_zero, false },
	{ BAY__REQUEST__OP_ARRAY_SHOW, "array_show", svc_array_show, false },
	{ BAY__REQUEST__OP_MKFS, "mkfs", svc_mkfs, false },
	{ BAY__REQUEST__OP_MOUNT, "mount", svc_mount, false },
	{ BAY__REQUEST__OP_UNMOUNT, "unmount", svc_unmount, false },
	{ BAY__REQUEST__OP_KNOB_SET, "knob_set", svc_knob_set, false },
	{ BAY__REQUEST__OP_KNOB_RESTORE, "knob_restore", svc_knob_restore,
	  false },
	{ BAY__REQUEST__OP_DROP_CACHES, "drop_caches", svc_drop_caches, false },
	{ BAY__REQUEST__OP_WORKLOAD, "workload", svc_workload, false },
	{ BAY__REQUEST__OP_SPOOL_LIST, "spool_list", svc_spool_list, false },
	{ BAY__REQUEST__OP_SPOOL_GET, "spool_get", svc_spool_get, false },
	{ BAY__REQUEST__OP_SPOOL_ACK, "spool_ack", svc_spool_ack, false },
	{ BAY__REQUEST__OP_RESET, "reset", svc_reset, false },
	{ BAY__REQUEST__OP__NOT_SET, NULL, NULL, false },
};

const struct service *service_find(Bay__Request__OpCase op)
{
	for (const struct service *s = services; s->name; s++) {
		if (s->op == op)
			return s;
	}
	return NULL;
}
