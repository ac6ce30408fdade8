/* xtp.h: the Xpress Transport Protocol for C (C99 or later, C++ too). Made of the comments in crates/xtp-ffi/src; do not edit.
 *
 * Every call returns a status: XTP_OK or a negative number that never changes its meaning; xtp_strerror() has a few words for it and
 * xtp_last_error() what went wrong in this very call. What a call would give back is NULL or 0 if it fails.
 *
 * Time limits are nanoseconds: -1 waits as long as it takes, 0 does not wait (then XTP_EWOULDBLOCK), else so long at most (XTP_ETIMEDOUT).
 *
 * Octets that go in are copied before the call returns, or lent with a function that gives them back: called exactly once, whatever becomes
 * of the call, by any thread, and not allowed to call this library. Octets that come out are copied into the caller's memory, or lent by a handle
 * until that is freed.
 *
 * Structures of options begin with their size: xtp_..._options_init(&options, sizeof options) first, then change fields. NULL for options
 * is the same as what init sets.
 *
 * Any thread may call anything at any time, but nothing may use a handle while it is freed or after. Handles are freed in any order.
 * A signal does not end a call that waits; xtp_interrupt() does, from another thread. After fork() the parent goes on; in the child, handles
 * of the parent answer XTP_EFORK and the child opens its own.
 */

#ifndef XTP_H
#define XTP_H

#include <stddef.h>
#include <stdint.h>

/*
 Done.
 */
#define XTP_OK 0

/*
 An argument cannot be: NULL, out of its range, no text, a handle of another kind or of another endpoint.
 */
#define XTP_EINVAL (-1)

/*
 A bug of this library. What the call was to do may be half done; please report the text.
 */
#define XTP_EINTERNAL (-2)

/*
 The handle was made before fork(), by the parent, which goes on with it; the child opens its own.
 */
#define XTP_EFORK (-3)

/*
 The handle was freed before. Told for certain in a debug build of the library only.
 */
#define XTP_EFREED (-4)

/*
 An options structure has something set that this version of the library does not know.
 */
#define XTP_EOPTION (-5)

/*
 The caller's memory has less room than what is to be put there; nothing was lost, and the length was told.
 */
#define XTP_EROOM (-6)

/*
 Not possible a second time: the caller was answered, the endpoint has a driver.
 */
#define XTP_EALREADY (-7)

/*
 A function that gives lent octets back called the library.
 */
#define XTP_EREENTRY (-8)

/*
 The socket could not be set up.
 */
#define XTP_ESOCKET (-10)

/*
 The operating system has no random numbers.
 */
#define XTP_EENTROPY (-11)

/*
 The socket failed while it was in use; open a new endpoint.
 */
#define XTP_ECARRIER (-12)

/*
 A name has no address.
 */
#define XTP_ERESOLVE (-13)

/*
 No peer, group or endpoint can have this address.
 */
#define XTP_EADDRESS (-14)

/*
 No route leads to the peer.
 */
#define XTP_ENOROUTE (-15)

/*
 This host does not let packets to the peer leave.
 */
#define XTP_ENOTPERMITTED (-16)

/*
 The way to the peer carries shorter datagrams than the protocol needs.
 */
#define XTP_ENARROW (-17)

/*
 A capture file could not be written.
 */
#define XTP_ECAPTURE (-18)

/*
 The time is over that the caller gave.
 */
#define XTP_ETIMEDOUT (-19)

/*
 Nothing can be done without waiting.
 */
#define XTP_EWOULDBLOCK (-20)

/*
 xtp_interrupt() ended the wait.
 */
#define XTP_EINTERRUPTED (-21)

/*
 The association gave way to others that waited at its listener.
 */
#define XTP_EDISPLACED (-22)

/*
 The caller has gone before it was answered.
 */
#define XTP_ECALLERGONE (-23)

/*
 The group is over for this end.
 */
#define XTP_EGROUP (-24)

/*
 The endpoint sends to a group in another way already.
 */
#define XTP_EGROUPSENDING (-25)

/*
 The peer's stream ended inside a message.
 */
#define XTP_EINCOMPLETE (-26)

/*
 A message is longer than this end allows.
 */
#define XTP_ETOOLONG (-27)

/*
 A mesh refused the call.
 */
#define XTP_EMESH (-28)

/*
 A descriptor cannot be waited for.
 */
#define XTP_EDESCRIPTOR (-30)

/*
 A file could not be sent, or received into.
 */
#define XTP_EFILE (-31)

/*
 A message could not be read to its end.
 */
#define XTP_EBROKENMESSAGE (-32)

/*
 An error that this version of the C library has no number for.
 */
#define XTP_EOTHER (-29)

/*
 The association is over, all of it confirmed.
 */
#define XTP_ECLOSED (-40)

/*
 The association was aborted by this end.
 */
#define XTP_EABORTED (-41)

/*
 The association was aborted by the peer.
 */
#define XTP_EPEERABORTED (-42)

/*
 The peer's program rejected the association; see xtp_last_rejection().
 */
#define XTP_EREJECTED (-43)

/*
 The peer's reader refused the rest of the stream.
 */
#define XTP_EREADERREFUSED (-44)

/*
 What was sent was not confirmed; it may or may not have been taken.
 */
#define XTP_EUNCONFIRMED (-45)

/*
 The peer did not answer.
 */
#define XTP_EUNREACHABLE (-46)

/*
 The peer's host says that no program has this UDP port.
 */
#define XTP_ENOBODYLISTENS (-47)

