//! On a runtime: files into streams and streams into files.

mod common;

use std::io::Read;
use std::io::Seek;
use std::io::Write;

use common::{PORT, pattern};
use xtp::tokio::Endpoint;
use xtp::{Config, Error, FileError, paradigm};

#[::tokio::test]
async fn files_go_and_come() {
    let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap())).unwrap();
    let listener = server.listen_streams(PORT).unwrap();
    let octets = pattern(3_000_000);
    let mut source = tempfile::tempfile().unwrap();
    source.write_all(&octets).unwrap();
    let client = Endpoint::client().unwrap();
    let far = client.open(server.local_addr(), paradigm::stream(PORT)).unwrap();
    let sending = ::tokio::spawn(async move {
        assert_eq!(far.send_file(&source, ..).await.unwrap(), 3_000_000);
        assert_eq!(far.send_file(&source, 100..200).await.unwrap(), 100);
        let error = far.send_file(&source, 100..4_000_000).await.unwrap_err();
        assert!(matches!(error, Error::File(FileError::Range { .. })), "{error}");
        far.close().await.unwrap();
    });
    let stream = listener.accept().await.unwrap().into_stream();
    let mut begin = vec![0; 1_000_000];
    assert_eq!(stream.recv_into(&mut begin).await.unwrap(), begin.len());
    assert!(begin == octets[..1_000_000]);
    let mut copy = tempfile::tempfile().unwrap();
    assert_eq!(stream.recv_file(&copy, 10..2_000_010).await.unwrap(), 2_000_000);
    let mut there = Vec::new();
    copy.rewind().unwrap();
    copy.read_to_end(&mut there).unwrap();
    assert!(there[..10] == [0; 10] && there[10..] == octets[1_000_000..]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let error = stream.recv_file(&full, ..50).await.unwrap_err();
    assert!(matches!(error, Error::File(FileError::Writing { .. })), "{error}");
    assert_eq!(stream.recv_file(&copy, ..).await.unwrap(), 50);
    stream.close().await.unwrap();
    sending.await.unwrap();
}
