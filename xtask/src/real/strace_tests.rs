//! Reading what strace counted.

use super::*;

const TABLE: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 59.42    0.074185           3     20023           sendmsg
 32.16    0.040151           2     16135       114 recvmmsg
  7.62    0.009513           2      4170       182 recvmsg
------ ----------- ----------- --------- --------- ----------------
100.00    0.123849           3     40328       296 total
";

#[test]
fn calls_are_counted_by_name_with_and_without_errors() {
    let calls = parse(TABLE);
    assert_eq!(sum(&calls, &["sendmsg"]), 20_023);
    assert_eq!(sum(&calls, &["recvmsg", "recvmmsg"]), 20_305);
    assert_eq!(sum(&calls, &["ppoll"]), 0);
}