/*
 The peer refused the association: no listener for the service number, or none for this kind.
 */
#define XTP_EREFUSED (-48)

/*
 The peer cannot tell whether the request was executed.
 */
#define XTP_EEXECUTIONUNKNOWN (-49)

/*
 The peer does not know the association any more.
 */
#define XTP_ELOST (-50)

/*
 The peer violated the protocol.
 */
#define XTP_EPROTOCOL (-51)

/*
 The association is gone.
 */
#define XTP_ENOASSOCIATION (-60)

/*
 The transmitter or receiver of a group is gone.
 */
#define XTP_ENOGROUP (-61)

/*
 The listener is closed.
 */
#define XTP_ENOLISTENER (-62)

/*
 The service number is taken by another listener.
 */
#define XTP_EINUSE (-63)

/*
 This end's stream was ended: nothing can follow.
 */
#define XTP_EWRITERCLOSED (-64)

/*
 The peer's reader takes no more.
 */
#define XTP_EPEERREFUSES (-65)

/*
 A limit would be exceeded.
 */
#define XTP_ELIMIT (-66)

/*
 A datagram is longer than any may be.
 */
#define XTP_EDATAGRAMTOOLONG (-67)

/*
 An option has a value outside its range.
 */
#define XTP_EOUTOFRANGE (-68)

/*
 The peer of a mesh was silent for longer than the mesh's patience.
 */
#define XTP_EPEERSILENT (-80)

/*
 The peer of a mesh began anew.
 */
#define XTP_EPEERRESTARTED (-81)

/*
 The peer of a mesh has left.
 */
#define XTP_EPEERLEFT (-82)

/*
 The peer of a mesh broke its protocol.
 */
#define XTP_EPEERBROKE (-83)

/*
 Poll for up to 100 us while that pays, then sleep.
 */
#define XTP_WAIT_ADAPTIVE 0

/*
 Sleep at once: least processor time.
 */
#define XTP_WAIT_BLOCK 1

/*
 Never sleep: least latency, a core is busy while a call waits.
 */
#define XTP_WAIT_SPIN 2

/*
 Everything arrives, in order.
 */
#define XTP_RELIABLE 0

/*
 What is lost is not repeated: its reader passes over gaps.
 */
#define XTP_UNRELIABLE 1

/*
 As many as join.
 */
#define XTP_ANY_NUMBER UINT32_MAX

/*
 Octets that any text of an address takes, the zero octet included.
 */
#define XTP_ADDRESS_ROOM 64

/*
 The peer's host has it.
 */
#define XTP_RECEIVED 0

/*
 The peer's program has taken it.
 */
#define XTP_DELIVERED 1

/*
 Every message, with a tag or without.
 */
#define XTP_TAGS_ANY 0

/*
 Messages without a tag.
 */
#define XTP_TAGS_WITHOUT 1

/*
 Messages whose tag is equal to tag in the bits that are set in mask.
 */
#define XTP_TAGS_LIKE 2

/*
 Messages of every peer.
 */
#define XTP_ANY_PEER UINT32_MAX

/*
 The program itself: what is sent to it stays in the process.
 */
#define XTP_OWN_PEER 0

/*
 A message was sent.
 */
#define XTP_MESH_SENT 1

/*
 A receive has its message, or will have none.
 */
#define XTP_MESH_RECEIVED 2

/*
 All that was said to and by a peer, and is not complete, is lost. What follows begins anew.
 */
#define XTP_MESH_LOST 3

/*
 It asked to join, and has not said that it heard the answer.
 */
#define XTP_MEMBER_PENDING 0

/*
 It is waited for.
 */
#define XTP_MEMBER_HOLDER 1

/*
 It is behind, and fetches what it lacks by itself.
 */
#define XTP_MEMBER_BEHIND 2

/*
 It has everything.
 */
#define XTP_MEMBER_DONE 3

/*
 It is out.
 */
#define XTP_MEMBER_DROPPED 4

/*
 The sender of a group.
 */
typedef struct xtp_cast xtp_cast;

/*
 One UDP socket and any number of associations on it. No thread drives it: calls do the work.
 */
typedef struct xtp_endpoint xtp_endpoint;

/*
 A message that came, and its sender, to be answered or not.
 */
typedef struct xtp_incoming xtp_incoming;

/*
 Takes what is sent to one service number of an endpoint.
 */
typedef struct xtp_listener xtp_listener;

/*
 Messages among many peers of one endpoint, as runtimes of parallel programs have them: sends never wait, receives are posted by tag, and
 what is over comes in one list.
 */
typedef struct xtp_mesh xtp_mesh;

/*
 Octets that came, to be released with xtp_octets_free().
 */
typedef struct xtp_octets xtp_octets;

/*
 Streams and listeners of one endpoint that a thread waits for together.
 */
typedef struct xtp_poll_set xtp_poll_set;

/*
 Messages, calls and receives of one endpoint that are under way together.
 */
typedef struct xtp_queue xtp_queue;

/*
 An association with a peer, to write to and read from.
 */
typedef struct xtp_stream xtp_stream;

/*
 A receiver of a group.
 */
typedef struct xtp_subscription xtp_subscription;

/*
 How a group is sent to, and received. xtp_group_options_init() sets what is good for most programs.
 */
