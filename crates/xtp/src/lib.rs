//! The Xpress Transport Protocol for programs: datagrams, messages, transactions and streams over one UDP socket
