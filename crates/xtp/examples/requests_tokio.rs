//! A service for many clients at once on the tokio runtime: requests that take their time, and streams beside them.
//!
//! `requests_tokio serve 127.0.0.1:36036`, `requests_tokio call 127.0.0.1:36036 TEXT`; without arguments both ends run in this
//! process. Needs the feature `tokio`.
#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::task::JoinSet;
use xtp::tokio::{Endpoint, Incoming, Listener, Stream};
use xtp::{Bytes, CallOptions, Config, paradigm};

/// Service number of the requests, and of the streams.
const SHOUT: u16 = 1_000;
const ECHO: u16 = 1_001;
/// More requests than this are not begun at once; the next ones wait at the listener, and their callers with them.
const AT_ONCE: usize = 64;

type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", address] => {
            let (_endpoint, (requests, streams)) = server(address.parse()?)?;
            serve(&requests, &streams).await
        }
        ["call", address, text] => call(&Endpoint::client()?, address.parse()?, text).await,
        [] => demonstrate().await,
        _ => Err("usage: requests_tokio [serve ADDRESS | call ADDRESS TEXT]".into()),
    }
}

/// A server whose listeners are there before anything is taken.
fn server(address: SocketAddr) -> xtp::Result<(Endpoint, (Listener, Listener))> {
    Endpoint::bind_with(Config::server(address), |server| {
        Ok((server.listen(SHOUT)?, server.listen_streams(ECHO)?))
    })
}

/// Serves until the task is dropped, which loses nothing that was answered.
async fn serve(requests: &Listener, streams: &Listener) -> Outcome {
    tokio::try_join!(answer(requests), echo(streams))?;
    Ok(())
}

async fn answer(listener: &Listener) -> Outcome {
    let mut begun = JoinSet::new();
    loop {
        let (request, caller) = listener.recv_message().await?;
        begun.spawn(shout(request, caller));
        if begun.len() == AT_ONCE {
            begun.join_next().await;
        }
        while begun.try_join_next().is_some() {}
    }
}

/// One request. Whoever gives up meanwhile, or is rejected, learns of it by itself.
async fn shout(request: Bytes, caller: Incoming) {
    let peer = caller.peer();
    let Ok(text) = std::str::from_utf8(&request) else {
        return caller.reject(1_000, "not a text");
    };
    // What takes time.
    tokio::time::sleep(Duration::from_millis(50)).await;
    match caller.respond(text.to_uppercase()).await {
        Ok(()) => {}
        Err(error) if error.is_caller_gone() => println!("{peer} did not wait"),
        Err(error) => eprintln!("{peer}: {error}"),
    }
}

async fn echo(listener: &Listener) -> Outcome {
    loop {
        let stream = listener.accept().await?.into_stream();
        tokio::spawn(async move {
            if let Err(error) = copy(&stream).await {
                eprintln!("stream {}: {error}", stream.number());
            }
        });
    }
}

/// A stream is also a tokio reader and writer, in both directions at once.
async fn copy(stream: &Stream) -> Outcome {
    tokio::io::copy(&mut &*stream, &mut &*stream).await?;
    stream.close_shared().await?;
    Ok(())
}

async fn call(client: &Endpoint, address: SocketAddr, text: &str) -> Outcome {
    let options = CallOptions::within(Duration::from_secs(5));
    let answer = client.call(address, SHOUT, text.to_owned(), &options).await?;
    println!("{}", String::from_utf8_lossy(&answer));
    Ok(())
}

async fn demonstrate() -> Outcome {
    let (server, (requests, streams)) = server("127.0.0.1:0".parse()?)?;
    let address = server.local_addr();
    let serving = tokio::spawn(async move { serve(&requests, &streams).await });
    let client = Endpoint::client()?;
    // All of them at once: it takes as long as one.
    let calls = ["one", "two", "three"].map(|text| call(&client, address, text));
    for outcome in futures_of(calls).await {
        outcome?;
    }
    let stream = client.open(address, paradigm::stream(ECHO))?;
    stream.send("there and back").await?;
    stream.shutdown_write().await?;
    let mut back = String::new();
    (&mut &stream).read_to_string(&mut back).await?;
    println!("{back}");
    stream.close().await?;
    serving.abort();
    Ok(())
}

/// Waits for three calls together.
async fn futures_of<F: Future<Output = Outcome>>([one, two, three]: [F; 3]) -> [Outcome; 3] {
    let (one, two, three) = tokio::join!(one, two, three);
    [one, two, three]
}
