/* One sender, many receivers: standard input to all of them, each of which writes it to its standard output.
 *
 *   cast receive 127.0.0.1:0            prints its address to standard error first; with a second address, of that group
 *   cast send ADDRESS...                one address of multicast, or those of the receivers
 */
#include <stdio.h>
#include <string.h>

#include <xtp.h>

#define MOST 64

static int failed(const char *what, int status)
{
    fprintf(stderr, "%s: %s (%d)\n", what, xtp_last_error(), status);
    return status;
}

static int receive(const char *where, const char *group)
{
    char address[XTP_ADDRESS_ROOM], octets[65536];
    xtp_endpoint *endpoint = NULL;
    xtp_subscription *subscription = NULL;
    size_t got;
    int status;

    if ((status = xtp_endpoint_open(where, NULL, &endpoint)) != XTP_OK ||
        (status = xtp_join(endpoint, group, NULL, &subscription)) != XTP_OK ||
        (status = xtp_endpoint_address(endpoint, address, sizeof address)) != XTP_OK) {
        failed("joining", status);
        goto end;
    }
    fprintf(stderr, "%s\n", address);
    do {
        if ((status = xtp_subscription_read(subscription, octets, sizeof octets, &got)) != XTP_OK) {
            failed("reading", status);
            goto end;
        }
        fwrite(octets, 1, got, stdout);
    } while (got > 0);
    if ((status = xtp_subscription_close(subscription)) != XTP_OK)
        failed("closing", status);
end:
    xtp_subscription_free(subscription);
    xtp_endpoint_free(endpoint);
    return status;
}

static int send_all(xtp_cast *cast)
{
    char octets[65536];
    size_t length, done, written;
    int status;

    while ((length = fread(octets, 1, sizeof octets, stdin)) > 0)
        for (done = 0; done < length; done += written)
            if ((status = xtp_cast_write(cast, octets + done, length - done, &written)) != XTP_OK)
                return failed("writing", status);
    if ((status = xtp_cast_finish(cast)) != XTP_OK)
        return failed("finishing", status);
    return XTP_OK;
}

static int report(const xtp_cast *cast)
{
    xtp_member members[MOST];
    size_t count, at, complete = 0;
    int status = xtp_cast_members(cast, members, MOST, &count);

    if (status != XTP_OK)
        return failed("the receivers", status);
    for (at = 0; at < count && at < MOST; at++) {
        if (members[at].state == XTP_MEMBER_DONE)
            complete++;
        else
            fprintf(stderr, "%s has not got it: %s\n", members[at].address, members[at].reason);
    }
    printf("%lu of %lu have it\n", (unsigned long)complete, (unsigned long)count);
    return complete == count ? XTP_OK : XTP_EGROUP;
}

static int cast_to(char **addresses, size_t count)
{
    const char *names[MOST];
    xtp_endpoint *endpoint = NULL;
    xtp_cast *cast = NULL;
    size_t at;
    int status;

    for (at = 0; at < count; at++)
        names[at] = addresses[at];
    if ((status = xtp_endpoint_open(NULL, NULL, &endpoint)) != XTP_OK ||
        (status = xtp_cast_open(endpoint, names, count, NULL, &cast)) != XTP_OK)
        failed("opening", status);
    else if ((status = send_all(cast)) == XTP_OK)
        status = report(cast);
    xtp_cast_free(cast);
    xtp_endpoint_free(endpoint);
    return status;
}

int main(int argc, char **argv)
{
    if ((argc == 3 || argc == 4) && strcmp(argv[1], "receive") == 0)
        return receive(argv[2], argc == 4 ? argv[3] : NULL) != XTP_OK;
    if (argc >= 3 && argc - 2 <= MOST && strcmp(argv[1], "send") == 0)
        return cast_to(argv + 2, (size_t)argc - 2) != XTP_OK;
    fprintf(stderr, "usage: cast receive ADDRESS [GROUP] | cast send ADDRESS...\n");
    return 2;
}
