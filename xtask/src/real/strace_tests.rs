//! Reading what strace wrote.

use super::*;

const LINES: &str = "\
11094 sendmsg(5, {msg_name={sa_family=AF_INET6, sin6_port=htons(36192)}}, MSG_DONTWAIT) = 56
11094 recvmsg(5, {msg_namelen=28}, MSG_DONTWAIT|MSG_ERRQUEUE) = -1 EAGAIN (Resource temporarily unavailable)
11094 ppoll([{fd=5, events=POLLIN}], 1, {tv_sec=0, tv_nsec=1180533}, NULL, 8 <unfinished ...>
11095 futex(0x7f51, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
11094 <... ppoll resumed>) = 1 ([{fd=5, revents=POLLIN}])
11094 recvmmsg(5, [{msg_hdr={msg_name={sa_family=AF_INET6}}}], 32, MSG_DONTWAIT, NULL) = 1
11094 recvmsg(5, {msg_name={sa_family=AF_INET6}}, MSG_DONTWAIT) = 56
11095 +++ exited with 0 +++
";

#[test]
fn each_call_counts_once_and_looks_for_errors_do_not() {
    let calls = parse(LINES);
    assert_eq!(sum(&calls, &["sendmsg"]), 1);
    assert_eq!(sum(&calls, &["recvmsg", "recvmmsg"]), 2);
    assert_eq!(sum(&calls, &["ppoll", "futex"]), 2);
    assert_eq!(calls.len(), 5);
}
