//! Certificates: those of a user's own authority, and of one that nobody named.

use super::*;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

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
    let config = config.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key).unwrap();
    let server = Server::start_tls(config, |request| right(&request.body));
    (format!("https://localhost:{}/rerank", server.port()), authority.pem())
}

#[test]
fn an_authority_of_ones_own_is_named_and_nobody_elses_is_trusted() {
    let (url, authority) = secure_server();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, authority).unwrap();
    let known = HttpParams { url, patience_seconds: 5.0, certificate: Some(file), ..HttpParams::default() };
    let oracle = http(known.clone(), 20);
    assert_eq!(scored(&oracle, &some_pairs()).unwrap(), similarities(&some_pairs()));

    let unknown = HttpParams { certificate: None, ..known.clone() };
    let start = std::time::Instant::now();
    let error = failure(unknown, 3, &[(0, 1)]);
    assert!(error.contains("not trusted") && error.contains("oracle.certificate"), "{error}");
    assert!(error.contains("UnknownIssuer"), "the cause is named: {error}");
    assert!(start.elapsed().as_secs() < 5, "a certificate does not get better by waiting");
    // the right authority, and a name that it did not sign
    let other_name = HttpParams { url: known.url.replace("localhost", "127.0.0.1"), ..known.clone() };
    let error = failure(other_name, 3, &[(0, 1)]);
    assert!(error.contains("not trusted") && error.contains("valid for name"), "{error}");
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----\n").unwrap();
    let nonsense = HttpParams { certificate: Some(empty), ..known };
    let error = refusal(nonsense);
    assert!(error.contains("holds no certificate"), "{error}");
}
