/* Octets that are lent and given back once, also by a function that calls back in; tags; many calls at once; receives posted by tag. */
#include <pthread.h>

#include "check.h"

#define SERVICE 1000
#define CALLS 100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int given_back;
static xtp_endpoint *client;

/* Counts, and tries what it must not. */
static void give_back(void *context)
{
    size_t count;

    CHECK(xtp_process(client, 0, &count), XTP_EREENTRY);
    HOLDS(strstr(xtp_last_error(), "must not call") != NULL);
    HOLDS(pthread_mutex_lock(&lock) == 0);
    given_back++;
    HOLDS(pthread_mutex_unlock(&lock) == 0);
    free(context);
}

static int returned(void)
{
    int count;

    HOLDS(pthread_mutex_lock(&lock) == 0);
    count = given_back;
    HOLDS(pthread_mutex_unlock(&lock) == 0);
    return count;
}

static char *lent(size_t length)
{
    char *memory = (char *)malloc(length);

    HOLDS(memory != NULL);
    memset(memory, 'x', length);
    return memory;
}

static void *serve(void *listener)
{
    xtp_incoming *incoming;
    const void *data;
    size_t length;
    int served;

    for (served = 0; served < CALLS; served++) {
        CHECK(xtp_recv((xtp_listener *)listener, -1, &incoming), XTP_OK);
        CHECK(xtp_incoming_data(incoming, &data, &length), XTP_OK);
        CHECK(xtp_respond(incoming, data, length), XTP_OK);
        CHECK(xtp_incoming_free(incoming), XTP_OK);
    }
    return NULL;
}

static void many_calls(xtp_endpoint *server, const char *peer)
{
    xtp_completion done[16];
    xtp_listener *listener;
    xtp_queue *queue;
    pthread_t thread;
    const void *data;
    size_t count, length, at, pending;
    uint64_t number, ended = 0;
    unsigned char seen[CALLS] = {0};
    int before = returned();

    CHECK(xtp_listen(server, SERVICE, NULL, &listener), XTP_OK);
    HOLDS(pthread_create(&thread, NULL, serve, listener) == 0);
    CHECK(xtp_queue_new(client, &queue), XTP_OK);
    CHECK(xtp_queue_wait(queue, done, 16, -1, &count), XTP_OK);
    HOLDS(count == 0);
    for (number = 0; number < CALLS; number++) {
        /* Half of them lent, half copied. */
        if (number % 2 == 0) {
            char *memory = lent(1000 + number);

            CHECK(xtp_queue_call(queue, peer, SERVICE, memory, 1000 + number, number, give_back, memory), XTP_OK);
        } else {
            char copied[64];

            memset(copied, 'y', sizeof copied);
            CHECK(xtp_queue_call(queue, peer, SERVICE, copied, sizeof copied, number, NULL, NULL), XTP_OK);
        }
    }
    CHECK(xtp_queue_pending(queue, &pending), XTP_OK);
    HOLDS(pending == CALLS);
    while (ended < CALLS) {
        CHECK(xtp_queue_wait(queue, done, 16, -1, &count), XTP_OK);
        for (at = 0; at < count; at++, ended++) {
            HOLDS(done[at].status == XTP_OK && done[at].token < CALLS && !seen[done[at].token]);
            seen[done[at].token] = 1;
            CHECK(xtp_octets_data(done[at].octets, &data, &length), XTP_OK);
            HOLDS(length == (done[at].token % 2 == 0 ? 1000 + done[at].token : 64));
            CHECK(xtp_octets_free(done[at].octets), XTP_OK);
        }
    }
    HOLDS(pthread_join(thread, NULL) == 0);
    HOLDS(returned() == before + CALLS / 2);
    /* One that fails is told as well, and so is one that cannot begin; both give back. */
    CHECK(xtp_queue_send(queue, "127.0.0.1:9", SERVICE, "copied", 6, 7, NULL, NULL), XTP_OK);
    do
        CHECK(xtp_queue_wait(queue, done, 1, -1, &count), XTP_OK);
    while (count == 0);
    HOLDS(done[0].token == 7 && done[0].status == XTP_ENOBODYLISTENS && done[0].octets == NULL);
    {
        char *memory = lent(10);

        CHECK(xtp_queue_send(queue, NULL, SERVICE, memory, 10, 7, give_back, memory), XTP_EINVAL);
    }
    HOLDS(returned() == before + CALLS / 2 + 1);
    CHECK(xtp_queue_wait(queue, NULL, 1, 0, &count), XTP_EINVAL);
    CHECK(xtp_queue_wait(queue, done, 0, 0, &count), XTP_EINVAL);
    CHECK(xtp_queue_free(queue), XTP_OK);
    CHECK(xtp_listener_free(listener), XTP_OK);
}

