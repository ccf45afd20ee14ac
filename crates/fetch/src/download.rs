//! One address to one file: redirects, proxies, ranges, patience.
//!
//! What came before a fault stays in the file, and the next attempt asks for the rest of it (`Range: bytes=n-`). A server that
//! knows no ranges sends all again. Three attempts that bring nothing end it; one that brought bytes counts as none.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, RANGE};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Response, StatusCode};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::console::Watch;
use crate::error::FetchError;

/// Attempts at one address that may bring nothing, one after the other.
const ATTEMPTS: u32 = 3;
/// The variable that names a PEM file of authorities besides the system's, for a network that has its own.
const CERTIFICATE_VARIABLE: &str = "LANDMARK_CERTIFICATE";

#[derive(Debug, Clone)]
pub struct DownloadSettings {
    /// Longest wait for a connection, and for the next bytes of an answer.
    pub patience: Duration,
    /// Wait before the second attempt; twice that before the third.
    pub pause: Duration,
    pub certificate: Option<PathBuf>,
}

impl Default for DownloadSettings {
    fn default() -> Self {
        let certificate = std::env::var_os(CERTIFICATE_VARIABLE).filter(|value| !value.is_empty());
        Self {
            patience: Duration::from_secs(30),
            pause: Duration::from_millis(500),
            certificate: certificate.map(PathBuf::from),
        }
    }
}

#[derive(Debug)]
pub struct Downloader {
    client: Client,
    /// The same without a proxy, for servers of this machine.
    local: Client,
    runtime: Runtime,
    settings: DownloadSettings,
}

#[derive(Debug)]
pub(crate) enum Fault {
    Address(String),
    /// Nothing will: the disk refused.
    Final(FetchError),
}

enum Failure {
    Fault(Fault),
    Passing(String),
}

