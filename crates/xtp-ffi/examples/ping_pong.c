/* Messages to and fro on one stream.
 *
 *   ping_pong serve 127.0.0.1:0         prints its address, echoes the messages of one stream
 *   ping_pong ping ADDRESS 1000         sends so many and waits for each
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xtp.h>

#define SERVICE 1000

static int failed(const char *what, int status)
{
    fprintf(stderr, "%s: %s (%d)\n", what, xtp_last_error(), status);
    return status;
}

static int echo(xtp_stream *stream)
{
    char message[4096];
    size_t length;
    int status;

    for (;;) {
        status = xtp_recv_message(stream, message, sizeof message, &length);
        if (status != XTP_OK)
            return failed("receiving", status);
        if (length == 0)
            return XTP_OK;
        status = xtp_send_message(stream, message, length, NULL);
        if (status != XTP_OK)
            return failed("sending", status);
    }
}

static int serve(const char *where)
{
    char address[XTP_ADDRESS_ROOM];
    xtp_listen_options options;
    xtp_endpoint *endpoint = NULL;
    xtp_listener *listener = NULL;
    xtp_stream *stream = NULL;
    int status;

    xtp_listen_options_init(&options, sizeof options);
    options.streams = 1;
    if ((status = xtp_endpoint_open(where, NULL, &endpoint)) != XTP_OK ||
        (status = xtp_listen(endpoint, SERVICE, &options, &listener)) != XTP_OK ||
        (status = xtp_endpoint_address(endpoint, address, sizeof address)) != XTP_OK) {
        failed("listening", status);
        goto end;
    }
    printf("%s\n", address);
    fflush(stdout);
    if ((status = xtp_accept(listener, -1, &stream)) != XTP_OK)
        failed("accepting", status);
    else if ((status = echo(stream)) == XTP_OK && (status = xtp_close(stream)) != XTP_OK)
        failed("closing", status);
end:
    xtp_stream_free(stream);
    xtp_listener_free(listener);
    xtp_endpoint_free(endpoint);
    return status;
}

static int ping(const char *address, long count)
{
    char message[32], answer[32];
    xtp_endpoint *endpoint = NULL;
    xtp_stream *stream = NULL;
    size_t length;
    long number;
    int status;

    if ((status = xtp_endpoint_open(NULL, NULL, &endpoint)) != XTP_OK ||
        (status = xtp_open(endpoint, address, SERVICE, NULL, &stream)) != XTP_OK) {
        failed("opening", status);
        goto end;
    }
    for (number = 0; number < count; number++) {
        int octets = sprintf(message, "ping %ld", number);

        if ((status = xtp_send_message(stream, message, (size_t)octets, NULL)) != XTP_OK ||
            (status = xtp_recv_message(stream, answer, sizeof answer, &length)) != XTP_OK) {
            failed("a round trip", status);
            goto end;
        }
        if (length != (size_t)octets || memcmp(message, answer, length) != 0) {
            fprintf(stderr, "message %ld came back as another one\n", number);
            status = XTP_EOTHER;
            goto end;
        }
    }
    if ((status = xtp_close(stream)) != XTP_OK)
        failed("closing", status);
    else
        printf("%ld messages came back\n", count);
end:
    xtp_stream_free(stream);
    xtp_endpoint_free(endpoint);
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2]) != XTP_OK;
    if (argc == 4 && strcmp(argv[1], "ping") == 0)
        return ping(argv[2], strtol(argv[3], NULL, 10)) != XTP_OK;
    fprintf(stderr, "usage: ping_pong serve ADDRESS | ping_pong ping ADDRESS COUNT\n");
    return 2;
}
