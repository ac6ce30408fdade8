//! The table people read.

use super::Capabilities;

#[test]
fn the_table_names_what_was_given_and_what_was_asked() {
    let capabilities = Capabilities {
        backend: "linux",
        gso: true,
        max_segments: 64,
        recv_buffer_asked: 4096,
        recv_buffer: 1024,
        send_buffer_asked: 512,
        send_buffer: 2048,
        ..Capabilities::default()
    };
    let text = capabilities.to_string();
    let line = |start: &str| {
        text.lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(line("back end").ends_with(" linux"), "{text}");
    assert!(line("segmentation offload").ends_with(" yes"), "{text}");
    assert!(line("receive offload").ends_with(" no"), "{text}");
    assert!(line("datagrams a send call").ends_with(" 64"), "{text}");
    assert!(
        line("receive buffer").ends_with(" 1024 octets (4096 asked)"),
        "{text}"
    );
    assert!(line("send buffer").ends_with(" 2048 octets"), "{text}");
}