impl Downloader {
    /// A client that respects the usual variables for proxies.
    pub fn new(settings: DownloadSettings) -> Result<Self, FetchError> {
        let refused = |what: String| FetchError::Client { what };
        // an error means that it is installed already
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut certificates = Vec::new();
        if let Some(file) = &settings.certificate {
            let pem = std::fs::read(file).map_err(|error| refused(format!("`{}`: {error}", file.display())))?;
            certificates = Certificate::from_pem_bundle(&pem)
                .map_err(|error| refused(format!("`{}` holds no certificate: {error}", file.display())))?;
        }
        let client = || {
            let client = Client::builder()
                .user_agent(concat!("landmark/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(settings.patience)
                .redirect(Policy::limited(10));
            certificates.iter().cloned().fold(client, reqwest::ClientBuilder::add_root_certificate)
        };
        let built = |client: reqwest::ClientBuilder| client.build().map_err(|error| refused(in_words(&error)));
        let (client, local) = (built(client())?, built(client().no_proxy())?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok(Self { client, local, runtime: runtime.map_err(|error| refused(error.to_string()))?, settings })
    }

    /// Brings what is at `from`, an address or a path of this machine, into the file `part`, going on where that ends.
    pub(crate) fn bring(&self, from: &str, part: &Path, watch: &mut dyn Watch) -> Result<(), Fault> {
        if !from.contains("://") {
            return match std::fs::copy(from, part) {
                Ok(_) => Ok(()),
                Err(error) => Err(Fault::Address(format!("{from}: {error}"))),
            };
        }
        let mut barren = 0;
        loop {
            let before = length(part);
            let failure = match self.runtime.block_on(self.attempt(from, part, watch)) {
                Ok(()) => return Ok(()),
                Err(Failure::Fault(fault)) => return Err(fault),
                Err(Failure::Passing(why)) => why,
            };
            watch.end();
            barren = if length(part) > before { 0 } else { barren + 1 };
            if barren == ATTEMPTS {
                return Err(Fault::Address(format!("{from} {failure}")));
            }
            tracing::info!("{from} {failure}; trying again");
            std::thread::sleep(self.settings.pause * 2_u32.pow(barren.saturating_sub(1)));
        }
    }

    async fn attempt(&self, url: &str, part: &Path, watch: &mut dyn Watch) -> Result<(), Failure> {
        let write = |source| Failure::Fault(Fault::Final(FetchError::Write { path: part.to_owned(), source }));
        let have = length(part);
        let client = if is_of_this_machine(url) { &self.local } else { &self.client };
        let mut request = client.get(url);
        if have > 0 {
            request = request.header(RANGE, format!("bytes={have}-"));
        }
        let sent = timeout(self.settings.patience, request.send()).await;
        let response = match sent {
            Err(_) => return Err(Failure::Passing("did not answer in time".to_owned())),
            Ok(Err(error)) if error.is_builder() || error.is_redirect() => {
                return Err(Failure::Fault(Fault::Address(format!("{url} {}", in_words(&error)))));
            }
            Ok(Err(error)) => return Err(Failure::Passing(in_words(&error))),
            Ok(Ok(response)) => response,
        };
        let begin = match response.status() {
            StatusCode::PARTIAL_CONTENT if begins_at(&response) == Some(have) => have,
            StatusCode::OK => 0,
            // nothing is left of it, or what is there is longer: the digest decides
            StatusCode::RANGE_NOT_SATISFIABLE if whole_length(&response) == Some(have) => return Ok(()),
            StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PARTIAL_CONTENT if have > 0 => {
                std::fs::remove_file(part).map_err(write)?;
                return Err(Failure::Passing("has no such range".to_owned()));
            }
            status if matches!(status.as_u16(), 408 | 425 | 429 | 500..=599) => {
                return Err(Failure::Passing(format!("answered {status}")));
            }
            status => return Err(Failure::Fault(Fault::Address(format!("{url} answered {status}")))),
        };
        let mut file = File::options().create(true).truncate(false).write(true).open(part).map_err(write)?;
        // a device has no length, and a file that starts again from its first byte has none yet
        if begin != have {
            file.set_len(begin).map_err(write)?;
        }
        file.seek(SeekFrom::Start(begin)).map_err(write)?;
        watch.begin(url, begin, response.content_length().map(|rest| begin + rest));
        self.receive(response, begin, &mut file, watch).await.map_err(|unread| match unread {
            Unread::Disk(source) => write(source),
            Unread::Network(why) => Failure::Passing(why),
        })?;
        file.sync_all().or_else(|error| if length(part) == 0 { Ok(()) } else { Err(error) }).map_err(write)?;
        watch.end();
        Ok(())
    }

    async fn receive(
        &self,
        mut response: Response,
        begin: u64,
        file: &mut File,
        watch: &mut dyn Watch,
    ) -> Result<(), Unread> {
        let mut bytes = begin;
        loop {
            let chunk = timeout(self.settings.patience, response.chunk()).await;
            match chunk {
                Err(_) => return Err(Unread::Network("fell silent".to_owned())),
                Ok(Err(error)) => return Err(Unread::Network(in_words(&error))),
                Ok(Ok(None)) => return Ok(()),
                Ok(Ok(Some(chunk))) => {
                    file.write_all(&chunk).map_err(Unread::Disk)?;
                    bytes += chunk.len() as u64;
                    watch.at(bytes);
                }
            }
        }
    }
}

enum Unread {
    Disk(std::io::Error),
    Network(String),
}

pub(crate) fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |facts| facts.len())
}

/// First byte of a `Content-Range: bytes a-b/n`.
fn begins_at(response: &Response) -> Option<u64> {
    let range = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.parse().ok()
}

/// Length of the whole in a `Content-Range: bytes */n`.
fn whole_length(response: &Response) -> Option<u64> {
    response.headers().get(CONTENT_RANGE)?.to_str().ok()?.strip_prefix("bytes */")?.parse().ok()
}

/// True of an address of this machine, which no proxy knows.
fn is_of_this_machine(url: &str) -> bool {
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// The variable of the environment whose proxy a request to this address goes through; its value may hold a password.
fn proxy_variable(url: &reqwest::Url, variable: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let host = url.host_str()?;
    let exceptions = variable("no_proxy").or_else(|| variable("NO_PROXY")).unwrap_or_default();
    let is_excepted = |name: &str| {
        let name = name.trim().trim_start_matches('.');
        !name.is_empty() && (name == "*" || host == name || host.ends_with(&format!(".{name}")))
    };
    if is_of_this_machine(url.as_str()) || exceptions.split(',').any(is_excepted) {
        return None;
    }
    let names = match url.scheme() {
        "https" => ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        _ => ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
    };
    names.into_iter().find(|name| variable(name).is_some_and(|value| !value.is_empty()))
}

/// An error by its last cause, with the proxy on the way.
fn in_words(error: &reqwest::Error) -> String {
    let mut words = match error {
        error if error.is_timeout() => "did not answer in time".to_owned(),
        error if error.is_connect() => "cannot be reached".to_owned(),
        error if error.is_redirect() => "redirects too often".to_owned(),
        error if error.is_body() || error.is_decode() => "broke off its answer".to_owned(),
        _ => "broke the connection".to_owned(),
    };
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        cause = error.source();
        if cause.is_none() {
            words = format!("{words} ({error})");
        }
    }
    match error.url().and_then(|url| proxy_variable(url, |name| std::env::var(name).ok())) {
        Some(name) => format!("{words}, through the proxy of `{name}`"),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_named_by_its_variable_unless_the_address_is_of_this_machine_or_excepted() {
        let environment = |name: &str| match name {
            "http_proxy" => Some("http://me:secret@10.0.0.1:3128".to_owned()),
            "no_proxy" => Some("localdomain, .corp".to_owned()),
            _ => None,
        };
        let named = |url: &str| proxy_variable(&reqwest::Url::parse(url).unwrap(), environment);
        assert_eq!(named("http://mirror.example.org/file"), Some("http_proxy"));
        for url in
            ["https://mirror.example.org/file", "http://127.0.0.1:8000/file", "http://localhost/", "http://data.corp/"]
        {
            assert_eq!(named(url), None, "{url}");
        }
    }
}
