/* Several threads on one stream, one endpoint: each call is one of its own. */
#include <pthread.h>

#include "check.h"

#define THREADS 4
#define MESSAGES 250

static xtp_stream *ours, *theirs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counts[THREADS];

static void *sender(void *name)
{
    char text[16];
    int number;

    for (number = 0; number < MESSAGES; number++) {
        int length = sprintf(text, "%s%d", (const char *)name, number);

        CHECK(xtp_send_message(ours, text, (size_t)length, NULL), XTP_OK);
    }
    /* The text of an error is of the thread that met it. */
    CHECK(xtp_send_message(NULL, "a", 1, NULL), XTP_EINVAL);
    HOLDS(strstr(xtp_last_error(), "NULL") != NULL);
    return NULL;
}

static void *receiver(void *nothing)
{
    char text[16];
    size_t length;

    for (;;) {
        CHECK(xtp_recv_message(theirs, text, sizeof text, &length), XTP_OK);
        if (length == 0)
            return nothing;
        HOLDS(text[0] >= 'a' && text[0] < 'a' + THREADS);
        HOLDS(pthread_mutex_lock(&lock) == 0);
        counts[text[0] - 'a']++;
        HOLDS(pthread_mutex_unlock(&lock) == 0);
    }
}

int main(void)
{
    char peer[XTP_ADDRESS_ROOM];
    static char names[THREADS][2] = {"a", "b", "c", "d"};
    xtp_listen_options options;
    xtp_endpoint *server, *client;
    xtp_listener *listener;
    pthread_t senders[THREADS], receivers[2];
    int at;

    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &server), XTP_OK);
    CHECK(xtp_listen_options_init(&options, sizeof options), XTP_OK);
    options.streams = 1;
    CHECK(xtp_listen(server, 1000, &options, &listener), XTP_OK);
    CHECK(xtp_endpoint_address(server, peer, sizeof peer), XTP_OK);
    CHECK(xtp_start_driver(server), XTP_OK);
    CHECK(xtp_endpoint_open(NULL, NULL, &client), XTP_OK);
    CHECK(xtp_open(client, peer, 1000, NULL, &ours), XTP_OK);
    CHECK(xtp_connect(ours, -1), XTP_OK);
    CHECK(xtp_accept(listener, -1, &theirs), XTP_OK);
    for (at = 0; at < 2; at++)
        HOLDS(pthread_create(&receivers[at], NULL, receiver, NULL) == 0);
    for (at = 0; at < THREADS; at++)
        HOLDS(pthread_create(&senders[at], NULL, sender, names[at]) == 0);
    for (at = 0; at < THREADS; at++)
        HOLDS(pthread_join(senders[at], NULL) == 0);
    CHECK(xtp_shutdown_write(ours), XTP_OK);
    for (at = 0; at < 2; at++)
        HOLDS(pthread_join(receivers[at], NULL) == 0);
    for (at = 0; at < THREADS; at++)
        HOLDS(counts[at] == MESSAGES);
    HOLDS(strcmp(xtp_last_error(), "") == 0);
    CHECK(xtp_shutdown_write(theirs), XTP_OK);
    CHECK(xtp_close(ours), XTP_OK);
    CHECK(xtp_stream_free(ours), XTP_OK);
    CHECK(xtp_stream_free(theirs), XTP_OK);
    CHECK(xtp_listener_free(listener), XTP_OK);
    CHECK(xtp_endpoint_free(client), XTP_OK);
    CHECK(xtp_endpoint_free(server), XTP_OK);
    puts("every message once");
    return 0;
}