typedef struct xtp_group_options {
    /*
     Octets of this structure.
     */
    size_t size;
    /*
     Sending: how long in ns to wait for the expected members. 30 s.
     */
    int64_t wait;
    /*
     Sending: how long in ns a silent receiver is waited for. 30 s.
     */
    int64_t patience;
    /*
     Sending: octets kept for members that fell behind. 64 MiB.
     */
    uint64_t keep;
    /*
     Sending: octets of UDP payload a second at most; 0: no limit.
     */
    uint64_t rate;
    /*
     Receiving: octets buffered for the program; 0: 32 MiB.
     */
    uint64_t capacity;
    /*
     The interface by its index; 0: where the route leads.
     */
    uint32_t interface;
    /*
     Links that packets to the group may cross. 1: this one only.
     */
    uint32_t hops;
    /*
     Receivers that joined with another number do not answer. 0.
     */
    uint32_t service_number;
    /*
     Sending: how many receivers to wait for before data leaves, or XTP_ANY_NUMBER, which it is: of a list of addresses all.
     */
    uint32_t expect;
} xtp_group_options;

/*
 How a mesh begins. xtp_mesh_options_init() sets what is good for most programs.
 */
typedef struct xtp_mesh_options {
    /*
     Octets of this structure.
     */
    size_t size;
    /*
     How long in ns a peer may be silent to which something is to be said, or from which something is to come. 10 min.
     */
    int64_t patience;
    /*
     Most peers; 0: 1 048 576.
     */
    uint64_t max_peers;
    /*
     Most receives that wait for a message; 0: 1 048 576.
     */
    uint64_t max_posted;
    /*
     Most messages that wait for a receive; 0: 1 048 576.
     */
    uint64_t max_unexpected;
    /*
     Service number at every peer; 0: that of meshes.
     */
    uint32_t service_number;
    /*
     0.
     */
    uint32_t reserved;
} xtp_mesh_options;

/*
 How an endpoint works. xtp_endpoint_options_init() sets what is good for most programs.
 */
typedef struct xtp_endpoint_options {
    /*
     Octets of this structure.
     */
    size_t size;
    /*
     Longest time in ns that freeing the last handle waits until what was sent is confirmed. 1 s.
     */
    int64_t linger;
    /*
     Longest time in ns that xtp_close() waits. 10 s.
     */
    int64_t close_timeout;
    /*
     Longest time in ns that a message may take from its first octet to its last one at a listener. 30 s.
     */
    int64_t message_timeout;
    /*
     Longest message that is put together, octets. 64 MiB.
     */
    uint64_t message_limit;
    /*
     Octets that all associations may keep together; 0: a share of the memory there is.
     */
    uint64_t memory_limit;
    /*
     How calls wait: XTP_WAIT_ADAPTIVE, _BLOCK or _SPIN.
     */
    uint32_t wait;
    /*
     1: datagrams may go to addresses of broadcast.
     */
    uint32_t broadcast;
    /*
     1: no program had this UDP port within 50 s, so that old requests cannot come. 0.
     */
    uint32_t fresh_start;
    /*
     0: every short write leaves in its own call, and the library starts no thread. 1.
     */
    uint32_t gather_writes;
} xtp_endpoint_options;

/*
 How a stream works. xtp_stream_options_init() sets what is good for most programs.
 */
typedef struct xtp_stream_options {
    /*
     Octets of this structure.
     */
    size_t size;
    /*
     Octets that this end buffers for its reader at first; 0: 4 MiB, and more on a long path.
     */
    uint64_t receive_capacity;
    /*
     Octets that this end keeps, unsent and unconfirmed; 0: 4 MiB, and more on a long path.
     */
    uint64_t send_capacity;
    /*
     Silence in ns after which the peer is given up. 60 s.
     */
    int64_t timeout;
    /*
     The same before the peer was heard. At most 20 s. 20 s.
     */
    int64_t connect_timeout;
    /*
     XTP_RELIABLE or XTP_UNRELIABLE.
     */
    uint32_t reliability;
    /*
     1: keep trying although the peer's host says that no program has the UDP port yet. 0.
     */
    uint32_t wait_for_listener;
} xtp_stream_options;

/*
 What a listener takes. xtp_listen_options_init() sets what is good for most programs.
 */
typedef struct xtp_listen_options {
    /*
     Octets of this structure.
     */
    size_t size;
    /*
     Associations that wait here for the program, at least 1. 4 096.
     */
    uint64_t backlog;
    /*
     1: streams; 0: datagrams, messages and requests.
     */
    uint32_t streams;
    /*
     1: responses of one packet are not confirmed, but repeated when the request is. 0.
     */
    uint32_t unconfirmed_response;
} xtp_listen_options;

/*
 How a call is made. xtp_call_options_init() sets what is good for most programs.
 */
typedef struct xtp_call_options {
    /*
     Octets of this structure.
     */
    size_t size;
    /*
     Longest time in ns for the whole call; -1: as long as the server's host answers. -1.
     */
    int64_t timeout;
    /*
     Longest answer that is taken, octets; 0: the endpoint's message_limit.
     */
    uint64_t longest_answer;
    /*
     Octets expected back; of more than three times the request the request is padded, so that a server that does not know this address
     yet may answer at once. 0: unknown.
     */
    uint32_t expected_answer;
    /*
     1: the server may take longer than a round trip, and acknowledges the request first. 0.
     */
    uint32_t slow_server;
    /*
     1: the request may run twice. 0.
     */
    uint32_t repeatable;
    /*
     1: keep trying although the server's host says that no program has the UDP port yet. 0.
     */
    uint32_t wait_for_listener;
} xtp_call_options;

/*
 Counters of an endpoint since it was opened.
 */
