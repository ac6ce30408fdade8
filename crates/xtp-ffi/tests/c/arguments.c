/* Arguments that cannot be: NULL everywhere, wrong sizes, wrong kinds, wrong numbers, handles that were freed. */
#include "check.h"

static void nulls(void)
{
    const void *data;
    int64_t nanoseconds;
    int descriptor;
    size_t count;
    uint64_t keys[1];
    xtp_endpoint *endpoint;
    xtp_listener *listener;
    xtp_stream *stream;
    xtp_incoming *incoming;
    xtp_octets *octets;
    xtp_poll_set *set;
    xtp_queue *queue;
    xtp_completion completion;
    uint32_t tagged;
    uint64_t tag;
    char text[8];

    CHECK(xtp_endpoint_options_init(NULL, 8), XTP_EINVAL);
    CHECK(xtp_stream_options_init(NULL, 8), XTP_EINVAL);
    CHECK(xtp_listen_options_init(NULL, 8), XTP_EINVAL);
    CHECK(xtp_call_options_init(NULL, 8), XTP_EINVAL);
    CHECK(xtp_endpoint_open(NULL, NULL, NULL), XTP_EINVAL);
    CHECK(xtp_shutdown(NULL, 0, &count), XTP_EINVAL);
    CHECK(xtp_endpoint_address(NULL, text, sizeof text), XTP_EINVAL);
    CHECK(xtp_descriptor(NULL, &descriptor), XTP_EINVAL);
    HOLDS(descriptor == -1);
    CHECK(xtp_next_deadline(NULL, &nanoseconds), XTP_EINVAL);
    CHECK(xtp_process(NULL, 0, NULL), XTP_EINVAL);
    CHECK(xtp_start_driver(NULL), XTP_EINVAL);
    CHECK(xtp_stop_driver(NULL), XTP_EINVAL);
    CHECK(xtp_interrupt(NULL), XTP_EINVAL);
    CHECK(xtp_resume(NULL), XTP_EINVAL);
    CHECK(xtp_open(NULL, "127.0.0.1:1", 1, NULL, &stream), XTP_EINVAL);
    HOLDS(stream == NULL);
    CHECK(xtp_connect(NULL, 0), XTP_EINVAL);
    CHECK(xtp_set_read_timeout(NULL, 0), XTP_EINVAL);
    CHECK(xtp_set_write_timeout(NULL, 0), XTP_EINVAL);
    CHECK(xtp_write(NULL, "a", 1, &count), XTP_EINVAL);
    CHECK(xtp_write_all(NULL, "a", 1), XTP_EINVAL);
    CHECK(xtp_flush(NULL), XTP_EINVAL);
    CHECK(xtp_read(NULL, text, sizeof text, &count), XTP_EINVAL);
    CHECK(xtp_send_message(NULL, "a", 1, NULL), XTP_EINVAL);
    CHECK(xtp_recv_message(NULL, text, sizeof text, &count), XTP_EINVAL);
    CHECK(xtp_recv_message_octets(NULL, &octets), XTP_EINVAL);
    HOLDS(octets == NULL);
    CHECK(xtp_confirm(NULL, XTP_RECEIVED), XTP_EINVAL);
    CHECK(xtp_stream_peer(NULL, text, sizeof text), XTP_EINVAL);
    CHECK(xtp_shutdown_write(NULL), XTP_EINVAL);
    CHECK(xtp_shutdown_read(NULL), XTP_EINVAL);
    CHECK(xtp_close(NULL), XTP_EINVAL);
    CHECK(xtp_abort(NULL), XTP_EINVAL);
    CHECK(xtp_listen(NULL, 1, NULL, &listener), XTP_EINVAL);
    CHECK(xtp_accept(NULL, 0, &stream), XTP_EINVAL);
    CHECK(xtp_recv(NULL, 0, &incoming), XTP_EINVAL);
    CHECK(xtp_listener_close(NULL), XTP_EINVAL);
    CHECK(xtp_incoming_data(NULL, &data, &count), XTP_EINVAL);
    CHECK(xtp_incoming_peer(NULL, text, sizeof text), XTP_EINVAL);
    CHECK(xtp_respond(NULL, "a", 1), XTP_EINVAL);
    CHECK(xtp_respond_confirmed(NULL, "a", 1, 0), XTP_EINVAL);
    CHECK(xtp_respond_unconfirmed(NULL, "a", 1), XTP_EINVAL);
    CHECK(xtp_reject(NULL, 1, NULL), XTP_EINVAL);
    CHECK(xtp_send_datagram(NULL, "127.0.0.1:1", 1, "a", 1), XTP_EINVAL);
    CHECK(xtp_send_acknowledged(NULL, "127.0.0.1:1", 1, "a", 1, XTP_RECEIVED, 0), XTP_EINVAL);
    CHECK(xtp_send(NULL, "127.0.0.1:1", 1, "a", 1, 0), XTP_EINVAL);
    CHECK(xtp_call(NULL, "127.0.0.1:1", 1, "a", 1, NULL, text, sizeof text, &count), XTP_EINVAL);
    CHECK(xtp_call_octets(NULL, "127.0.0.1:1", 1, "a", 1, NULL, &octets), XTP_EINVAL);
    CHECK(xtp_octets_data(NULL, &data, &count), XTP_EINVAL);
    CHECK(xtp_poll_set_new(NULL, &set), XTP_EINVAL);
    CHECK(xtp_poll_add_stream(NULL, NULL, 1), XTP_EINVAL);
    CHECK(xtp_poll_add_listener(NULL, NULL, 1), XTP_EINVAL);
    CHECK(xtp_poll_remove_stream(NULL, NULL), XTP_EINVAL);
    CHECK(xtp_poll_remove_listener(NULL, NULL), XTP_EINVAL);
    CHECK(xtp_poll_wait(NULL, keys, 1, 0, &count), XTP_EINVAL);
    CHECK(xtp_send_tagged(NULL, 1, "a", 1), XTP_EINVAL);
    CHECK(xtp_recv_tagged(NULL, &octets, &tagged, &tag), XTP_EINVAL);
    CHECK(xtp_stream_number(NULL, &tag), XTP_EINVAL);
    CHECK(xtp_send_lent(NULL, "a", 1, 0, NULL, NULL), XTP_EINVAL);
    CHECK(xtp_queue_new(NULL, &queue), XTP_EINVAL);
    HOLDS(queue == NULL);
    CHECK(xtp_queue_send(NULL, "127.0.0.1:1", 1, "a", 1, 1, NULL, NULL), XTP_EINVAL);
    CHECK(xtp_queue_call(NULL, "127.0.0.1:1", 1, "a", 1, 1, NULL, NULL), XTP_EINVAL);
    CHECK(xtp_open_matched(NULL, "127.0.0.1:1", 1, NULL, &stream), XTP_EINVAL);
    CHECK(xtp_listen_matched(NULL, 1, NULL, &listener), XTP_EINVAL);
    CHECK(xtp_queue_receive_stream(NULL, NULL, NULL, 1, 1), XTP_EINVAL);
    CHECK(xtp_queue_receive_listener(NULL, NULL, NULL, 1, 1), XTP_EINVAL);
    CHECK(xtp_queue_receive(NULL, NULL, 1, 1), XTP_EINVAL);
    CHECK(xtp_queue_pending(NULL, &count), XTP_EINVAL);
    CHECK(xtp_queue_wait(NULL, &completion, 1, 0, &count), XTP_EINVAL);
    /* As free() of the C library. */
    CHECK(xtp_queue_free(NULL), XTP_OK);
    CHECK(xtp_endpoint_free(NULL), XTP_OK);
    CHECK(xtp_stream_free(NULL), XTP_OK);
    CHECK(xtp_listener_free(NULL), XTP_OK);
    CHECK(xtp_incoming_free(NULL), XTP_OK);
    CHECK(xtp_octets_free(NULL), XTP_OK);
    CHECK(xtp_poll_set_free(NULL), XTP_OK);
    /* NULL of everything but the handle. */
    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &endpoint), XTP_OK);
    CHECK(xtp_listen(endpoint, 1000, NULL, &listener), XTP_OK);
    CHECK(xtp_poll_set_new(endpoint, &set), XTP_OK);
    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, NULL), XTP_EINVAL);
    CHECK(xtp_shutdown(endpoint, 0, NULL), XTP_EINVAL);
    CHECK(xtp_endpoint_address(endpoint, NULL, 64), XTP_EINVAL);
    CHECK(xtp_endpoint_address(endpoint, NULL, 0), XTP_EROOM);
    CHECK(xtp_endpoint_address(endpoint, text, sizeof text), XTP_EROOM);
    CHECK(xtp_descriptor(endpoint, NULL), XTP_EINVAL);
    CHECK(xtp_next_deadline(endpoint, NULL), XTP_EINVAL);
    CHECK(xtp_open(endpoint, NULL, 1000, NULL, &stream), XTP_EINVAL);
    HOLDS(stream == NULL);
    CHECK(xtp_open(endpoint, "127.0.0.1:9", 1000, NULL, NULL), XTP_EINVAL);
    CHECK(xtp_open(endpoint, "127.0.0.1:9", 1000, NULL, &stream), XTP_OK);
    CHECK(xtp_write(stream, NULL, 1, &count), XTP_EINVAL);
    CHECK(xtp_write(stream, NULL, 0, &count), XTP_OK);
    CHECK(xtp_write(stream, "a", 1, NULL), XTP_EINVAL);
    CHECK(xtp_write(stream, "a", SIZE_MAX, &count), XTP_EINVAL);
    CHECK(xtp_write_all(stream, NULL, 1), XTP_EINVAL);
    CHECK(xtp_read(stream, NULL, 1, &count), XTP_EINVAL);
    CHECK(xtp_read(stream, text, sizeof text, NULL), XTP_EINVAL);
    CHECK(xtp_send_message(stream, NULL, 1, NULL), XTP_EINVAL);
    CHECK(xtp_send_message(stream, NULL, 0, NULL), XTP_EOUTOFRANGE);
    CHECK(xtp_recv_message(stream, NULL, 1, &count), XTP_EINVAL);
    CHECK(xtp_recv_message(stream, text, sizeof text, NULL), XTP_EINVAL);
    CHECK(xtp_recv_message_octets(stream, NULL), XTP_EINVAL);
    CHECK(xtp_stream_peer(stream, NULL, 1), XTP_EINVAL);
    CHECK(xtp_listen(endpoint, 1000, NULL, NULL), XTP_EINVAL);
    CHECK(xtp_accept(listener, 0, NULL), XTP_EINVAL);
    CHECK(xtp_recv(listener, 0, NULL), XTP_EINVAL);
    CHECK(xtp_send_datagram(endpoint, NULL, 1, "a", 1), XTP_EINVAL);
    CHECK(xtp_send_datagram(endpoint, "127.0.0.1:9", 1, NULL, 1), XTP_EINVAL);
    CHECK(xtp_send_acknowledged(endpoint, NULL, 1, "a", 1, XTP_RECEIVED, 0), XTP_EINVAL);
    CHECK(xtp_send(endpoint, NULL, 1, "a", 1, 0), XTP_EINVAL);
    CHECK(xtp_call(endpoint, NULL, 1, "a", 1, NULL, text, sizeof text, &count), XTP_EINVAL);
    CHECK(xtp_call(endpoint, "127.0.0.1:9", 1, "a", 1, NULL, NULL, 1, &count), XTP_EINVAL);
    CHECK(xtp_call(endpoint, "127.0.0.1:9", 1, "a", 1, NULL, text, sizeof text, NULL), XTP_EINVAL);
    CHECK(xtp_call_octets(endpoint, "127.0.0.1:9", 1, "a", 1, NULL, NULL), XTP_EINVAL);
    CHECK(xtp_poll_set_new(endpoint, NULL), XTP_EINVAL);
    CHECK(xtp_poll_add_stream(set, NULL, 1), XTP_EINVAL);
    CHECK(xtp_poll_wait(set, NULL, 1, 0, &count), XTP_EINVAL);
    CHECK(xtp_poll_wait(set, keys, 0, 0, &count), XTP_EINVAL);
    CHECK(xtp_poll_wait(set, keys, 1, 0, NULL), XTP_EINVAL);
    CHECK(xtp_poll_wait(set, keys, 1, 0, &count), XTP_EWOULDBLOCK);
    xtp_abort(stream);
    CHECK(xtp_stream_free(stream), XTP_OK);
    CHECK(xtp_poll_set_free(set), XTP_OK);
    CHECK(xtp_listener_free(listener), XTP_OK);
    CHECK(xtp_endpoint_free(endpoint), XTP_OK);
}

