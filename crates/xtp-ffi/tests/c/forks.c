/* fork() in the middle: the child's handles answer XTP_EFORK, the child opens its own and talks to its parent, and the parent goes on. */
#define _POSIX_C_SOURCE 200809L
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define SERVICE 1000

static void in_child(xtp_endpoint *endpoint, xtp_listener *listener, xtp_stream *stream, const char *peer)
{
    xtp_endpoint *own;
    xtp_incoming *incoming;
    char text[XTP_ADDRESS_ROOM];
    size_t count;

    CHECK(xtp_process(endpoint, 0, NULL), XTP_EFORK);
    CHECK(xtp_endpoint_address(endpoint, text, sizeof text), XTP_EFORK);
    CHECK(xtp_recv(listener, -1, &incoming), XTP_EFORK);
    CHECK(xtp_write(stream, "the child's", 11, &count), XTP_EFORK);
    CHECK(xtp_read(stream, text, sizeof text, &count), XTP_EFORK);
    CHECK(xtp_close(stream), XTP_EFORK);
    /* What the parent uses is not ended by its child. */
    CHECK(xtp_stream_free(stream), XTP_EFORK);
    CHECK(xtp_listener_free(listener), XTP_EFORK);
    CHECK(xtp_endpoint_free(endpoint), XTP_EFORK);
    CHECK(xtp_endpoint_open(NULL, NULL, &own), XTP_OK);
    CHECK(xtp_send(own, peer, SERVICE, "from the child", 14, 10 * (int64_t)SECOND), XTP_OK);
    CHECK(xtp_endpoint_free(own), XTP_OK);
}

int main(void)
{
    char peer[XTP_ADDRESS_ROOM], text[32];
    xtp_listen_options options;
    xtp_endpoint *server, *client;
    xtp_listener *listener, *streams;
    xtp_stream *stream, *accepted;
    xtp_incoming *incoming;
    const void *data;
    size_t length;
    pid_t child;
    int outcome;

    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &server), XTP_OK);
    CHECK(xtp_listen(server, SERVICE, NULL, &listener), XTP_OK);
    CHECK(xtp_listen_options_init(&options, sizeof options), XTP_OK);
    options.streams = 1;
    CHECK(xtp_listen(server, SERVICE + 1, &options, &streams), XTP_OK);
    CHECK(xtp_endpoint_address(server, peer, sizeof peer), XTP_OK);
    CHECK(xtp_start_driver(server), XTP_OK);
    CHECK(xtp_endpoint_open(NULL, NULL, &client), XTP_OK);
    CHECK(xtp_open(client, peer, SERVICE + 1, NULL, &stream), XTP_OK);
    CHECK(xtp_send_message(stream, "before", 6, NULL), XTP_OK);
    CHECK(xtp_accept(streams, -1, &accepted), XTP_OK);

    fflush(stdout);
    child = fork();
    HOLDS(child >= 0);
    if (child == 0) {
        in_child(client, listener, stream, peer);
        _exit(0);
    }
    CHECK(xtp_recv(listener, 30 * (int64_t)SECOND, &incoming), XTP_OK);
    CHECK(xtp_incoming_data(incoming, &data, &length), XTP_OK);
    HOLDS(length == 14 && memcmp(data, "from the child", 14) == 0);
    CHECK(xtp_incoming_free(incoming), XTP_OK);
    HOLDS(waitpid(child, &outcome, 0) == child);
    HOLDS(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
    /* The stream that was there before the child is what it was. */
    CHECK(xtp_send_message(stream, "after", 5, NULL), XTP_OK);
    CHECK(xtp_recv_message(accepted, text, sizeof text, &length), XTP_OK);
    HOLDS(length == 6 && memcmp(text, "before", 6) == 0);
    CHECK(xtp_recv_message(accepted, text, sizeof text, &length), XTP_OK);
    HOLDS(length == 5 && memcmp(text, "after", 5) == 0);
    CHECK(xtp_shutdown_write(accepted), XTP_OK);
    CHECK(xtp_close(stream), XTP_OK);
    CHECK(xtp_stream_free(stream), XTP_OK);
    CHECK(xtp_stream_free(accepted), XTP_OK);
    CHECK(xtp_listener_free(listener), XTP_OK);
    CHECK(xtp_listener_free(streams), XTP_OK);
    CHECK(xtp_endpoint_free(client), XTP_OK);
    CHECK(xtp_endpoint_free(server), XTP_OK);
    puts("the parent went on");
    return 0;
}