typedef struct xtp_statistics {
    /*
     Packets sent.
     */
    uint64_t packets_sent;
    /*
     Packets received.
     */
    uint64_t packets_received;
    /*
     System calls made to send, receive, wait and ask for errors.
     */
    uint64_t system_calls;
    /*
     Octets of programs that were copied above the engine.
     */
    uint64_t octets_copied;
    /*
     Trains of packets that the system refused for passing reasons.
     */
    uint64_t send_errors;
    /*
     Calls of receiving that failed and were made again.
     */
    uint64_t receive_errors;
} xtp_statistics;

/*
 Gives lent octets back: called exactly once with the context that was lent with them, by whichever thread met their acknowledgement. It
 must not call this library: whatever it calls answers XTP_EREENTRY.
 */
typedef void (*xtp_free_function)(void *context);

/*
 Which messages a receive is for. NULL for it means every message.
 */
typedef struct xtp_tags {
    /*
     The tag.
     */
    uint64_t tag;
    /*
     The bits of it that count: UINT64_MAX, all; 0, any tag.
     */
    uint64_t mask;
    /*
     XTP_TAGS_ANY, _WITHOUT or _LIKE.
     */
    uint32_t kind;
    /*
     0.
     */
    uint32_t reserved;
} xtp_tags;

/*
 What became of one message, call or receive.
 */
typedef struct xtp_completion {
    /*
     The number that was given with it.
     */
    uint64_t token;
    /*
     The answer of a call or the message of a receive, to be released; NULL of what has none or failed.
     */
    struct xtp_octets *octets;
    /*
     The tag of a received message, if tagged is 1.
     */
    uint64_t tag;
    /*
     xtp_stream_number() of the stream that a received message came by; 0 of everything else.
     */
    uint64_t stream;
    /*
     XTP_OK, or why not.
     */
    int32_t status;
    /*
     1: a received message has a tag.
     */
    uint32_t tagged;
} xtp_completion;

/*
 Something that was begun at a mesh is over.
 */
typedef struct xtp_mesh_completion {
    /*
     The number that was given with it; 0 of XTP_MESH_LOST.
     */
    uint64_t token;
    /*
     Of XTP_MESH_RECEIVED the octets, as many as the receive takes, to be released; else NULL.
     */
    struct xtp_octets *octets;
    /*
     The tag of a received message.
     */
    uint64_t tag;
    /*
     The word beside it.
     */
    uint64_t word;
    /*
     Octets of the whole message; of XTP_MESH_LOST, messages that were completed as sent and may not have come.
     */
    uint64_t length;
    /*
     XTP_MESH_SENT, _RECEIVED or _LOST.
     */
    uint32_t kind;
    /*
     The peer that sent the message, or that is lost.
     */
    uint32_t peer;
    /*
     XTP_OK, or how the peer was lost.
     */
    int32_t status;
    /*
     0.
     */
    uint32_t reserved;
} xtp_mesh_completion;

/*
 What a sender knows of a receiver.
 */
typedef struct xtp_member {
    /*
     Octets that it is known to have without a gap.
     */
    uint64_t octets;
    /*
     ns from its join until it was done or out, or until now.
     */
    int64_t time;
    /*
     XTP_MEMBER_PENDING, _HOLDER, _BEHIND, _DONE or _DROPPED.
     */
    uint32_t state;
    /*
     0.
     */
    uint32_t reserved;
    /*
     Where it is.
     */
    char address[64];
    /*
     Why it is out, and what its user said; else "".
     */
    char reason[256];
} xtp_member;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 What a status means, in a few words that stay where they are. Of a number that is no status it says so.
 */
const char *xtp_strerror(int status);

/*
 What the last call of this thread that failed has to say: what went wrong and what to do about it, in one line. It stays until the next
 call of this thread that fails; "" before the first. Calls that succeed leave it as it is.
 */
const char *xtp_last_error(void);

/*
 The number that the peer's program gave with its rejection, if the last call of this thread that failed did so with XTP_EREJECTED; else 0.
 */
uint32_t xtp_last_rejection(void);

/*
 Where they lie and how many there are. They stay until the handle is freed.
 */
int xtp_octets_data(const struct xtp_octets *octets, const void **data, size_t *length);

/*
 Releases them. NULL is none.
 */
int xtp_octets_free(struct xtp_octets *octets);

/*
 Sets the defaults. size is sizeof *options.
 */
int xtp_group_options_init(struct xtp_group_options *options, size_t size);

/*
 Sets the defaults. size is sizeof *options.
 */
int xtp_mesh_options_init(struct xtp_mesh_options *options, size_t size);

/*
 Sets the defaults. size is sizeof *options.
 */
int xtp_endpoint_options_init(struct xtp_endpoint_options *options, size_t size);

/*
 Sets the defaults. size is sizeof *options.
 */
int xtp_stream_options_init(struct xtp_stream_options *options, size_t size);

/*
 Sets the defaults. size is sizeof *options.
 */
int xtp_listen_options_init(struct xtp_listen_options *options, size_t size);

/*
 Sets the defaults. size is sizeof *options.
 */
int xtp_call_options_init(struct xtp_call_options *options, size_t size);

/*
 Version of the library, as "0.1.0".
 */
const char *xtp_version(void);

/*
 Opens an endpoint at a UDP address of this host, as `127.0.0.1:4000`, `[::]:4000` or `host:4000`; port 0 is any free one, and NULL any
 address and port, for a client. options may be NULL.
 */
