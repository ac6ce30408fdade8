/* All paradigms between two endpoints of one process, the server's in a thread of its own. */
#include <pthread.h>

#include "check.h"

#define MESSAGES 1
#define STREAMS 2

static xtp_listener *messages, *streams;

static int is(xtp_incoming *incoming, const char *text)
{
    const void *data;
    size_t length;

    CHECK(xtp_incoming_data(incoming, &data, &length), XTP_OK);
    return length == strlen(text) && memcmp(data, text, length) == 0;
}

static void serve_messages(void)
{
    xtp_incoming *incoming;
    char peer[XTP_ADDRESS_ROOM];

    CHECK(xtp_recv(messages, -1, &incoming), XTP_OK);
    HOLDS(is(incoming, "a datagram"));
    CHECK(xtp_incoming_peer(incoming, peer, sizeof peer), XTP_OK);
    HOLDS(strncmp(peer, "127.0.0.1:", 10) == 0);
    CHECK(xtp_incoming_free(incoming), XTP_OK);
    CHECK(xtp_recv(messages, -1, &incoming), XTP_OK);
    HOLDS(is(incoming, "acknowledged"));
    CHECK(xtp_incoming_free(incoming), XTP_OK);
    CHECK(xtp_recv(messages, -1, &incoming), XTP_OK);
    HOLDS(is(incoming, "a message"));
    CHECK(xtp_incoming_free(incoming), XTP_OK);
    CHECK(xtp_recv(messages, -1, &incoming), XTP_OK);
    HOLDS(is(incoming, "in the background"));
    CHECK(xtp_incoming_free(incoming), XTP_OK);
}

static void serve_calls(void)
{
    xtp_incoming *incoming;

    CHECK(xtp_recv(messages, -1, &incoming), XTP_OK);
    HOLDS(is(incoming, "first"));
    CHECK(xtp_respond(incoming, "one", 3), XTP_OK);
    CHECK(xtp_respond(incoming, "one", 3), XTP_EALREADY);
    CHECK(xtp_incoming_free(incoming), XTP_OK);
    CHECK(xtp_recv(messages, -1, &incoming), XTP_OK);
    CHECK(xtp_respond_confirmed(incoming, "two", 3, 10 * (int64_t)SECOND), XTP_OK);
    CHECK(xtp_incoming_free(incoming), XTP_OK);
    CHECK(xtp_recv(messages, -1, &incoming), XTP_OK);
    CHECK(xtp_respond_unconfirmed(incoming, "three", 5), XTP_OK);
    CHECK(xtp_incoming_free(incoming), XTP_OK);
    CHECK(xtp_recv(messages, -1, &incoming), XTP_OK);
    CHECK(xtp_reject(incoming, 300, "not today"), XTP_OK);
    CHECK(xtp_incoming_free(incoming), XTP_OK);
    /* Freed without an answer. */
    CHECK(xtp_recv(messages, -1, &incoming), XTP_OK);
    CHECK(xtp_incoming_free(incoming), XTP_OK);
    CHECK(xtp_recv(messages, -1, &incoming), XTP_OK);
    CHECK(xtp_respond(incoming, "longer than what it is for", 26), XTP_OK);
    CHECK(xtp_incoming_free(incoming), XTP_OK);
}

static void serve_streams(void)
{
    static char octets[100000];
    xtp_stream *stream;
    size_t got, all = 0;

    CHECK(xtp_accept(streams, -1, &stream), XTP_OK);
    do {
        CHECK(xtp_read(stream, octets, sizeof octets, &got), XTP_OK);
        all += got;
    } while (got > 0);
    HOLDS(all == 300000);
    CHECK(xtp_write_all(stream, "all of it", 9), XTP_OK);
    CHECK(xtp_close(stream), XTP_OK);
    CHECK(xtp_stream_free(stream), XTP_OK);
    CHECK(xtp_accept(streams, -1, &stream), XTP_OK);
    for (;;) {
        CHECK(xtp_recv_message(stream, octets, sizeof octets, &got), XTP_OK);
        if (got == 0)
            break;
        CHECK(xtp_send_message(stream, octets, got, NULL), XTP_OK);
    }
    CHECK(xtp_close(stream), XTP_OK);
    CHECK(xtp_stream_free(stream), XTP_OK);
}

static void *serve(void *nothing)
{
    serve_messages();
    serve_calls();
    serve_streams();
    return nothing;
}

