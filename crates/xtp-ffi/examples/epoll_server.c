/* A server in an epoll loop of its own: echoes messages of any number of streams, until its standard input ends.
 *
 *   epoll_server 127.0.0.1:0            prints its address; ping_pong ping ADDRESS 1000 is a client
 */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <xtp.h>

#define SERVICE 1000
#define STREAMS 1024
#define LISTENER UINT64_MAX

static xtp_stream *streams[STREAMS];

static int failed(const char *what, int status)
{
    fprintf(stderr, "%s: %s (%d)\n", what, xtp_last_error(), status);
    return status;
}

/* Takes a stream that waits at the listener. */
static void take(xtp_listener *listener, xtp_poll_set *set)
{
    xtp_stream *stream;
    size_t key = 0;

    while (key < STREAMS && streams[key] != NULL)
        key++;
    if (xtp_accept(listener, 0, &stream) != XTP_OK)
        return;
    if (key == STREAMS) {
        xtp_abort(stream);
        xtp_stream_free(stream);
        return;
    }
    xtp_set_read_timeout(stream, 0);
    xtp_poll_add_stream(set, stream, key);
    streams[key] = stream;
}

/* Echoes what there is; lets the stream go at its end. */
static void echo(size_t key)
{
    char message[4096];
    size_t length;
    int status;

    for (;;) {
        status = xtp_recv_message(streams[key], message, sizeof message, &length);
        if (status == XTP_EWOULDBLOCK)
            return;
        if (status == XTP_OK && length > 0)
            status = xtp_send_message(streams[key], message, length, NULL);
        if (status != XTP_OK || length == 0)
            break;
    }
    if (status != XTP_OK)
        failed("a stream", status);
    /* What is left is confirmed behind the rounds of the loop. */
    xtp_stream_free(streams[key]);
    streams[key] = NULL;
}

/* Serves what is ready, until nothing is. */
static int serve(xtp_poll_set *set, xtp_listener *listener)
{
    uint64_t keys[64];
    size_t count, at;
    int status;

    while ((status = xtp_poll_wait(set, keys, 64, 0, &count)) == XTP_OK) {
        for (at = 0; at < count; at++) {
            if (keys[at] == LISTENER)
                take(listener, set);
            else if (streams[keys[at]] != NULL)
                echo((size_t)keys[at]);
        }
    }
    return status == XTP_EWOULDBLOCK ? XTP_OK : status;
}

/* How long epoll may sleep: until the endpoint's next deadline, rounded up. */
static int left(xtp_endpoint *endpoint)
{
    int64_t nanoseconds;

    if (xtp_next_deadline(endpoint, &nanoseconds) != XTP_OK || nanoseconds < 0)
        return -1;
    nanoseconds = (nanoseconds + 999999) / 1000000;
    return nanoseconds < INT_MAX ? (int)nanoseconds : INT_MAX;
}

static int rounds(xtp_endpoint *endpoint, xtp_poll_set *set, xtp_listener *listener, int epoll)
{
    struct epoll_event ready[2];
    char octet;
    int status, count, at;

    for (;;) {
        /* The deadline is asked for last: every call may make it earlier. */
        count = epoll_wait(epoll, ready, 2, left(endpoint));
        for (at = 0; at < count; at++)
            if (ready[at].data.fd == STDIN_FILENO && read(STDIN_FILENO, &octet, 1) <= 0)
                return XTP_OK;
        if ((status = xtp_process(endpoint, 0, NULL)) != XTP_OK ||
            (status = serve(set, listener)) != XTP_OK)
            return failed("serving", status);
    }
}

static int watch(int epoll, int descriptor)
{
    struct epoll_event event;

    event.events = EPOLLIN;
    event.data.fd = descriptor;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int main(int argc, char **argv)
{
    char address[XTP_ADDRESS_ROOM];
    xtp_listen_options options;
    xtp_endpoint *endpoint = NULL;
    xtp_listener *listener = NULL;
    xtp_poll_set *set = NULL;
    size_t key, unconfirmed;
    int status, descriptor, epoll = epoll_create1(0);

    xtp_listen_options_init(&options, sizeof options);
    options.streams = 1;
    if ((status = xtp_endpoint_open(argc > 1 ? argv[1] : "127.0.0.1:0", NULL, &endpoint)) != XTP_OK ||
        (status = xtp_listen(endpoint, SERVICE, &options, &listener)) != XTP_OK ||
        (status = xtp_poll_set_new(endpoint, &set)) != XTP_OK ||
        (status = xtp_poll_add_listener(set, listener, LISTENER)) != XTP_OK ||
        (status = xtp_descriptor(endpoint, &descriptor)) != XTP_OK ||
        (status = xtp_endpoint_address(endpoint, address, sizeof address)) != XTP_OK) {
        failed("listening", status);
    } else if (watch(epoll, descriptor) != 0 || watch(epoll, STDIN_FILENO) != 0) {
        perror("epoll");
        status = XTP_EOTHER;
    } else {
        printf("%s\n", address);
        fflush(stdout);
        status = rounds(endpoint, set, listener, epoll);
        for (key = 0; key < STREAMS; key++)
            xtp_stream_free(streams[key]);
        xtp_shutdown(endpoint, 1000000000, &unconfirmed);
    }
    xtp_poll_set_free(set);
    xtp_listener_free(listener);
    xtp_endpoint_free(endpoint);
    close(epoll);
    return status != XTP_OK;
}
