/* Descriptors closed behind the library's back: its loop descriptor, then every other one. Calls fail or go on; none crashes or hangs.
 * Freeing such an endpoint closes again what has the number by then: a debug build of the library ends the program there. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv)
{
    char address[XTP_ADDRESS_ROOM];
    xtp_endpoint_options options;
    xtp_endpoint *endpoint, *client;
    xtp_listener *listener;
    xtp_incoming *incoming;
    struct pollfd poll_for;
    int descriptor, again, status;

    CHECK(xtp_endpoint_options_init(&options, sizeof options), XTP_OK);
    options.linger = 0;
    CHECK(xtp_endpoint_open("127.0.0.1:0", &options, &endpoint), XTP_OK);
    CHECK(xtp_listen(endpoint, 1000, NULL, &listener), XTP_OK);
    CHECK(xtp_endpoint_address(endpoint, address, sizeof address), XTP_OK);
    CHECK(xtp_endpoint_open(NULL, &options, &client), XTP_OK);
    CHECK(xtp_descriptor(endpoint, &descriptor), XTP_OK);
    HOLDS(descriptor >= 0);
    CHECK(xtp_descriptor(endpoint, &again), XTP_OK);
    HOLDS(again == descriptor);

    /* It is readable when there is something to take. */
    poll_for.fd = descriptor;
    poll_for.events = POLLIN;
    HOLDS(poll(&poll_for, 1, 0) == 0);
    CHECK(xtp_send_datagram(client, address, 1000, "a", 1), XTP_OK);
    HOLDS(poll(&poll_for, 1, 30000) == 1);
    CHECK(xtp_process(endpoint, 0, NULL), XTP_OK);
    CHECK(xtp_recv(listener, 0, &incoming), XTP_OK);
    CHECK(xtp_incoming_free(incoming), XTP_OK);

    HOLDS(close(descriptor) == 0);
    status = xtp_process(endpoint, 0, NULL);
    HOLDS(status == XTP_OK || status == XTP_ECARRIER);
    status = xtp_recv(listener, 10000000, &incoming);
    HOLDS(status == XTP_ETIMEDOUT || status == XTP_ECARRIER);

    /* As a program does that becomes a daemon. */
    for (descriptor = 3; descriptor < 64; descriptor++)
        close(descriptor);
    status = xtp_process(endpoint, 0, NULL);
    HOLDS(status == XTP_OK || status == XTP_ECARRIER);
    status = xtp_recv(listener, SECOND, &incoming);
    HOLDS(status == XTP_ECARRIER);
    status = xtp_send(client, "127.0.0.1:9", 1000, "a", 1, SECOND);
    HOLDS(status != XTP_OK);
    if (argc < 2 || strcmp(argv[1], "debug") != 0) {
        xtp_listener_free(listener);
        xtp_endpoint_free(endpoint);
        xtp_endpoint_free(client);
    }
    puts("told, not crashed");
    return 0;
}