/* Takes one end of a queue; returns its token. */
static uint64_t next(xtp_queue *queue, const char *text, uint64_t tag)
{
    xtp_completion done;
    const void *data;
    size_t count, length;

    CHECK(xtp_queue_wait(queue, &done, 1, -1, &count), XTP_OK);
    HOLDS(count == 1);
    if (text == NULL) {
        HOLDS(done.status != XTP_OK && done.octets == NULL);
        return done.token;
    }
    HOLDS(done.status == XTP_OK && done.tagged == 1 && done.tag == tag);
    CHECK(xtp_octets_data(done.octets, &data, &length), XTP_OK);
    HOLDS(length == strlen(text) && memcmp(data, text, length) == 0);
    CHECK(xtp_octets_free(done.octets), XTP_OK);
    return done.token;
}

static void matched(xtp_endpoint *server, const char *peer)
{
    xtp_tags second = {2, UINT64_MAX, XTP_TAGS_LIKE, 0}, odd = {1, 1, XTP_TAGS_LIKE, 0}, none = {0, 0, 9, 0};
    xtp_listener *listener;
    xtp_stream *stream, *accepted;
    xtp_queue *queue;
    xtp_octets *octets;
    size_t length;
    uint32_t tagged;
    uint64_t tag;

    CHECK(xtp_listen_matched(server, SERVICE + 1, NULL, &listener), XTP_OK);
    CHECK(xtp_queue_new(server, &queue), XTP_OK);
    CHECK(xtp_queue_receive_listener(queue, listener, &none, 100, 1), XTP_EINVAL);
    CHECK(xtp_queue_receive_listener(queue, listener, &second, 100, 1), XTP_OK);
    CHECK(xtp_queue_receive(queue, &odd, 100, 2), XTP_OK);
    CHECK(xtp_open(client, peer, SERVICE + 1, NULL, &stream), XTP_OK);
    CHECK(xtp_send_tagged(stream, 4, "four", 4), XTP_OK);
    CHECK(xtp_send_tagged(stream, 3, "three", 5), XTP_OK);
    HOLDS(next(queue, "three", 3) == 2);
    CHECK(xtp_send_tagged(stream, 2, "two", 3), XTP_OK);
    HOLDS(next(queue, "two", 2) == 1);
    CHECK(xtp_accept(listener, -1, &accepted), XTP_OK);
    CHECK(xtp_recv_tagged(accepted, &octets, &tagged, &tag), XTP_EOUTOFRANGE);
    CHECK(xtp_queue_receive_stream(queue, accepted, NULL, 100, 3), XTP_OK);
    HOLDS(next(queue, "four", 4) == 3);
    /* Longer than the receive takes. */
    CHECK(xtp_queue_receive_stream(queue, accepted, NULL, 3, 4), XTP_OK);
    CHECK(xtp_send_tagged(stream, 5, "five", 4), XTP_OK);
    HOLDS(next(queue, NULL, 0) == 4);
    CHECK(xtp_shutdown_write(stream), XTP_OK);
    CHECK(xtp_queue_receive_stream(queue, accepted, NULL, 3, 5), XTP_OK);
    HOLDS(next(queue, NULL, 0) == 5);
    CHECK(xtp_queue_free(queue), XTP_OK);
    CHECK(xtp_stream_number(accepted, &tag), XTP_OK);
    CHECK(xtp_stream_free(accepted), XTP_OK);
    CHECK(xtp_abort(stream), XTP_OK);
    HOLDS(xtp_read(stream, &tag, 1, &length) != XTP_OK && length == 0);
    CHECK(xtp_stream_free(stream), XTP_OK);
    CHECK(xtp_listener_free(listener), XTP_OK);
}

