//! Strangers: each sends the first packet of an association from an address of its own, and hears no answer.
#![allow(dead_code)]

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use xtp::{Config, Endpoint, OpenOptions, Wait};

/// What makes their packets, each under a key of its own, for somebody who only looks at them.
pub(crate) struct Strangers {
    endpoint: Endpoint,
    catcher: UdpSocket,
    server: SocketAddr,
    /// Sockets stay, so that no port unreachable tells that nobody is there.
    sockets: Vec<UdpSocket>,
}

impl Strangers {
    pub(crate) fn new(server: SocketAddr) -> Self {
        Self::with(server, |_| {})
    }

    /// Who offer nothing, cookies among it.
    pub(crate) fn legacy(server: SocketAddr) -> Self {
        Self::with(server, |config| config.engine.overrides.legacy = true)
    }

    fn with(server: SocketAddr, choose: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
        config.wait = Wait::Block;
        config.linger = std::time::Duration::ZERO;
        choose(&mut config);
        Self {
            endpoint: Endpoint::bind(config).expect("loopback"),
            catcher: UdpSocket::bind("127.0.0.1:0").expect("loopback"),
            server,
            sockets: Vec::new(),
        }
    }

    /// The first packet of another association, with the beginning of a message.
    pub(crate) fn packet(&mut self, options: &OpenOptions) -> Vec<u8> {
        let peer = self.catcher.local_addr().expect("bound");
        let stream = self.endpoint.open(peer, options.clone()).expect("room");
        stream.send(vec![b's'; 100]).expect("room");
        let mut packet = vec![0; 65_536];
        let (length, _) = self.catcher.recv_from(&mut packet).expect("a packet");
        packet.truncate(length);
        stream.abort();
        // What says so is nobody's first packet.
        self.catcher.set_nonblocking(true).expect("a mode");
        while self.catcher.recv_from(&mut [0; 2_048]).is_ok() {}
        self.catcher.set_nonblocking(false).expect("a mode");
        packet
    }

    /// `count` of them come, each from an address of its own, and begin a message they do not end.
    pub(crate) fn begin(&mut self, options: &OpenOptions, count: usize) {
        for _ in 0..count {
            let address = Ipv4Addr::from(0x7f01_0001 + self.sockets.len() as u32);
            let socket = UdpSocket::bind((address, 0)).expect("loopback");
            self.send_from(&socket, options);
            self.sockets.push(socket);
        }
    }

    /// One begins a message it does not end.
    pub(crate) fn send_from(&mut self, socket: &UdpSocket, options: &OpenOptions) {
        let packet = self.packet(options);
        let sent = socket.send_to(&packet, self.server).expect("loopback");
        assert_eq!(sent, packet.len());
    }
}
