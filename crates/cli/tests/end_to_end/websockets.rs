//! Tests the end of WebSockets.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use busyhour_standin::StandIn;

use crate::plans::{element, get_with, named_group, plan, text};
use crate::program::Room;
use crate::servers::{Gate, Server, answer};

const OPEN: &str = "eu.luminis.jmeter.wssampler.OpenWebSocketSampler";
const WRITE: &str = "eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler";

/// A TCP relay to a server; opens `over` when the client has closed its connection.
fn start_relay(port: u16, over: Gate) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let own = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let (mut back_from, mut back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        std::thread::spawn(move || io::copy(&mut back_from, &mut back_to));
        io::copy(&mut client, &mut server).unwrap();
        over.open();
    });
    own
}

#[test]
fn a_websocket_is_closed_with_its_user_without_a_close_frame() {
    let peer = StandIn::start().unwrap();
    let over = Gate::default();
    let way = start_relay(peer.port(), over.clone());
    // The response to another user's request is sent only after the socket is closed, so that the run cannot end before.
    let waiting = Server::start(move |stream, _| {
        over.wait();
        answer(stream)
    });
    let address = [text("server", "127.0.0.1"), text("port", &way.to_string()), text("path", "/ws")].concat();
    let open = element(
        OPEN,
        "open",
        &(address + &text("connectTimeout", "5000") + &text("readTimeout", "5000")),
        "",
    );
    let write = [text("payloadType", "Text"), text("requestData", "nothing")].concat()
        + "<boolProp name=\"createNewConnection\">false</boolProp>\n";
    let talks = open + &element(WRITE, "write", &write, "");
    let room = Room::new();
    room.file(
        "plan.jmx",
        plan(
            &(named_group("talks", "1", "1", &talks)
                + &named_group("waits", "1", "1", &get_with("wait", "/", "", ""))),
        ),
    );
    room.run_line(&format!("run plan.jmx -l out.jtl -JPORT={}", waiting.port())).expect(0);
    let lines: Vec<_> = peer
        .take_requests()
        .iter()
        .map(|received| String::from_utf8_lossy(&received.request.line).into_owned())
        .collect();
    assert_eq!(lines, ["GET /ws HTTP/1.1", "frame: text"]);
}