int xtp_endpoint_open(const char *address,
                      const struct xtp_endpoint_options *options,
                      struct xtp_endpoint **endpoint);

/*
 Frees an endpoint; NULL is none. Its listeners and streams go on. Freeing the last handle of all of them waits, up to the option linger,
 until what was sent is confirmed.
 */
int xtp_endpoint_free(struct xtp_endpoint *endpoint);

/*
 Waits until everything is confirmed that was sent by handles freed before; unconfirmed gets the number of associations of which
 something is not. Streams whose handles exist are left alone.
 */
int xtp_shutdown(const struct xtp_endpoint *endpoint,
                 int64_t timeout,
                 size_t *unconfirmed);

/*
 The address that the endpoint is bound to, as a text: XTP_ADDRESS_ROOM octets have room for any.
 */
int xtp_endpoint_address(const struct xtp_endpoint *endpoint, char *address, size_t length);

/*
 A descriptor for poll, epoll and their like: readable when xtp_process() has something to take. It belongs to the endpoint: do not read,
 write or close it.
 */
int xtp_descriptor(const struct xtp_endpoint *endpoint,
                   int *descriptor);

/*
 Nanoseconds from now until the endpoint wants xtp_process() although nothing comes; -1: not before something comes. To be asked after the
 last call before a sleep.
 */
int xtp_next_deadline(const struct xtp_endpoint *endpoint,
                      int64_t *nanoseconds);

/*
 Takes what came and sends what is due; waits for something to come or to fall due as long as timeout says. taken gets the number of
 datagrams; it may be NULL.
 */
int xtp_process(const struct xtp_endpoint *endpoint,
                int64_t timeout,
                size_t *taken);

/*
 Starts a thread that makes progress while no call does, for programs that are elsewhere for long.
 */
int xtp_start_driver(const struct xtp_endpoint *endpoint);

/*
 Ends that thread; does nothing if there is none.
 */
int xtp_stop_driver(const struct xtp_endpoint *endpoint);

/*
 Ends every call that waits on this endpoint, in all threads, with XTP_EINTERRUPTED, and lets none wait until xtp_resume(). Nothing is
 lost. Not for signal handlers.
 */
int xtp_interrupt(const struct xtp_endpoint *endpoint);

/*
 Lets calls wait again.
 */
int xtp_resume(const struct xtp_endpoint *endpoint);

/*
 Counters of an endpoint. size is sizeof *statistics: a library that is older fills less of it and sets the rest to 0, one that is newer
 fills what the program knows.
 */
int xtp_endpoint_statistics(const struct xtp_endpoint *endpoint,
                            struct xtp_statistics *statistics,
                            size_t size);

/*
 Opens a stream to a service number of the peer at an address, as `192.0.2.1:4000`, `[2001:db8::1]:4000` or `host:4000`. No packet leaves
 before there is something to send. options may be NULL.
 */
int xtp_open(const struct xtp_endpoint *endpoint,
             const char *peer,
             uint16_t service_number,
             const struct xtp_stream_options *options,
             struct xtp_stream **stream);

/*
 Says hello without data, for an opener that reads first; returns when the peer has answered.
 */
int xtp_connect(const struct xtp_stream *stream, int64_t timeout);

/*
 How long calls that read this stream wait, ns: -1, which it begins with, as long as it takes; 0: not at all.
 */
int xtp_set_read_timeout(const struct xtp_stream *stream, int64_t timeout);

/*
 How long calls that write to this stream wait for room, or confirmation, ns: -1, which it begins with, as long as it takes; 0: not at all.
 */
int xtp_set_write_timeout(const struct xtp_stream *stream,
                          int64_t timeout);

/*
 Writes octets: copies them and sends what credit and rate allow. written gets how many were taken, at least one of those there are.
 */
int xtp_write(const struct xtp_stream *stream,
              const void *data,
              size_t length,
              size_t *written);

/*
 Writes all octets; waits for room. On failure some of them may have been taken. Refused while the write timeout is 0.
 */
int xtp_write_all(const struct xtp_stream *stream,
                  const void *data,
                  size_t length);

/*
 Sends what short writes have gathered.
 */
int xtp_flush(const struct xtp_stream *stream);

/*
 Reads octets into the caller's memory. got gets how many; 0 is the end of the stream.
 */
int xtp_read(const struct xtp_stream *stream, void *memory, size_t length, size_t *got);

/*
 Sends one message of at least one octet. sent, which may be NULL unless the write timeout is 0, gets how many octets were taken: with
 that timeout it may be less, and the rest is to be sent by another call of this function.
 */
int xtp_send_message(const struct xtp_stream *stream,
                     const void *data,
                     size_t length,
                     size_t *sent);

/*
 Receives the next message into the caller's memory. received gets its length; 0 is the end of the stream. With XTP_EROOM received is the
 length that is needed, and the next call for a message gets the same one.
 */
int xtp_recv_message(const struct xtp_stream *stream,
                     void *memory,
                     size_t length,
                     size_t *received);

/*
 Receives the next message without a copy. message gets a handle to release, or NULL at the end of the stream.
 */
int xtp_recv_message_octets(const struct xtp_stream *stream, struct xtp_octets **message);

/*
 Sends one message of at least one octet behind a tag: a number that says what, or whom, it is for. To xtp_recv_message() it is a message
 like any other. Refused while the write timeout is 0.
 */
int xtp_send_tagged(const struct xtp_stream *stream,
                    uint64_t tag,
                    const void *data,
                    size_t length);

