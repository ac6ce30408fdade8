//! `xtp-relay`: an emulated link between UDP sockets; see `xtp-relay --help`.
#![forbid(unsafe_code)]

use std::io::{self, Read};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use xtp_link::relay::{Arguments, Relay, RelayConfig, USAGE, parse_arguments};

/// Exit status for a command line that cannot be followed.
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    match parse_arguments(std::env::args().skip(1)) {
        Ok(Arguments::Help) => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        Ok(Arguments::Run { config, ignore_stdin }) => match run(*config, ignore_stdin) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("xtp-relay: {error}");
                ExitCode::FAILURE
            }
        },
        Err(error) => {
            eprintln!("xtp-relay: {error}");
            ExitCode::from(USAGE_ERROR)
        }
    }
}

fn run(config: RelayConfig, ignore_stdin: bool) -> Result<(), Box<dyn std::error::Error>> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    let relay = Relay::spawn(config)?;
    eprintln!("listening on {}", relay.addr());
    if !ignore_stdin {
        let ended = Arc::clone(&ended);
        thread::spawn(move || {
            wait_for_end_of_stdin();
            ended.store(true, Ordering::Relaxed);
        });
    }
    while !ended.load(Ordering::Relaxed) && relay.is_running() {
        thread::sleep(Duration::from_millis(10));
    }
    let stopped_by_itself = !relay.is_running();
    println!("{}", relay.stop().to_json());
    if stopped_by_itself {
        Err("the system refused to wait for packets".into())
    } else {
        Ok(())
    }
}

fn wait_for_end_of_stdin() {
    let mut buffer = [0; 256];
    while matches!(io::stdin().read(&mut buffer), Ok(1..)) {}
}
