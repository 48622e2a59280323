//! Waiting until something that is still starting can be reached.

use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use mcprove_model::WaitFor;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout_at};

use crate::transport::HttpClient;

/// Pause between two attempts, since no event announces readiness.
const PAUSE: Duration = Duration::from_millis(50);

/// Tries until something can be reached; the error says what the last try found.
pub async fn wait_until_reachable(target: &WaitFor, http: &HttpClient, within: Duration) -> Result<(), String> {
    let until = Instant::now() + within;
    loop {
        let tried = match timeout_at(until, try_once(target, http)).await {
            Ok(tried) => tried,
            Err(_) => Err("no answer".to_owned()),
        };
        let Err(reason) = tried else { return Ok(()) };
        if Instant::now() + PAUSE >= until {
            return Err(format!("{target} could not be reached within {:.1} s: {reason}", within.as_secs_f64()));
        }
        sleep(PAUSE).await;
    }
}

async fn try_once(target: &WaitFor, http: &HttpClient) -> Result<(), String> {
    match target {
        WaitFor::Tcp(address) => TcpStream::connect(address).await.map(drop).map_err(|error| error.to_string()),
        WaitFor::Url(url) => match http.status(Method::GET, url, Bytes::new()).await? {
            200..=299 => Ok(()),
            status => Err(format!("it answers with status {status}")),
        },
    }
}