/*
 As xtp_recv_message_octets(), with the message's tag; tagged gets 1 if it has one, else 0. Does not get what another call left for XTP_EROOM,
 and is refused while the read timeout is 0.
 */
int xtp_recv_tagged(const struct xtp_stream *stream,
                    struct xtp_octets **message,
                    uint32_t *tagged,
                    uint64_t *tag);

/*
 Waits until everything sent so far is confirmed: XTP_RECEIVED by the peer's host, or XTP_DELIVERED to its program. Waits as long as the
 write timeout says.
 */
int xtp_confirm(const struct xtp_stream *stream,
                uint32_t what);

/*
 The address of the peer as a text: XTP_ADDRESS_ROOM octets have room for any.
 */
int xtp_stream_peer(const struct xtp_stream *stream, char *address, size_t length);

/*
 A number of its own among the streams of an endpoint, which completions of receives name.
 */
int xtp_stream_number(const struct xtp_stream *stream, uint64_t *number);

/*
 Ends this end's stream after everything sent; the peer may go on. Does not wait for confirmation.
 */
int xtp_shutdown_write(const struct xtp_stream *stream);

/*
 Tells the peer that nothing more is wanted of it.
 */
int xtp_shutdown_read(const struct xtp_stream *stream);

/*
 Ends the association and waits, up to the endpoint's close_timeout, until everything sent is confirmed. The handle is still to be freed.
 */
int xtp_close(const struct xtp_stream *stream);

/*
 Ends the association at once: what is queued at either end is discarded. The handle is still to be freed.
 */
int xtp_abort(const struct xtp_stream *stream);

/*
 Frees a stream; NULL is none. One that was not closed is ended in the background.
 */
int xtp_stream_free(struct xtp_stream *stream);

/*
 Listens on a service number: for datagrams, messages and requests, or with the option streams for streams. options may be NULL.
 */
int xtp_listen(const struct xtp_endpoint *endpoint,
               uint16_t service_number,
               const struct xtp_listen_options *options,
               struct xtp_listener **listener);

/*
 Waits for the next stream.
 */
int xtp_accept(const struct xtp_listener *listener, int64_t timeout, struct xtp_stream **stream);

/*
 Waits for the next whole message: a datagram, a message or a request. incoming gets a handle with it, to be answered or not, and to be
 freed.
 */
int xtp_recv(const struct xtp_listener *listener,
             int64_t timeout,
             struct xtp_incoming **incoming);

/*
 Stops listening: calls that wait here end with XTP_ENOLISTENER, associations that were not accepted are aborted. The handle is still to
 be freed.
 */
int xtp_listener_close(const struct xtp_listener *listener);

/*
 Frees a listener, which stops listening; NULL is none.
 */
int xtp_listener_free(struct xtp_listener *listener);

/*
 Where the octets of a message lie and how many there are. They stay until the handle is freed.
 */
int xtp_incoming_data(const struct xtp_incoming *incoming, const void **data, size_t *length);

/*
 Where a message came from, as a text: XTP_ADDRESS_ROOM octets have room for any.
 */
int xtp_incoming_peer(const struct xtp_incoming *incoming, char *address, size_t length);

/*
 Answers a request. Returns when the response has left; it is confirmed in the background. The handle is still to be freed.
 */
int xtp_respond(const struct xtp_incoming *incoming,
                const void *data,
                size_t length);

/*
 As xtp_respond(), and waits until the caller has confirmed the response.
 */
int xtp_respond_confirmed(const struct xtp_incoming *incoming,
                          const void *data,
                          size_t length,
                          int64_t timeout);

/*
 As xtp_respond(), but a response that fits a packet is not confirmed: two packets for the whole call.
 */
int xtp_respond_unconfirmed(const struct xtp_incoming *incoming, const void *data, size_t length);

/*
 Refuses the sender: its call fails with XTP_EREJECTED, with a number, 256 or more, and a text of at most 256 octets for people. The text may
 be NULL.
 */
int xtp_reject(const struct xtp_incoming *incoming,
               uint32_t number,
               const char *reason);

/*
 Frees a message; NULL is none. A request that was not answered is answered with nothing.
 */
int xtp_incoming_free(struct xtp_incoming *incoming);

/*
 Sends octets from where they lie, without a copy; waits for room, not for confirmation. They must stay as they are until release is
 called with context: exactly once, whether the call succeeds or not. release may be NULL for memory that stays.

 ends_message: 1, the last of them ends a message; 0. Refused while the write timeout is 0.
 */
int xtp_send_lent(const struct xtp_stream *stream,
                  const void *data,
                  size_t length,
                  uint32_t ends_message,
                  xtp_free_function release,
                  void *context);

/*
 Sends one datagram without acknowledgement: it comes whole or not at all, and no error tells which. At most 1 MiB.
 */
int xtp_send_datagram(const struct xtp_endpoint *endpoint,
                      const char *peer,
                      uint16_t service_number,
                      const void *data,
                      size_t length);

/*
 Sends one acknowledged datagram (two packets) and waits until the peer's host has it (XTP_RECEIVED) or its program has taken it
 (XTP_DELIVERED). With a timeout of 0 it is confirmed in the background.
 */
int xtp_send_acknowledged(const struct xtp_endpoint *endpoint,
                          const char *peer,
                          uint16_t service_number,
                          const void *data,
                          size_t length,
                          uint32_t what,
                          int64_t timeout);

/*
 Sends one message of any length reliably (three packets) and waits until the peer has it. With a timeout of 0 it is confirmed in the
 background.
 */