static void values(void)
{
    xtp_endpoint *endpoint, *other;
    xtp_listener *listener, *second;
    xtp_stream *stream;
    xtp_incoming *incoming;
    xtp_poll_set *set;
    size_t count;
    char text[8], address[XTP_ADDRESS_ROOM];

    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &endpoint), XTP_OK);
    CHECK(xtp_listen(endpoint, 1000, NULL, &listener), XTP_OK);
    CHECK(xtp_listen(endpoint, 1000, NULL, &second), XTP_EINUSE);
    HOLDS(second == NULL);
    CHECK(xtp_endpoint_open("no address", NULL, &other), XTP_ERESOLVE);
    HOLDS(other == NULL && strstr(xtp_last_error(), "no address") != NULL);
    CHECK(xtp_endpoint_open("192.0.2.1:0", NULL, &other), XTP_ESOCKET);
    CHECK(xtp_endpoint_open("\xff:1", NULL, &other), XTP_EINVAL);
    CHECK(xtp_open(endpoint, "127.0.0.1:0", 1000, NULL, &stream), XTP_EADDRESS);
    CHECK(xtp_recv(listener, -2, &incoming), XTP_EINVAL);
    CHECK(xtp_recv(listener, INT64_MIN, &incoming), XTP_EINVAL);
    CHECK(xtp_recv(listener, 0, &incoming), XTP_EWOULDBLOCK);
    CHECK(xtp_recv(listener, 1, &incoming), XTP_ETIMEDOUT);
    CHECK(xtp_accept(listener, 0, &stream), XTP_EWOULDBLOCK);
    CHECK(xtp_accept(listener, 1, &stream), XTP_ETIMEDOUT);
    CHECK(xtp_send_acknowledged(endpoint, "127.0.0.1:9", 1, "a", 1, 7, SECOND), XTP_EINVAL);
    /* A request to a port that no program has. */
    CHECK(xtp_call(endpoint, "127.0.0.1:9", 1, "a", 1, NULL, text, sizeof text, &count), XTP_ENOBODYLISTENS);
    /* A handle of another kind. */
    CHECK(xtp_interrupt((xtp_endpoint *)(void *)listener), XTP_EINVAL);
    CHECK(xtp_stream_free((xtp_stream *)(void *)listener), XTP_EINVAL);
    CHECK(xtp_interrupt((xtp_endpoint *)(void *)((char *)endpoint + 1)), XTP_EINVAL);
    /* A listener of another endpoint. */
    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &other), XTP_OK);
    CHECK(xtp_poll_set_new(other, &set), XTP_OK);
    CHECK(xtp_poll_add_listener(set, listener, 1), XTP_ENOASSOCIATION);
    /* It makes no progress, so that nothing is confirmed. */
    CHECK(xtp_endpoint_address(other, address, sizeof address), XTP_OK);
    CHECK(xtp_open(endpoint, address, 1000, NULL, &stream), XTP_OK);
    CHECK(xtp_set_write_timeout(stream, 0), XTP_OK);
    CHECK(xtp_write(stream, "a", 1, &count), XTP_OK);
    CHECK(xtp_flush(stream), XTP_OK);
    CHECK(xtp_confirm(stream, 2), XTP_EINVAL);
    CHECK(xtp_confirm(stream, XTP_RECEIVED), XTP_EWOULDBLOCK);
    CHECK(xtp_set_write_timeout(stream, 1), XTP_OK);
    CHECK(xtp_confirm(stream, XTP_RECEIVED), XTP_ETIMEDOUT);
    CHECK(xtp_abort(stream), XTP_OK);
    CHECK(xtp_stream_free(stream), XTP_OK);
    CHECK(xtp_poll_set_free(set), XTP_OK);
    CHECK(xtp_endpoint_free(other), XTP_OK);
    CHECK(xtp_start_driver(endpoint), XTP_OK);
    CHECK(xtp_start_driver(endpoint), XTP_EALREADY);
    CHECK(xtp_stop_driver(endpoint), XTP_OK);
    CHECK(xtp_stop_driver(endpoint), XTP_OK);
    CHECK(xtp_interrupt(endpoint), XTP_OK);
    CHECK(xtp_recv(listener, -1, &incoming), XTP_EINTERRUPTED);
    CHECK(xtp_resume(endpoint), XTP_OK);
    CHECK(xtp_listener_close(listener), XTP_OK);
    CHECK(xtp_recv(listener, -1, &incoming), XTP_ENOLISTENER);
    CHECK(xtp_listener_free(listener), XTP_OK);
    CHECK(xtp_endpoint_free(endpoint), XTP_OK);
}

