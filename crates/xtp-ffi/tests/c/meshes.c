/* A mesh of two endpoints in one process, the other's in a thread: short, long and lent messages, any peer, one that leaves. */
#include <pthread.h>

#include "check.h"

#define LONG 1000000

static xtp_mesh *theirs;

/* Waits for the next end of a kind; others are passed over. */
static xtp_mesh_completion next(xtp_mesh *mesh, uint32_t kind)
{
    xtp_mesh_completion done;
    size_t count;

    do
        CHECK(xtp_mesh_wait(mesh, &done, 1, -1, &count), XTP_OK);
    while (count == 0 || done.kind != kind);
    return done;
}

/* Echoes three messages, with the word counted up, and leaves. */
static void *echo(void *nothing)
{
    const void *data;
    size_t length;
    int number;

    for (number = 0; number < 3; number++) {
        xtp_mesh_completion done;

        CHECK(xtp_mesh_receive(theirs, XTP_ANY_PEER, NULL, LONG, 5), XTP_OK);
        done = next(theirs, XTP_MESH_RECEIVED);
        HOLDS(done.token == 5 && done.status == XTP_OK && done.peer != XTP_OWN_PEER);
        CHECK(xtp_octets_data(done.octets, &data, &length), XTP_OK);
        HOLDS(length == done.length);
        CHECK(xtp_mesh_send(theirs, done.peer, done.tag, done.word + 1, data, length, 6, NULL, NULL), XTP_OK);
        CHECK(xtp_octets_free(done.octets), XTP_OK);
        HOLDS(next(theirs, XTP_MESH_SENT).token == 6);
    }
    CHECK(xtp_mesh_leave(theirs, -1), XTP_OK);
    return nothing;
}

static int freed;

static void give_back(void *memory)
{
    freed++;
    free(memory);
}

int main(void)
{
    xtp_tags seven = {7, UINT64_MAX, XTP_TAGS_LIKE, 0};
    xtp_mesh_options options;
    xtp_mesh_completion done;
    char peer[XTP_ADDRESS_ROOM], text[XTP_ADDRESS_ROOM], *memory;
    xtp_endpoint *one, *two;
    xtp_mesh *mesh, *none;
    pthread_t thread;
    uint32_t number, unknown;
    const void *data;
    size_t length, count;

    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &one), XTP_OK);
    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &two), XTP_OK);
    CHECK(xtp_endpoint_address(two, peer, sizeof peer), XTP_OK);
    CHECK(xtp_mesh_options_init(&options, sizeof options), XTP_OK);
    options.reserved = 1;
    CHECK(xtp_mesh_new(one, &options, &none), XTP_EOPTION);
    options.reserved = 0;
    options.service_number = 70000;
    CHECK(xtp_mesh_new(one, &options, &none), XTP_EINVAL);
    HOLDS(none == NULL);
    CHECK(xtp_mesh_new(one, NULL, &mesh), XTP_OK);
    CHECK(xtp_mesh_new(one, NULL, &none), XTP_EINUSE);
    CHECK(xtp_mesh_new(two, NULL, &theirs), XTP_OK);
    HOLDS(pthread_create(&thread, NULL, echo, NULL) == 0);
    CHECK(xtp_mesh_peer(mesh, peer, &number), XTP_OK);
    CHECK(xtp_mesh_peer(mesh, "127.0.0.1:0", &unknown), XTP_EADDRESS);
    CHECK(xtp_mesh_address(mesh, number, text, sizeof text), XTP_OK);
    HOLDS(strcmp(text, peer) == 0);
    CHECK(xtp_mesh_address(mesh, number + 1, text, sizeof text), XTP_EINVAL);
    CHECK(xtp_mesh_send(mesh, number + 1, 1, 1, "a", 1, 1, NULL, NULL), XTP_EINVAL);
    CHECK(xtp_mesh_receive(mesh, number + 1, NULL, 1, 1), XTP_EINVAL);
    CHECK(xtp_mesh_receive(mesh, number, NULL, SIZE_MAX, 1), XTP_EINVAL);
    CHECK(xtp_mesh_wait(mesh, &done, 1, 0, &count), XTP_EWOULDBLOCK);
    CHECK(xtp_mesh_wait(mesh, NULL, 1, 0, &count), XTP_EINVAL);

    CHECK(xtp_mesh_receive(mesh, number, &seven, 100, 1), XTP_OK);
    CHECK(xtp_mesh_send(mesh, number, 7, 40, "short", 5, 2, NULL, NULL), XTP_OK);
    done = next(mesh, XTP_MESH_RECEIVED);
    HOLDS(done.token == 1 && done.tag == 7 && done.word == 41 && done.length == 5 && done.peer == number);
    CHECK(xtp_octets_data(done.octets, &data, &length), XTP_OK);
    HOLDS(length == 5 && memcmp(data, "short", 5) == 0);
    CHECK(xtp_octets_free(done.octets), XTP_OK);

    memory = (char *)malloc(LONG);
    memset(memory, 'x', LONG);
    CHECK(xtp_mesh_send(mesh, number, 7, 0, memory, LONG, 3, give_back, memory), XTP_OK);
    /* Of a longer one the beginning. */
    CHECK(xtp_mesh_receive(mesh, XTP_ANY_PEER, NULL, 10, 4), XTP_OK);
    done = next(mesh, XTP_MESH_RECEIVED);
    HOLDS(done.token == 4 && done.length == LONG);
    CHECK(xtp_octets_data(done.octets, &data, &length), XTP_OK);
    HOLDS(length == 10 && memcmp(data, "xxxxxxxxxx", 10) == 0);
    CHECK(xtp_octets_free(done.octets), XTP_OK);
    HOLDS(freed == 1);

    /* Of no octets; to itself; of one that has left. */
    CHECK(xtp_mesh_receive(mesh, number, &seven, 0, 5), XTP_OK);
    CHECK(xtp_mesh_receive(mesh, number, &seven, 100, 6), XTP_OK);
    CHECK(xtp_mesh_send(mesh, number, 7, 0, NULL, 0, 3, NULL, NULL), XTP_OK);
    done = next(mesh, XTP_MESH_RECEIVED);
    HOLDS(done.token == 5 && done.length == 0);
    CHECK(xtp_octets_free(done.octets), XTP_OK);
    done = next(mesh, XTP_MESH_RECEIVED);
    HOLDS(done.token == 6 && done.status == XTP_EPEERLEFT && done.octets == NULL);
    CHECK(xtp_mesh_receive(mesh, XTP_OWN_PEER, NULL, 100, 7), XTP_OK);
    CHECK(xtp_mesh_send(mesh, XTP_OWN_PEER, 1, 2, "me", 2, 8, NULL, NULL), XTP_OK);
    done = next(mesh, XTP_MESH_RECEIVED);
    HOLDS(done.token == 7 && done.peer == XTP_OWN_PEER && done.length == 2);
    CHECK(xtp_octets_free(done.octets), XTP_OK);
    HOLDS(pthread_join(thread, NULL) == 0);
    CHECK(xtp_mesh_leave(NULL, 0), XTP_EINVAL);
    CHECK(xtp_mesh_leave(mesh, -2), XTP_EINVAL);
    CHECK(xtp_mesh_free(mesh), XTP_OK);
    CHECK(xtp_mesh_free(NULL), XTP_OK);
    CHECK(xtp_endpoint_free(one), XTP_OK);
    CHECK(xtp_endpoint_free(two), XTP_OK);
    puts("one list told of all");
    return 0;
}
