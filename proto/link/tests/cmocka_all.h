/* proto/link/tests/cmocka_all.h - cmocka and what it wants before it. */
#ifndef PROTO_LINK_TESTS_CMOCKA_ALL_H
#define PROTO_LINK_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#endif
