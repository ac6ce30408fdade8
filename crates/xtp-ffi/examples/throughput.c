/* Octets by xtp_write() and xtp_read(), between two endpoints of one process; throughput.rs does the same without the C library.
 *
 *   throughput MEBIBYTES [OCTETS]       OCTETS a call, 65536 if none are named
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xtp.h>

#define LONGEST 1048576

static xtp_listener *listener;

static void must(int status)
{
    if (status != XTP_OK) {
        fprintf(stderr, "%s (%d)\n", xtp_last_error(), status);
        exit(1);
    }
}

static void *reader(void *nothing)
{
    char *memory = (char *)malloc(LONGEST);
    xtp_stream *stream;
    size_t got;

    must(xtp_accept(listener, -1, &stream));
    do
        must(xtp_read(stream, memory, LONGEST, &got));
    while (got > 0);
    must(xtp_close(stream));
    must(xtp_stream_free(stream));
    free(memory);
    return nothing;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    size_t all = (argc > 1 ? strtoul(argv[1], NULL, 10) : 64) << 20;
    size_t length = argc > 2 ? strtoul(argv[2], NULL, 10) : 65536;
    char address[XTP_ADDRESS_ROOM], *data;
    xtp_listen_options options;
    xtp_endpoint *server, *client;
    xtp_stream *stream;
    pthread_t thread;
    size_t done, written;
    double begun;

    if (length == 0 || length > LONGEST)
        return 2;
    data = (char *)malloc(length);
    memset(data, 7, length);
    must(xtp_endpoint_open("127.0.0.1:0", NULL, &server));
    must(xtp_listen_options_init(&options, sizeof options));
    options.streams = 1;
    must(xtp_listen(server, 1000, &options, &listener));
    must(xtp_endpoint_address(server, address, sizeof address));
    if (pthread_create(&thread, NULL, reader, NULL) != 0)
        return 1;
    must(xtp_endpoint_open(NULL, NULL, &client));
    must(xtp_open(client, address, 1000, NULL, &stream));
    begun = now();
    for (done = 0; done < all; done += written)
        must(xtp_write(stream, data, length, &written));
    must(xtp_close(stream));
    printf("%.0f MiB/s\n", (double)done / 1048576 / (now() - begun));
    must(xtp_stream_free(stream));
    pthread_join(thread, NULL);
    must(xtp_listener_free(listener));
    must(xtp_endpoint_free(server));
    must(xtp_endpoint_free(client));
    free(data);
    return 0;
}
