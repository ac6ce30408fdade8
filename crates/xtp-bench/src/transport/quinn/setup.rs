//! Endpoints, keys and the runtime.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use quinn::congestion::CubicConfig;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::rustls::crypto::{CryptoProvider, ring};
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use quinn::rustls::{self, RootCertStore};
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig, VarInt};

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::Job;
use crate::plan::{Experiment, WaitPolicy};
use crate::transport::waiting::POLLING;

/// The name in the certificate.
const NAME: &str = "server.invalid";
/// Octets under way on one connection: as many as its sockets hold.
const WINDOW: u32 = 4 << 20;
/// Tickets a server hands out with each full handshake, so that most connections can begin with one.
const TICKETS: usize = 8;
/// Longest UDP payload of a datagram, octets, where the interface takes 64 KiB and where it takes 1500 octets.
const LONG: u16 = 16_384;
const SHORT: u16 = 1_472;

/// Runs everything of one party on the thread that calls.
pub(crate) fn runtime() -> Worked<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}

/// Waits for `future` as the policy says: between polls the runtime looks at sockets and timers without sleeping.
pub(crate) async fn patient<F: Future>(policy: WaitPolicy, future: F) -> F::Output {
    let mut future = pin!(future);
    let begin = Instant::now();
    loop {
        let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        if let Poll::Ready(output) = polled {
            return output;
        }
        match policy {
            WaitPolicy::Spin => {}
            WaitPolicy::Adaptive if begin.elapsed() < POLLING => {}
            _ => return future.await,
        }
        tokio::task::yield_now().await;
    }
}

/// A QUIC endpoint. To be made and used within a [`runtime`].
pub(crate) struct Quic {
    pub(crate) endpoint: Endpoint,
    /// Where it is, for clients: address and certificate.
    pub(crate) place: String,
}

impl Quic {
    /// A server with a certificate of its own.
    pub(crate) fn server(job: &Job) -> Worked<Self> {
        let key = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
        let secret = PrivatePkcs8KeyDer::from(key.signing_key.serialize_der());
        let certificate = key.cert.der().clone();
        let mut crypto = rustls::ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], secret.into())?;
        crypto.max_early_data_size = u32::MAX;
        crypto.send_tls13_tickets = TICKETS;
        let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(crypto)?));
        config.transport_config(transport(job));
        let endpoint = bind(job, Some(config))?;
        let place = format!("{} {}", endpoint.local_addr()?, hex(&certificate));
        Ok(Self { endpoint, place })
    }

    /// A client of the job's server; returns the server's address as well.
    pub(crate) fn client(job: &Job) -> Worked<(Self, SocketAddr)> {
        let wrong = || Problem::new(format!("'{}' is no address with a certificate", job.peer));
        let (address, certificate) = job.peer.split_once(' ').ok_or_else(wrong)?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(unhex(certificate).ok_or_else(wrong)?))?;
        let mut crypto = rustls::ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        crypto.enable_early_data = true;
        let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(crypto)?));
        config.transport_config(transport(job));
        let mut endpoint = bind(job, None)?;
        endpoint.set_default_client_config(config);
        let quic = Self {
            endpoint,
            place: String::new(),
        };
        Ok((quic, address.parse()?))
    }

    /// Starts to connect.
    pub(crate) fn connect(&self, server: SocketAddr) -> Worked<quinn::Connecting> {
        Ok(self.endpoint.connect(server, NAME)?)
    }

    /// Ends what waits on the endpoint when the coordinator says stop.
    pub(crate) fn stop_with(&self, console: &Console) {
        let endpoint = self.endpoint.clone();
        console.on_stop(move || endpoint.close(VarInt::from_u32(0), b""));
    }
}

/// Of the suites the one that is fastest with the processor's help.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![ring::cipher_suite::TLS13_AES_128_GCM_SHA256],
        ..ring::default_provider()
    })
}

fn bind(job: &Job, server: Option<ServerConfig>) -> Worked<Endpoint> {
    let socket = socket2::Socket::new(
        socket2::Domain::for_address(job.any_port()),
        socket2::Type::DGRAM,
        None,
    )?;
    // As much as the system grants.
    for octets in [4 << 20, 1 << 20] {
        if socket.set_recv_buffer_size(octets).is_ok() && socket.set_send_buffer_size(octets).is_ok() {
            break;
        }
    }
    socket.bind(&job.any_port().into())?;
    let mut config = EndpointConfig::default();
    config.max_udp_payload_size(datagram(job))?;
    let endpoint = Endpoint::new(config, server, socket.into(), Arc::new(TokioRuntime));
    endpoint.map_err(|error: io::Error| error.into())
}

/// Longest UDP payload on the job's path.
fn datagram(job: &Job) -> u16 {
    // Buffers are as long as the longest datagram, and with many connections that is what they cost.
    // As many octets in long datagrams are lost at once when a socket is full, which halves bulk on loopback at best.
    let long = job.interface == "lo" && !matches!(job.experiment, Experiment::Scale | Experiment::Bulk);
    let longest = if long { LONG } else { SHORT };
    let asked = job.options.get("quinn_datagram");
    asked.and_then(|text| text.parse().ok()).unwrap_or(longest)
}

fn transport(job: &Job) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    // Ten packets, as is usual; by default ten of 1200 octets, which no long datagram fits into.
    let mut congestion = CubicConfig::default();
    congestion.initial_window(10 * u64::from(datagram(job)));
    config
        .congestion_controller_factory(Arc::new(congestion))
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(u64::from(WINDOW))
        .max_concurrent_uni_streams(VarInt::from_u32(1_024))
        .max_concurrent_bidi_streams(VarInt::from_u32(1_024))
        // The path is known: nothing has to be probed.
        .initial_mtu(datagram(job))
        .mtu_discovery_config(None);
    if job.experiment == Experiment::Bulk {
        // Nor is a burst that found no room in a socket a reason for datagrams of 1200 octets ever after. What opens a
        // connection is padded to as much, so only where one connection lasts. Beside quinn's defaults, Gbit/s: 7.7 and 6.8 on
        // loopback, 5.7 and 6.0 over veth.
        config.min_mtu(datagram(job));
    }
    Arc::new(config)
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let octet = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let pairs = text.as_bytes().chunks(2);
    text.len().is_multiple_of(2).then(|| pairs.map(octet).collect())?
}

#[cfg(test)]
#[path = "setup_tests.rs"]
mod tests;