int xtp_send(const struct xtp_endpoint *endpoint,
             const char *peer,
             uint16_t service_number,
             const void *data,
             size_t length,
             int64_t timeout);

/*
 Makes a call: sends the request and waits for the answer, which is put into the caller's memory (three packets, one round trip). The
 request runs at most once. received gets the length of the answer. options may be NULL.

 An answer longer than the memory fails with XTP_EROOM, and is lost: xtp_call_octets() takes any.
 */
int xtp_call(const struct xtp_endpoint *endpoint,
             const char *peer,
             uint16_t service_number,
             const void *request,
             size_t request_length,
             const struct xtp_call_options *options,
             void *memory,
             size_t length,
             size_t *received);

/*
 As xtp_call(); answer gets a handle to release.
 */
int xtp_call_octets(const struct xtp_endpoint *endpoint,
                    const char *peer,
                    uint16_t service_number,
                    const void *request,
                    size_t request_length,
                    const struct xtp_call_options *options,
                    struct xtp_octets **answer);

/*
 A new set, without anything.
 */
int xtp_poll_set_new(const struct xtp_endpoint *endpoint, struct xtp_poll_set **set);

/*
 Adds a stream under a key of the caller's choice, or gives it another one. A stream is in one set at most, and leaves it when it is freed.
 */
int xtp_poll_add_stream(const struct xtp_poll_set *set,
                        const struct xtp_stream *stream,
                        uint64_t key);

/*
 Adds a listener under a key of the caller's choice, or gives it another one.
 */
int xtp_poll_add_listener(const struct xtp_poll_set *set, const struct xtp_listener *listener, uint64_t key);

/*
 Takes a stream out of the set; does nothing if it is in none.
 */
int xtp_poll_remove_stream(const struct xtp_poll_set *set, const struct xtp_stream *stream);

/*
 Takes a listener out of the set; does nothing if it is in none.
 */
int xtp_poll_remove_listener(const struct xtp_poll_set *set, const struct xtp_listener *listener);

/*
 Waits until something is ready and puts the keys of up to room things into keys; count gets how many. What finds no room comes with the
 next call, also where its stream was taken out or freed meanwhile.

 Ready is a stream with something to read or at its end, with every call until it was read; a listener with something to accept, with
 every call until it was; once, a stream that refused octets and has room now.
 */
int xtp_poll_wait(const struct xtp_poll_set *set,
                  uint64_t *keys,
                  size_t room,
                  int64_t timeout,
                  size_t *count);

/*
 Frees a set; NULL is none. What is in it stays.
 */
int xtp_poll_set_free(struct xtp_poll_set *set);

/*
 A new queue, with nothing under way.
 */
int xtp_queue_new(const struct xtp_endpoint *endpoint, struct xtp_queue **queue);

/*
 Begins a reliable message. Nothing leaves before the next call that waits or polls, so that what is submitted together leaves together.
 release and context: as for xtp_send_lent(); NULL for release copies the octets.
 */
int xtp_queue_send(const struct xtp_queue *queue,
                   const char *peer,
                   uint16_t service_number,
                   const void *data,
                   size_t length,
                   uint64_t token,
                   xtp_free_function release,
                   void *context);

/*
 Begins a call, whose answer comes with its completion. Otherwise as xtp_queue_send().
 */
int xtp_queue_call(const struct xtp_queue *queue,
                   const char *peer,
                   uint16_t service_number,
                   const void *data,
                   size_t length,
                   uint64_t token,
                   xtp_free_function release,
                   void *context);

/*
 Opens a stream whose messages go to posted receives, whichever order these are in; calls that read it fail. options may be NULL.
 */
int xtp_open_matched(const struct xtp_endpoint *endpoint,
                     const char *peer,
                     uint16_t service_number,
                     const struct xtp_stream_options *options,
                     struct xtp_stream **stream);

/*
 Listens for streams whose messages go to posted receives. options may be NULL; its streams is taken as 1.
 */
int xtp_listen_matched(const struct xtp_endpoint *endpoint,
                       uint16_t service_number,
                       const struct xtp_listen_options *options,
                       struct xtp_listener **listener);

/*
 Posts a receive for one message of at most longest octets that comes by a stream. It gets the message that began first of those that fit;
 a message goes to the receive posted first of those that it fits.
 */
int xtp_queue_receive_stream(const struct xtp_queue *queue,
                             const struct xtp_stream *stream,
                             const struct xtp_tags *wanted,
                             size_t longest,
                             uint64_t token);

/*
 As xtp_queue_receive_stream(), of any stream that the listener accepted.
 */
int xtp_queue_receive_listener(const struct xtp_queue *queue,
                               const struct xtp_listener *listener,
                               const struct xtp_tags *wanted,
                               size_t longest,
                               uint64_t token);

/*
 As xtp_queue_receive_stream(), of any stream of the queue's endpoint whose messages are matched.
 */
int xtp_queue_receive(const struct xtp_queue *queue,
                      const struct xtp_tags *wanted,
                      size_t longest,
                      uint64_t token);

/*
 How many messages, calls and receives are under way or ended without having been taken.
 */
int xtp_queue_pending(const struct xtp_queue *queue, size_t *pending);

/*
 Waits until something has ended and puts up to room completions into completions; count gets how many, at once 0 if nothing is under way.
 What finds no room comes with the next call. Octets of completions are to be released.
 */
int xtp_queue_wait(const struct xtp_queue *queue,
                   struct xtp_completion *completions,
                   size_t room,
                   int64_t timeout,
                   size_t *count);

