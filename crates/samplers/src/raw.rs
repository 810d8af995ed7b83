//! Samplers of jmeter-plugins that send a text or bytes as they are: over UDP, or over TCP to a web server.

mod http;
mod udp;

use busyhour_http::Failure;
use busyhour_program::user::UserState;
use busyhour_record::DataType;
pub use http::RawHttp;
pub use udp::{Udp, UdpCoder};

/// How both begin: the request is shown, and all is well until something goes wrong.
fn begin(user: &mut UserState, request: &str) {
    let result = &mut user.result;
    result.request_data.push_str(request);
    result.data_type = DataType::Text;
    result.code.push_str("200");
}

/// Fills in the result after an exception. The response of Java's samplers is a stack trace, which does not exist here.
fn fail(user: &mut UserState, exception: &str) {
    let result = &mut user.result;
    result.success = false;
    result.code = "500".into();
    result.message = exception.to_owned();
    result.body = exception.as_bytes().to_vec();
    result.body_bytes = result.body.len() as u64;
}

/// An exception as Java prints it, of channels where those differ from sockets.
fn printed(failure: &Failure) -> String {
    match failure.class {
        "java.net.UnknownHostException" => "java.nio.channels.UnresolvedAddressException".into(),
        class => format!("{class}: {}", failure.message),
    }
}
