/* What the test programs have in common. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xtp.h>

/* A call answers so, or the program ends and says what it answered. */
#define CHECK(call, want)                                                                                             \
    do {                                                                                                              \
        int got_ = (call);                                                                                            \
        if (got_ != (want)) {                                                                                         \
            fprintf(stderr, "%s:%d: %s is %d (%s), not %s: %s\n", __FILE__, __LINE__, #call, got_, xtp_strerror(got_), \
                    #want, xtp_last_error());                                                                         \
            exit(1);                                                                                                  \
        }                                                                                                             \
    } while (0)

/* Something is true, or the program ends. */
#define HOLDS(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition);     \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

#define SECOND 1000000000

#endif