static void send_messages(xtp_endpoint *client, const char *peer)
{
    CHECK(xtp_send_datagram(client, peer, MESSAGES, "a datagram", 10), XTP_OK);
    CHECK(xtp_send_acknowledged(client, peer, MESSAGES, "acknowledged", 12, XTP_DELIVERED, -1), XTP_OK);
    CHECK(xtp_send(client, peer, MESSAGES, "a message", 9, 10 * (int64_t)SECOND), XTP_OK);
    CHECK(xtp_send(client, peer, MESSAGES, "in the background", 17, 0), XTP_OK);
    CHECK(xtp_send(client, peer, 77, "no listener", 11, -1), XTP_EREFUSED);
}

static void make_calls(xtp_endpoint *client, const char *peer)
{
    xtp_call_options options;
    xtp_octets *answer;
    const void *data;
    char text[8];
    size_t length;

    CHECK(xtp_call(client, peer, MESSAGES, "first", 5, NULL, text, sizeof text, &length), XTP_OK);
    HOLDS(length == 3 && memcmp(text, "one", 3) == 0);
    CHECK(xtp_call_options_init(&options, sizeof options), XTP_OK);
    options.slow_server = 1;
    options.timeout = 10 * (int64_t)SECOND;
    CHECK(xtp_call_octets(client, peer, MESSAGES, "second", 6, &options, &answer), XTP_OK);
    CHECK(xtp_octets_data(answer, &data, &length), XTP_OK);
    HOLDS(length == 3 && memcmp(data, "two", 3) == 0);
    CHECK(xtp_octets_free(answer), XTP_OK);
    CHECK(xtp_call(client, peer, MESSAGES, "third", 5, NULL, text, sizeof text, &length), XTP_OK);
    HOLDS(length == 5 && memcmp(text, "three", 5) == 0);
    CHECK(xtp_call(client, peer, MESSAGES, "fourth", 6, NULL, text, sizeof text, &length), XTP_EREJECTED);
    HOLDS(xtp_last_rejection() == 300 && strstr(xtp_last_error(), "not today") != NULL);
    CHECK(xtp_call(client, peer, MESSAGES, "fifth", 5, NULL, text, sizeof text, &length), XTP_OK);
    HOLDS(length == 0);
    CHECK(xtp_call(client, peer, MESSAGES, "sixth", 5, NULL, text, sizeof text, &length), XTP_EROOM);
    HOLDS(xtp_last_rejection() == 0);
}

static void use_streams(xtp_endpoint *client, const char *peer)
{
    static char octets[300000];
    xtp_stream *stream;
    xtp_octets *message;
    const void *data;
    char text[XTP_ADDRESS_ROOM];
    size_t done = 0, part, length;

    CHECK(xtp_open(client, peer, STREAMS, NULL, &stream), XTP_OK);
    CHECK(xtp_connect(stream, -1), XTP_OK);
    CHECK(xtp_stream_peer(stream, text, sizeof text), XTP_OK);
    HOLDS(strcmp(text, peer) == 0);
    while (done < sizeof octets) {
        CHECK(xtp_write(stream, octets + done, sizeof octets - done, &part), XTP_OK);
        done += part;
    }
    CHECK(xtp_flush(stream), XTP_OK);
    CHECK(xtp_confirm(stream, XTP_DELIVERED), XTP_OK);
    CHECK(xtp_shutdown_write(stream), XTP_OK);
    /* Or the peer, which has all of it, has refused more already. */
    HOLDS(xtp_write(stream, "a", 1, &part) != XTP_OK && part == 0);
    CHECK(xtp_read(stream, text, sizeof text, &length), XTP_OK);
    HOLDS(length == 9 && memcmp(text, "all of it", 9) == 0);
    CHECK(xtp_read(stream, text, sizeof text, &length), XTP_OK);
    HOLDS(length == 0);
    CHECK(xtp_close(stream), XTP_OK);
    CHECK(xtp_stream_free(stream), XTP_OK);

    CHECK(xtp_open(client, peer, STREAMS, NULL, &stream), XTP_OK);
    CHECK(xtp_set_read_timeout(stream, 0), XTP_OK);
    CHECK(xtp_recv_message(stream, text, sizeof text, &length), XTP_EWOULDBLOCK);
    CHECK(xtp_read(stream, text, sizeof text, &length), XTP_EWOULDBLOCK);
    CHECK(xtp_set_read_timeout(stream, 1), XTP_OK);
    CHECK(xtp_recv_message(stream, text, sizeof text, &length), XTP_ETIMEDOUT);
    CHECK(xtp_set_read_timeout(stream, -1), XTP_OK);
    CHECK(xtp_send_message(stream, "longer than the room", 20, &part), XTP_OK);
    HOLDS(part == 20);
    /* What finds no room is kept. */
    CHECK(xtp_recv_message(stream, text, 8, &length), XTP_EROOM);
    HOLDS(length == 20);
    CHECK(xtp_recv_message(stream, text, 8, &length), XTP_EROOM);
    CHECK(xtp_recv_message(stream, text, sizeof text, &length), XTP_OK);
    HOLDS(length == 20 && memcmp(text, "longer than the room", 20) == 0);
    CHECK(xtp_set_write_timeout(stream, 0), XTP_OK);
    CHECK(xtp_write_all(stream, "a", 1), XTP_EINVAL);
    CHECK(xtp_send_message(stream, "a", 1, NULL), XTP_EINVAL);
    CHECK(xtp_send_message(stream, "at once", 7, &part), XTP_OK);
    HOLDS(part == 7);
    CHECK(xtp_flush(stream), XTP_OK);
    CHECK(xtp_recv_message_octets(stream, &message), XTP_OK);
    CHECK(xtp_octets_data(message, &data, &length), XTP_OK);
    HOLDS(length == 7 && memcmp(data, "at once", 7) == 0);
    CHECK(xtp_octets_free(message), XTP_OK);
    CHECK(xtp_shutdown_write(stream), XTP_OK);
    CHECK(xtp_recv_message_octets(stream, &message), XTP_OK);
    HOLDS(message == NULL);
    CHECK(xtp_close(stream), XTP_OK);
    CHECK(xtp_stream_free(stream), XTP_OK);
}

