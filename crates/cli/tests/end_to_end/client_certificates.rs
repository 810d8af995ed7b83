//! Tests client certificates from Java's key stores.

use busyhour_standin::StandIn;

use crate::plans::{get, group, plan, text};
use crate::program::{Room, rows};

const STORE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../http/tests/keystores/four.p12");

/// A directory with a plan that sends a request over TLS.
fn room() -> Room {
    let room = Room::new();
    let secure = plan(&group("1", "1", &get("a", "/certificate")));
    let secure =
        secure.replace(&text("HTTPSampler.protocol", "http"), &text("HTTPSampler.protocol", "https"));
    room.file("plan.jmx", secure);
    room
}

#[test]
fn requests_with_a_client_certificate_succeed_and_others_fail() {
    let server = StandIn::start_requiring_client_certificates().unwrap();
    let room = room();
    let line = format!("run plan.jmx -JPORT={} -f -l out.jtl", server.tls_port());
    room.run_line(&line).expect(0);
    let refused = &rows(&room.read("out.jtl"))[0];
    assert_eq!(refused["success"], "false", "{refused:?}");
    assert!(server.take_requests().is_empty(), "the server received no request");
    room.run_line(&format!(
        "{line} -Djavax.net.ssl.keyStore={STORE} -Djavax.net.ssl.keyStorePassword=secret"
    ))
    .expect(0);
    let admitted = &rows(&room.read("out.jtl"))[0];
    assert_eq!(admitted["success"], "true", "{admitted:?}");
    assert_eq!(server.take_requests().len(), 1);
}

#[test]
fn an_unusable_key_store_is_refused_before_the_run() {
    let room = room();
    for (store, why) in [
        (format!("{STORE} -Djavax.net.ssl.keyStorePassword=other"), "the password is wrong"),
        ("nowhere.p12".to_owned(), "nowhere.p12"),
        ("plan.jmx".to_owned(), "neither a JKS nor a PKCS#12"),
    ] {
        let line = format!("run plan.jmx -JPORT=1 -Djavax.net.ssl.keyStore={store}");
        room.run_line(&line).expect(3).reports(&["key store", why]);
    }
    assert!(!room.has_run_dir(), "nothing ran");
}
