/* Ranks of a parallel program on one machine: each adds up what the others send it, as an all-to-all of MPI does.
 *
 *   ranks 4                             so many processes, each with an endpoint of its own
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xtp.h>

#define MOST 64
#define STEP 7

static void must(int status)
{
    if (status != XTP_OK) {
        fprintf(stderr, "%s (%d)\n", xtp_last_error(), status);
        exit(1);
    }
}

/* Addresses of all ranks, by way of the parent: each writes its own and reads the table. */
static void exchange(int up, int down, int rank, const char *own, char (*table)[XTP_ADDRESS_ROOM], int ranks)
{
    char line[sizeof(int) + XTP_ADDRESS_ROOM];
    size_t all = (size_t)ranks * XTP_ADDRESS_ROOM, got = 0;

    memset(line, 0, sizeof line);
    memcpy(line, &rank, sizeof rank);
    memcpy(line + sizeof rank, own, strlen(own));
    if (write(up, line, sizeof line) != (ssize_t)sizeof line)
        exit(1);
    while (got < all) {
        ssize_t part = read(down, (char *)table + got, all - got);

        if (part <= 0)
            exit(1);
        got += (size_t)part;
    }
}

static int run(int rank, int ranks, int up, int down)
{
    char own[XTP_ADDRESS_ROOM], table[MOST][XTP_ADDRESS_ROOM];
    xtp_tags wanted = {STEP, UINT64_MAX, XTP_TAGS_LIKE, 0};
    xtp_mesh_completion done[16];
    xtp_endpoint *endpoint;
    xtp_mesh *mesh;
    uint32_t peers[MOST];
    size_t count, at, length;
    const void *data;
    int other, value, sum = 0, received = 0, sent = 0;

    must(xtp_endpoint_open("127.0.0.1:0", NULL, &endpoint));
    must(xtp_endpoint_address(endpoint, own, sizeof own));
    must(xtp_mesh_new(endpoint, NULL, &mesh));
    exchange(up, down, rank, own, table, ranks);
    for (other = 0; other < ranks; other++) {
        if (other == rank)
            continue;
        must(xtp_mesh_peer(mesh, table[other], &peers[other]));
        must(xtp_mesh_receive(mesh, peers[other], &wanted, sizeof value, (uint64_t)other));
    }
    for (other = 0; other < ranks; other++) {
        if (other == rank)
            continue;
        value = rank + 1;
        must(xtp_mesh_send(mesh, peers[other], STEP, 0, &value, sizeof value, 100, NULL, NULL));
    }
    while (received < ranks - 1 || sent < ranks - 1) {
        must(xtp_mesh_wait(mesh, done, 16, -1, &count));
        for (at = 0; at < count; at++) {
            /* One that is done before others leaves, which is told as well. */
            if (done[at].kind == XTP_MESH_LOST)
                continue;
            must(done[at].status);
            if (done[at].kind == XTP_MESH_SENT) {
                sent++;
            } else {
                must(xtp_octets_data(done[at].octets, &data, &length));
                if (length != sizeof value)
                    return 1;
                memcpy(&value, data, sizeof value);
                must(xtp_octets_free(done[at].octets));
                sum += value;
                received++;
            }
        }
    }
    must(xtp_mesh_leave(mesh, -1));
    must(xtp_endpoint_free(endpoint));
    return sum == ranks * (ranks + 1) / 2 - (rank + 1) ? 0 : 1;
}

int main(int argc, char **argv)
{
    int ranks = argc > 1 ? atoi(argv[1]) : 4, rank, failed = 0, outcome;
    char line[sizeof(int) + XTP_ADDRESS_ROOM], table[MOST][XTP_ADDRESS_ROOM];
    int up[2], down[MOST][2];

    if (ranks < 2 || ranks > MOST || pipe(up) != 0)
        return 2;
    for (rank = 0; rank < ranks; rank++) {
        if (pipe(down[rank]) != 0)
            return 2;
        /* Before any endpoint: a child cannot use those of its parent. */
        if (fork() == 0)
            exit(run(rank, ranks, up[1], down[rank][0]));
    }
    for (rank = 0; rank < ranks; rank++) {
        int whose;

        if (read(up[0], line, sizeof line) != (ssize_t)sizeof line)
            return 1;
        memcpy(&whose, line, sizeof whose);
        memcpy(table[whose], line + sizeof whose, XTP_ADDRESS_ROOM);
    }
    for (rank = 0; rank < ranks; rank++)
        if (write(down[rank][1], table, (size_t)ranks * XTP_ADDRESS_ROOM) < 0)
            return 1;
    for (rank = 0; rank < ranks; rank++)
        if (wait(&outcome) < 0 || outcome != 0)
            failed = 1;
    if (!failed)
        printf("%d ranks have heard all others\n", ranks);
    return failed;
}
