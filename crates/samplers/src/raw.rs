//! Samplers of jmeter-plugins that send text or bytes unchanged, over UDP or over TCP to a web server.

mod http;
mod udp;

use busyhour_http::Failure;
use busyhour_program::user::UserState;
use busyhour_sample::DataType;
pub use http::RawHttp;
pub use udp::{Udp, UdpCoder};

/// Fills in the beginning of the result: the request, and the code for success.
fn begin(user: &mut UserState, request: &str) {
    let result = &mut user.result;
    result.request_data.push_str(request);
    result.content.data_type = DataType::Text;
    result.outcome.code.push_str("200");
}

/// Fills in the result after an exception. In Java the response contains a stack trace; here it contains only the exception.
fn fail(user: &mut UserState, exception: &str) {
    let result = &mut user.result;
    result.outcome.success = false;
    result.outcome.code = "500".into();
    result.outcome.message = exception.to_owned();
    result.body = exception.as_bytes().to_vec();
    result.sizes.body_bytes = result.body.len() as u64;
}

/// Formats an exception as Java does. Where the classes of channels and sockets differ, those of channels are used.
fn printed(failure: &Failure) -> String {
    match failure.class {
        "java.net.UnknownHostException" => "java.nio.channels.UnresolvedAddressException".into(),
        class => format!("{class}: {}", failure.message),
    }
}