static void sizes(void)
{
    struct {
        xtp_endpoint_options known;
        uint64_t unknown;
    } longer;
    xtp_endpoint_options options;
    xtp_call_options call;
    xtp_endpoint *endpoint;
    size_t count;
    char text[8];

    CHECK(xtp_endpoint_options_init(&options, sizeof options), XTP_OK);
    HOLDS(options.size == sizeof options && options.linger == SECOND && options.wait == XTP_WAIT_ADAPTIVE);
    options.wait = XTP_WAIT_BLOCK;
    CHECK(xtp_endpoint_open("127.0.0.1:0", &options, &endpoint), XTP_OK);
    CHECK(xtp_endpoint_free(endpoint), XTP_OK);
    /* Of options that were never initialised, and of none that ever were. */
    CHECK(xtp_endpoint_options_init(&options, 0), XTP_EINVAL);
    CHECK(xtp_endpoint_options_init(&options, sizeof options - 1), XTP_EINVAL);
    CHECK(xtp_endpoint_options_init(&options, SIZE_MAX), XTP_EINVAL);
    options.size = 0;
    CHECK(xtp_endpoint_open("127.0.0.1:0", &options, &endpoint), XTP_EINVAL);
    options.size = 1;
    CHECK(xtp_endpoint_open("127.0.0.1:0", &options, &endpoint), XTP_EINVAL);
    options.size = SIZE_MAX;
    CHECK(xtp_endpoint_open("127.0.0.1:0", &options, &endpoint), XTP_EINVAL);
    /* Values out of their range. */
    CHECK(xtp_endpoint_options_init(&options, sizeof options), XTP_OK);
    options.wait = 9;
    CHECK(xtp_endpoint_open("127.0.0.1:0", &options, &endpoint), XTP_EINVAL);
    options.wait = XTP_WAIT_SPIN;
    options.linger = -1;
    CHECK(xtp_endpoint_open("127.0.0.1:0", &options, &endpoint), XTP_EINVAL);
    HOLDS(strstr(xtp_last_error(), "linger") != NULL);
    options.linger = 0;
    options.broadcast = 2;
    CHECK(xtp_endpoint_open("127.0.0.1:0", &options, &endpoint), XTP_EINVAL);
    HOLDS(endpoint == NULL);
    /* A program that is newer than the library: fine while it sets nothing that is unknown here. */
    CHECK(xtp_endpoint_options_init(&longer.known, sizeof longer), XTP_OK);
    HOLDS(longer.known.size == sizeof longer && longer.unknown == 0);
    CHECK(xtp_endpoint_open("127.0.0.1:0", &longer.known, &endpoint), XTP_OK);
    CHECK(xtp_call_options_init(&call, sizeof call), XTP_OK);
    call.timeout = 0;
    CHECK(xtp_call(endpoint, "127.0.0.1:9", 1, "a", 1, &call, text, sizeof text, &count), XTP_EINVAL);
    CHECK(xtp_endpoint_free(endpoint), XTP_OK);
    longer.unknown = 1;
    CHECK(xtp_endpoint_open("127.0.0.1:0", &longer.known, &endpoint), XTP_EOPTION);
    HOLDS(strstr(xtp_last_error(), "xtp_endpoint_options") != NULL);
}

/* Told by debug builds of the library alone. */
static void freed(void)
{
    xtp_endpoint *endpoint;
    xtp_stream *stream;
    size_t count;

    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &endpoint), XTP_OK);
    CHECK(xtp_open(endpoint, "127.0.0.1:9", 1000, NULL, &stream), XTP_OK);
    CHECK(xtp_stream_free(stream), XTP_OK);
    CHECK(xtp_write(stream, "a", 1, &count), XTP_EFREED);
    CHECK(xtp_stream_free(stream), XTP_EFREED);
    CHECK(xtp_endpoint_free(endpoint), XTP_OK);
    CHECK(xtp_process(endpoint, 0, NULL), XTP_EFREED);
}

int main(int argc, char **argv)
{
    HOLDS(strcmp(xtp_strerror(XTP_OK), "done") == 0);
    HOLDS(strcmp(xtp_strerror(12345), "no status of xtp") == 0);
    HOLDS(strcmp(xtp_last_error(), "") == 0 && xtp_last_rejection() == 0);
    nulls();
    values();
    sizes();
    if (argc > 1 && strcmp(argv[1], "debug") == 0)
        freed();
    puts("all refused");
    return 0;
}