int main(void)
{
    char peer[XTP_ADDRESS_ROOM];
    xtp_listen_options options;
    xtp_endpoint *server, *client;
    xtp_statistics statistics;
    uint64_t newer[20];
    pthread_t thread;
    size_t unconfirmed;

    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &server), XTP_OK);
    CHECK(xtp_listen(server, MESSAGES, NULL, &messages), XTP_OK);
    CHECK(xtp_listen_options_init(&options, sizeof options), XTP_OK);
    options.streams = 1;
    CHECK(xtp_listen(server, STREAMS, &options, &streams), XTP_OK);
    CHECK(xtp_endpoint_address(server, peer, sizeof peer), XTP_OK);
    HOLDS(pthread_create(&thread, NULL, serve, NULL) == 0);
    CHECK(xtp_endpoint_open(NULL, NULL, &client), XTP_OK);
    send_messages(client, peer);
    make_calls(client, peer);
    use_streams(client, peer);
    HOLDS(pthread_join(thread, NULL) == 0);
    CHECK(xtp_shutdown(client, SECOND, &unconfirmed), XTP_OK);
    CHECK(xtp_endpoint_statistics(NULL, &statistics, sizeof statistics), XTP_EINVAL);
    CHECK(xtp_endpoint_statistics(client, NULL, sizeof statistics), XTP_EINVAL);
    CHECK(xtp_endpoint_statistics(client, &statistics, 0), XTP_EINVAL);
    CHECK(xtp_endpoint_statistics(client, &statistics, 7), XTP_EINVAL);
    CHECK(xtp_endpoint_statistics(client, &statistics, sizeof statistics), XTP_OK);
    HOLDS(statistics.packets_sent > 10 && statistics.packets_received > 10 && statistics.system_calls > 10);
    /* A program that is newer, and one that is older than the library. */
    memset(newer, 7, sizeof newer);
    CHECK(xtp_endpoint_statistics(client, (xtp_statistics *)newer, sizeof newer), XTP_OK);
    HOLDS(newer[0] >= statistics.packets_sent && newer[19] == 0);
    memset(newer, 7, sizeof newer);
    CHECK(xtp_endpoint_statistics(client, (xtp_statistics *)newer, sizeof newer[0]), XTP_OK);
    HOLDS(newer[0] >= statistics.packets_sent && newer[1] == UINT64_C(0x0707070707070707));
    CHECK(xtp_listener_free(messages), XTP_OK);
    CHECK(xtp_listener_free(streams), XTP_OK);
    CHECK(xtp_endpoint_free(server), XTP_OK);
    CHECK(xtp_endpoint_free(client), XTP_OK);
    puts("all exchanged");
    return 0;
}