/*
 Frees a queue; NULL is none. Messages and calls end in the background, receives are taken back.
 */
int xtp_queue_free(struct xtp_queue *queue);

/*
 A mesh on an endpoint. options may be NULL.
 */
int xtp_mesh_new(const struct xtp_endpoint *endpoint,
                 const struct xtp_mesh_options *options,
                 struct xtp_mesh **mesh);

/*
 The number of the peer at an address, where it serves its own mesh. No packet leaves, and nothing has to be there yet.
 */
int xtp_mesh_peer(const struct xtp_mesh *mesh,
                  const char *address,
                  uint32_t *peer);

/*
 Where a peer is, as a text: XTP_ADDRESS_ROOM octets have room for any.
 */
int xtp_mesh_address(const struct xtp_mesh *mesh, uint32_t peer, char *address, size_t length);

/*
 Sends a message of no octets or more; never waits. XTP_MESH_SENT follows. word comes with the message and is not looked at. release and
 context: as for xtp_send_lent(); NULL for release copies the octets.
 */
int xtp_mesh_send(const struct xtp_mesh *mesh,
                  uint32_t peer,
                  uint64_t tag,
                  uint64_t word,
                  const void *data,
                  size_t length,
                  uint64_t token,
                  xtp_free_function release,
                  void *context);

/*
 Posts a receive for one message of a peer, or of XTP_ANY_PEER, of which it takes at most longest octets. It gets the message that came
 first of those that wait, else the next one behind the receives posted before. XTP_MESH_RECEIVED follows.
 */
int xtp_mesh_receive(const struct xtp_mesh *mesh,
                     uint32_t peer,
                     const struct xtp_tags *wanted,
                     size_t longest,
                     uint64_t token);

/*
 Waits until something is over and puts up to room completions into completions; count gets how many. What finds no room comes with the
 next call. Octets of completions are to be released.
 */
int xtp_mesh_wait(const struct xtp_mesh *mesh,
                  struct xtp_mesh_completion *completions,
                  size_t room,
                  int64_t timeout,
                  size_t *count);

/*
 Leaves: what was told as sent is confirmed first, peers are told. Frees the mesh, whatever it returns; after XTP_ETIMEDOUT the rest goes
 on in the background.
 */
int xtp_mesh_leave(struct xtp_mesh *mesh,
                   int64_t timeout);

/*
 Frees a mesh, which leaves in the background; NULL is none.
 */
int xtp_mesh_free(struct xtp_mesh *mesh);

/*
 Begins to send to a group: to one address of multicast, or to count addresses of receivers, each of which gets a copy. What is written
 leaves when the expected members have joined. options may be NULL.
 */
int xtp_cast_open(const struct xtp_endpoint *endpoint,
                  const char *const *addresses,
                  size_t count,
                  const struct xtp_group_options *options,
                  struct xtp_cast **cast);

/*
 How long calls of a sender wait, ns: -1, which it begins with, as long as it takes; with 0 they fail with XTP_ETIMEDOUT where they would
 wait.
 */
int xtp_cast_set_timeout(const struct xtp_cast *cast,
                         int64_t timeout);

/*
 Writes octets to all: copies them. written gets how many were taken.
 */
int xtp_cast_write(const struct xtp_cast *cast, const void *data, size_t length, size_t *written);

/*
 Sends one message of at least one octet to all.
 */
int xtp_cast_send_message(const struct xtp_cast *cast, const void *data, size_t length);

/*
 Ends the stream and waits until every receiver has everything or is given up. xtp_cast_members() says what became of each.
 */
int xtp_cast_finish(const struct xtp_cast *cast);

/*
 What is known of receivers, of the first room of them; count gets how many there are.
 */
int xtp_cast_members(const struct xtp_cast *cast, struct xtp_member *members, size_t room, size_t *count);

/*
 Frees a sender; NULL is none. One that was not finished ends the group.
 */
int xtp_cast_free(struct xtp_cast *cast);

/*
 Receives what is sent to a group, at its address, or with NULL what a sender sends this endpoint as one of a list. options may be NULL.
 */
int xtp_join(const struct xtp_endpoint *endpoint,
             const char *group,
             const struct xtp_group_options *options,
             struct xtp_subscription **subscription);

/*
 How long calls of a receiver wait, ns: -1, which it begins with, as long as it takes; with 0 they fail with XTP_ETIMEDOUT where they would
 wait.
 */
int xtp_subscription_set_timeout(const struct xtp_subscription *subscription,
                                 int64_t timeout);

/*
 Waits until a sender was heard; its address as a text: XTP_ADDRESS_ROOM octets have room for any.
 */
int xtp_subscription_sender(const struct xtp_subscription *subscription, char *address, size_t length);

/*
 Reads octets into the caller's memory. got gets how many; 0 is the end of the stream.
 */
int xtp_subscription_read(const struct xtp_subscription *subscription,
                          void *memory,
                          size_t length,
                          size_t *got);

/*
 Receives the next message. message gets a handle to release, or NULL at the end of the stream.
 */
int xtp_subscription_recv_message(const struct xtp_subscription *subscription, struct xtp_octets **message);

/*
 Waits until the sender knows that everything is here. The handle is still to be freed.
 */
int xtp_subscription_close(const struct xtp_subscription *subscription);

/*
 Frees a receiver, which leaves the group; NULL is none.
 */
int xtp_subscription_free(struct xtp_subscription *subscription);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* XTP_H */
