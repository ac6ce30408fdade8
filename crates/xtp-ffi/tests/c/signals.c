/* A signal in a wait: its handler runs and the call goes on waiting; another thread ends it with xtp_interrupt(). */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>

#include "check.h"

#define SIGNALS 5

static volatile sig_atomic_t handled;
static pthread_t waiting;

static void handler(int number)
{
    (void)number;
    handled++;
}

static void pause_for(long nanoseconds)
{
    struct timespec time;

    time.tv_sec = 0;
    time.tv_nsec = nanoseconds;
    nanosleep(&time, NULL);
}

static void *disturb(void *argument)
{
    xtp_endpoint *endpoint = (xtp_endpoint *)argument;
    int number;

    for (number = 0; number < SIGNALS; number++) {
        pause_for(20000000);
        HOLDS(pthread_kill(waiting, SIGUSR1) == 0);
        while (handled == number)
            pause_for(1000000);
    }
    CHECK(xtp_interrupt(endpoint), XTP_OK);
    return NULL;
}

int main(void)
{
    xtp_endpoint_options options;
    xtp_endpoint *endpoint;
    xtp_listener *listener;
    xtp_incoming *incoming;
    struct sigaction action;
    pthread_t thread;
    uint32_t way;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler; /* without SA_RESTART */
    HOLDS(sigaction(SIGUSR1, &action, NULL) == 0);
    waiting = pthread_self();
    for (way = XTP_WAIT_ADAPTIVE; way <= XTP_WAIT_SPIN; way++) {
        handled = 0;
        CHECK(xtp_endpoint_options_init(&options, sizeof options), XTP_OK);
        options.wait = way;
        CHECK(xtp_endpoint_open("127.0.0.1:0", &options, &endpoint), XTP_OK);
        CHECK(xtp_listen(endpoint, 1000, NULL, &listener), XTP_OK);
        HOLDS(pthread_create(&thread, NULL, disturb, endpoint) == 0);
        CHECK(xtp_recv(listener, -1, &incoming), XTP_EINTERRUPTED);
        HOLDS(pthread_join(thread, NULL) == 0);
        HOLDS(handled == SIGNALS);
        CHECK(xtp_listener_free(listener), XTP_OK);
        CHECK(xtp_endpoint_free(endpoint), XTP_OK);
    }
    puts("signals did not end it");
    return 0;
}
