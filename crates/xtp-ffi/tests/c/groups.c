/* Arguments of groups that cannot be, messages to two receivers, and what became of each. */
#include <pthread.h>

#include "check.h"

static void *receive(void *endpoint)
{
    xtp_subscription *subscription;
    char sender[XTP_ADDRESS_ROOM];
    xtp_octets *message;
    const void *data;
    size_t length;

    CHECK(xtp_join((xtp_endpoint *)endpoint, NULL, NULL, &subscription), XTP_OK);
    CHECK(xtp_subscription_sender(subscription, sender, sizeof sender), XTP_OK);
    CHECK(xtp_subscription_recv_message(subscription, &message), XTP_OK);
    CHECK(xtp_octets_data(message, &data, &length), XTP_OK);
    HOLDS(length == 13 && memcmp(data, "to all of you", 13) == 0);
    CHECK(xtp_octets_free(message), XTP_OK);
    CHECK(xtp_subscription_recv_message(subscription, &message), XTP_OK);
    HOLDS(message == NULL);
    CHECK(xtp_subscription_close(subscription), XTP_OK);
    CHECK(xtp_subscription_free(subscription), XTP_OK);
    return NULL;
}

static void refused(xtp_endpoint *endpoint, const char *const *addresses)
{
    xtp_group_options options;
    xtp_cast *cast;
    xtp_subscription *subscription;
    xtp_octets *message;
    xtp_member member;
    const char *nothing[1] = {NULL};
    char text[4];
    size_t count;

    CHECK(xtp_cast_open(NULL, addresses, 2, NULL, &cast), XTP_EINVAL);
    CHECK(xtp_cast_open(endpoint, NULL, 2, NULL, &cast), XTP_EINVAL);
    CHECK(xtp_cast_open(endpoint, addresses, 0, NULL, &cast), XTP_EINVAL);
    CHECK(xtp_cast_open(endpoint, nothing, 1, NULL, &cast), XTP_EINVAL);
    CHECK(xtp_group_options_init(&options, sizeof options), XTP_OK);
    options.hops = 256;
    CHECK(xtp_cast_open(endpoint, addresses, 2, &options, &cast), XTP_EINVAL);
    HOLDS(cast == NULL);
    CHECK(xtp_join(endpoint, NULL, &options, &subscription), XTP_EINVAL);
    CHECK(xtp_join(endpoint, "127.0.0.1:9", NULL, &subscription), XTP_ESOCKET);
    HOLDS(subscription == NULL);
    CHECK(xtp_cast_set_timeout(NULL, 0), XTP_EINVAL);
    CHECK(xtp_cast_write(NULL, "a", 1, &count), XTP_EINVAL);
    CHECK(xtp_cast_send_message(NULL, "a", 1), XTP_EINVAL);
    CHECK(xtp_cast_finish(NULL), XTP_EINVAL);
    CHECK(xtp_cast_members(NULL, &member, 1, &count), XTP_EINVAL);
    CHECK(xtp_cast_free(NULL), XTP_OK);
    CHECK(xtp_subscription_set_timeout(NULL, 0), XTP_EINVAL);
    CHECK(xtp_subscription_sender(NULL, text, sizeof text), XTP_EINVAL);
    CHECK(xtp_subscription_read(NULL, text, sizeof text, &count), XTP_EINVAL);
    CHECK(xtp_subscription_recv_message(NULL, &message), XTP_EINVAL);
    CHECK(xtp_subscription_close(NULL), XTP_EINVAL);
    CHECK(xtp_subscription_free(NULL), XTP_OK);
}

int main(void)
{
    char addresses[2][XTP_ADDRESS_ROOM];
    const char *names[2];
    xtp_endpoint *endpoint, *receivers[2];
    xtp_member members[2];
    pthread_t threads[2];
    xtp_cast *cast;
    size_t count;
    int at;

    CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &endpoint), XTP_OK);
    for (at = 0; at < 2; at++) {
        CHECK(xtp_endpoint_open("127.0.0.1:0", NULL, &receivers[at]), XTP_OK);
        CHECK(xtp_endpoint_address(receivers[at], addresses[at], XTP_ADDRESS_ROOM), XTP_OK);
        names[at] = addresses[at];
    }
    refused(endpoint, names);
    for (at = 0; at < 2; at++)
        HOLDS(pthread_create(&threads[at], NULL, receive, receivers[at]) == 0);
    CHECK(xtp_cast_open(endpoint, names, 2, NULL, &cast), XTP_OK);
    CHECK(xtp_cast_send_message(cast, "", 0), XTP_EOUTOFRANGE);
    CHECK(xtp_cast_send_message(cast, "to all of you", 13), XTP_OK);
    CHECK(xtp_cast_finish(cast), XTP_OK);
    CHECK(xtp_cast_members(cast, NULL, 0, &count), XTP_OK);
    HOLDS(count == 2);
    CHECK(xtp_cast_members(cast, NULL, 1, &count), XTP_EINVAL);
    CHECK(xtp_cast_members(cast, members, 2, &count), XTP_OK);
    for (at = 0; at < 2; at++) {
        HOLDS(members[at].state == XTP_MEMBER_DONE && members[at].reason[0] == 0);
        HOLDS(strcmp(members[at].address, names[0]) == 0 || strcmp(members[at].address, names[1]) == 0);
    }
    CHECK(xtp_cast_free(cast), XTP_OK);
    for (at = 0; at < 2; at++) {
        HOLDS(pthread_join(threads[at], NULL) == 0);
        CHECK(xtp_endpoint_free(receivers[at]), XTP_OK);
    }
    CHECK(xtp_endpoint_free(endpoint), XTP_OK);
    puts("all have it");
    return 0;
}
