//! Every set-up error says what, where and why, and keeps its kind as an `io::Error`.

use std::io;

use super::IoError;

#[test]
fn every_error_names_the_address_and_the_reason() {
    let addr = "192.0.2.1:7".parse().expect("an address");
    let source = || io::Error::from(io::ErrorKind::PermissionDenied);
    let errors = [
        (
            IoError::Create {
                addr,
                source: source(),
            },
            "cannot create a UDP socket for 192.0.2.1:7",
        ),
        (
            IoError::Bind {
                addr,
                source: source(),
            },
            "cannot bind 192.0.2.1:7",
        ),
        (
            IoError::Option {
                option: "SO_REUSEPORT",
                addr,
                source: source(),
            },
            "cannot set SO_REUSEPORT on the socket for 192.0.2.1:7",
        ),
    ];
    for (error, start) in errors {
        let text = error.to_string();
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains(&source().to_string()), "{text}");
        assert_eq!(error.io().kind(), io::ErrorKind::PermissionDenied);
        let error = io::Error::from(error);
        assert_eq!(
            (error.kind(), error.to_string()),
            (io::ErrorKind::PermissionDenied, text)
        );
    }
}
