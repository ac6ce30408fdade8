/* Requests and answers, each in three packets and one round trip.
 *
 *   call serve 127.0.0.1:0 10           prints its address, answers ten requests in capitals
 *   call ask ADDRESS "some words"
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xtp.h>

#define SERVICE 1001

static int failed(const char *what, int status)
{
    fprintf(stderr, "%s: %s (%d)\n", what, xtp_last_error(), status);
    return status;
}

static int answer(xtp_incoming *incoming)
{
    char capitals[256];
    const void *data;
    const char *text;
    size_t length, at;
    int status;

    status = xtp_incoming_data(incoming, &data, &length);
    if (status != XTP_OK)
        return failed("the request", status);
    if (length > sizeof capitals)
        return xtp_reject(incoming, 256, "a request has 256 octets at most");
    text = (const char *)data;
    for (at = 0; at < length; at++)
        capitals[at] = (char)toupper((unsigned char)text[at]);
    return xtp_respond(incoming, capitals, length);
}

static int serve(const char *where, long count)
{
    char address[XTP_ADDRESS_ROOM];
    xtp_endpoint *endpoint = NULL;
    xtp_listener *listener = NULL;
    size_t unconfirmed;
    int status;

    if ((status = xtp_endpoint_open(where, NULL, &endpoint)) != XTP_OK ||
        (status = xtp_listen(endpoint, SERVICE, NULL, &listener)) != XTP_OK ||
        (status = xtp_endpoint_address(endpoint, address, sizeof address)) != XTP_OK) {
        failed("listening", status);
        goto end;
    }
    printf("%s\n", address);
    fflush(stdout);
    while (count-- > 0) {
        xtp_incoming *incoming;

        if ((status = xtp_recv(listener, -1, &incoming)) != XTP_OK) {
            failed("receiving", status);
            goto end;
        }
        /* A caller that has gone in the meantime is no reason to stop. */
        if (answer(incoming) != XTP_OK)
            fprintf(stderr, "answering: %s\n", xtp_last_error());
        xtp_incoming_free(incoming);
    }
    if ((status = xtp_shutdown(endpoint, 1000000000, &unconfirmed)) != XTP_OK)
        failed("the last answers", status);
end:
    xtp_listener_free(listener);
    xtp_endpoint_free(endpoint);
    return status;
}

static int ask(const char *address, const char *words)
{
    char response[256];
    xtp_call_options options;
    xtp_endpoint *endpoint = NULL;
    size_t length;
    int status;

    xtp_call_options_init(&options, sizeof options);
    options.timeout = 10000000000; /* 10 s */
    if ((status = xtp_endpoint_open(NULL, NULL, &endpoint)) != XTP_OK ||
        (status = xtp_call(endpoint, address, SERVICE, words, strlen(words), &options, response, sizeof response,
                           &length)) != XTP_OK)
        failed("the call", status);
    else
        printf("%.*s\n", (int)length, response);
    xtp_endpoint_free(endpoint);
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2], strtol(argv[3], NULL, 10)) != XTP_OK;
    if (argc == 4 && strcmp(argv[1], "ask") == 0)
        return ask(argv[2], argv[3]) != XTP_OK;
    fprintf(stderr, "usage: call serve ADDRESS COUNT | call ask ADDRESS WORDS\n");
    return 2;
}