static void *take(void *listener)
{
    xtp_stream *stream;
    xtp_octets *octets;
    const void *data;
    size_t length, number;
    uint32_t tagged;
    uint64_t tag;

    CHECK(xtp_accept((xtp_listener *)listener, -1, &stream), XTP_OK);
    for (number = 0; number < 3; number++) {
        CHECK(xtp_recv_tagged(stream, &octets, &tagged, &tag), XTP_OK);
        CHECK(xtp_octets_data(octets, &data, &length), XTP_OK);
        HOLDS(length == 100000 && ((const char *)data)[99999] == 'x');
        HOLDS(tagged == (number == 2) && tag == (number == 2 ? 9 : 0));
        CHECK(xtp_octets_free(octets), XTP_OK);
    }
    CHECK(xtp_recv_tagged(stream, &octets, &tagged, &tag), XTP_OK);
    HOLDS(octets == NULL);
    CHECK(xtp_close(stream), XTP_OK);
    CHECK(xtp_stream_free(stream), XTP_OK);
    return NULL;
}

static void lending(xtp_endpoint *server, const char *peer)
{
    static char constant[100000];
    xtp_listen_options options;
    xtp_listener *listener;
    xtp_stream *stream;
    pthread_t thread;
    char *memory = lent(100000);
    int before = returned();

    memset(constant, 'x', sizeof constant);
    CHECK(xtp_listen_options_init(&options, sizeof options), XTP_OK);
    options.streams = 1;
    CHECK(xtp_listen(server, SERVICE + 2, &options, &listener), XTP_OK);
    HOLDS(pthread_create(&thread, NULL, take, listener) == 0);
    CHECK(xtp_open(client, peer, SERVICE + 2, NULL, &stream), XTP_OK);
    CHECK(xtp_send_lent(stream, memory, 100000, 1, give_back, memory), XTP_OK);
    CHECK(xtp_send_lent(stream, constant, 100000, 1, NULL, NULL), XTP_OK);
    CHECK(xtp_send_tagged(stream, 9, constant, 100000), XTP_OK);
    CHECK(xtp_close(stream), XTP_OK);
    HOLDS(returned() == before + 1);
    /* Whatever becomes of the call. */
    memory = lent(10);
    CHECK(xtp_send_lent(NULL, memory, 10, 0, give_back, memory), XTP_EINVAL);
    memory = lent(10);
    CHECK(xtp_send_lent(stream, NULL, 10, 0, give_back, memory), XTP_EINVAL);
    memory = lent(10);
    CHECK(xtp_send_lent(stream, memory, 10, 2, give_back, memory), XTP_EINVAL);
    memory = lent(10);
    HOLDS(xtp_send_lent(stream, memory, 10, 0, give_back, memory) != XTP_OK);
    HOLDS(returned() == before + 5);
    CHECK(xtp_stream_free(stream), XTP_OK);
    HOLDS(pthread_join(thread, NULL) == 0);
    CHECK(xtp_listener_free(listener), XTP_OK);
}

int main(void)
{
    char peer[XTP_ADDRESS_ROOM];
    xtp_endpoint *server;

    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &server), XTP_OK);
    CHECK(xtp_endpoint_address(server, peer, sizeof peer), XTP_OK);
    CHECK(xtp_start_driver(server), XTP_OK);
    CHECK(xtp_endpoint_open(NULL, NULL, &client), XTP_OK);
    /* Nothing else makes progress there while the other end is waited for. */
    CHECK(xtp_start_driver(client), XTP_OK);
    many_calls(server, peer);
    matched(server, peer);
    lending(server, peer);
    CHECK(xtp_endpoint_free(client), XTP_OK);
    CHECK(xtp_endpoint_free(server), XTP_OK);
    puts("everything given back");
    return 0;
}
