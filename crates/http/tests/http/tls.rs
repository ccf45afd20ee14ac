//! Certificates: those of one's own authority, and of nobody's.

use super::*;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A server whose certificate for `localhost` an authority of its own has signed; its address, and the authority as PEM.
fn secure_server() -> (String, String) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/rerank", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            std::thread::spawn(move || serve(StreamOwned::new(connection, stream)));
        }
    });
    (url, authority.pem())
}

fn serve(stream: impl Read + Write) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap(),
                None if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = right(&serde_json::from_slice(&body).unwrap()).bytes();
        reader.get_mut().write_all(&answer).unwrap();
    }
}

#[test]
fn an_authority_of_ones_own_is_named_and_nobody_elses_is_trusted() {
    let (url, authority) = secure_server();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, authority).unwrap();
    let known = HttpParams { url, patience_seconds: 5.0, certificate: Some(file), ..HttpParams::default() };
    let oracle = Http::new(known.clone(), items(20), None).unwrap();
    assert_eq!(scored(&oracle, &some_pairs()).unwrap(), similarities(&some_pairs()));

    let unknown = HttpParams { certificate: None, ..known.clone() };
    let start = std::time::Instant::now();
    let error = in_words(&scored(&Http::new(unknown, items(3), None).unwrap(), &[(0, 1)]).unwrap_err());
    assert!(error.contains("not trusted") && error.contains("oracle.certificate"), "{error}");
    assert!(error.contains("UnknownIssuer"), "the cause is named: {error}");
    assert!(start.elapsed().as_secs() < 5, "a certificate does not get better by waiting");
    // the right authority, and a name that it did not sign
    let other_name = HttpParams { url: known.url.replace("localhost", "127.0.0.1"), ..known.clone() };
    let error = in_words(&scored(&Http::new(other_name, items(3), None).unwrap(), &[(0, 1)]).unwrap_err());
    assert!(error.contains("not trusted") && error.contains("valid for name"), "{error}");
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----\n").unwrap();
    let nonsense = HttpParams { certificate: Some(empty), ..known };
    let error = Http::new(nonsense, items(3), None).err().unwrap().to_string();
    assert!(error.contains("holds no certificate"), "{error}");
}
