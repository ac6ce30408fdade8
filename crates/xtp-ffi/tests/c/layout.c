/* Sizes and offsets of the structures, as the C compiler lays them out; the test compares them with Rust's. */
#include <stddef.h>
#include <stdio.h>

#include <xtp.h>

#define SIZE(type) printf(#type " %lu\n", (unsigned long)sizeof(type))
#define FIELD(type, field) printf(#type "." #field " %lu\n", (unsigned long)offsetof(type, field))

int main(void)
{
    SIZE(xtp_endpoint_options);
    FIELD(xtp_endpoint_options, size);
    FIELD(xtp_endpoint_options, linger);
    FIELD(xtp_endpoint_options, close_timeout);
    FIELD(xtp_endpoint_options, message_timeout);
    FIELD(xtp_endpoint_options, message_limit);
    FIELD(xtp_endpoint_options, memory_limit);
    FIELD(xtp_endpoint_options, wait);
    FIELD(xtp_endpoint_options, broadcast);
    FIELD(xtp_endpoint_options, fresh_start);
    FIELD(xtp_endpoint_options, gather_writes);
    SIZE(xtp_stream_options);
    FIELD(xtp_stream_options, size);
    FIELD(xtp_stream_options, receive_capacity);
    FIELD(xtp_stream_options, send_capacity);
    FIELD(xtp_stream_options, timeout);
    FIELD(xtp_stream_options, connect_timeout);
    FIELD(xtp_stream_options, reliability);
    FIELD(xtp_stream_options, wait_for_listener);
    SIZE(xtp_listen_options);
    FIELD(xtp_listen_options, size);
    FIELD(xtp_listen_options, backlog);
    FIELD(xtp_listen_options, streams);
    FIELD(xtp_listen_options, unconfirmed_response);
    SIZE(xtp_call_options);
    FIELD(xtp_call_options, size);
    FIELD(xtp_call_options, timeout);
    FIELD(xtp_call_options, longest_answer);
    FIELD(xtp_call_options, expected_answer);
    FIELD(xtp_call_options, slow_server);
    FIELD(xtp_call_options, repeatable);
    FIELD(xtp_call_options, wait_for_listener);
    SIZE(xtp_tags);
    FIELD(xtp_tags, tag);
    FIELD(xtp_tags, mask);
    FIELD(xtp_tags, kind);
    FIELD(xtp_tags, reserved);
    SIZE(xtp_group_options);
    FIELD(xtp_group_options, size);
    FIELD(xtp_group_options, wait);
    FIELD(xtp_group_options, patience);
    FIELD(xtp_group_options, keep);
    FIELD(xtp_group_options, rate);
    FIELD(xtp_group_options, capacity);
    FIELD(xtp_group_options, interface);
    FIELD(xtp_group_options, hops);
    FIELD(xtp_group_options, service_number);
    FIELD(xtp_group_options, expect);
    SIZE(xtp_statistics);
    FIELD(xtp_statistics, packets_sent);
    FIELD(xtp_statistics, packets_received);
    FIELD(xtp_statistics, system_calls);
    FIELD(xtp_statistics, octets_copied);
    FIELD(xtp_statistics, send_errors);
    FIELD(xtp_statistics, receive_errors);
    SIZE(xtp_member);
    FIELD(xtp_member, octets);
    FIELD(xtp_member, time);
    FIELD(xtp_member, state);
    FIELD(xtp_member, reserved);
    FIELD(xtp_member, address);
    FIELD(xtp_member, reason);
    SIZE(xtp_mesh_options);
    FIELD(xtp_mesh_options, size);
    FIELD(xtp_mesh_options, patience);
    FIELD(xtp_mesh_options, max_peers);
    FIELD(xtp_mesh_options, max_posted);
    FIELD(xtp_mesh_options, max_unexpected);
    FIELD(xtp_mesh_options, service_number);
    FIELD(xtp_mesh_options, reserved);
    SIZE(xtp_mesh_completion);
    FIELD(xtp_mesh_completion, token);
    FIELD(xtp_mesh_completion, octets);
    FIELD(xtp_mesh_completion, tag);
    FIELD(xtp_mesh_completion, word);
    FIELD(xtp_mesh_completion, length);
    FIELD(xtp_mesh_completion, kind);
    FIELD(xtp_mesh_completion, peer);
    FIELD(xtp_mesh_completion, status);
    FIELD(xtp_mesh_completion, reserved);
    SIZE(xtp_completion);
    FIELD(xtp_completion, token);
    FIELD(xtp_completion, octets);
    FIELD(xtp_completion, tag);
    FIELD(xtp_completion, stream);
    FIELD(xtp_completion, status);
    FIELD(xtp_completion, tagged);
    return 0;
}
