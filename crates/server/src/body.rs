//! Bodies of responses.

use std::convert::Infallible;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Bytes, Frame, SizeHint};
use tokio::sync::mpsc::Receiver;
use tokio::time::{Sleep, sleep};

/// Interval without events after which a comment is sent, which detects disconnected clients.
const QUIET_MAX: Duration = Duration::from_secs(10);

/// The body of a response.
#[derive(Debug)]
pub struct Body(Source);

#[derive(Debug)]
enum Source {
    Whole(Bytes),
    Events { events: Receiver<Arc<str>>, quiet: Option<Pin<Box<Sleep>>> },
}

impl Body {
    /// Whether the body is a stream of events.
    pub(crate) const fn is_events(&self) -> bool {
        matches!(self.0, Source::Events { .. })
    }

    /// Server-sent events, each a complete text, until the sender is dropped.
    #[must_use]
    pub const fn events(events: Receiver<Arc<str>>) -> Body {
        Body(Source::Events { events, quiet: None })
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Body {
        Body(Source::Whole(bytes.into()))
    }
}

/// An event as the owner of its bytes, so that one copy serves all clients.
struct Event(Arc<str>);

impl AsRef<[u8]> for Event {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let (events, quiet) = match &mut self.0 {
            Source::Whole(bytes) if bytes.is_empty() => return Poll::Ready(None),
            Source::Whole(bytes) => return Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Source::Events { events, quiet } => (events, quiet),
        };
        if let Poll::Ready(event) = events.poll_recv(context) {
            *quiet = None;
            return Poll::Ready(event.map(|event| Ok(Frame::data(Bytes::from_owner(Event(event))))));
        }
        let sleeping = quiet.get_or_insert_with(|| Box::pin(sleep(QUIET_MAX)));
        if sleeping.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        *quiet = None;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b": no event yet\n\n")))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Source::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Source::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Source::Events { .. } => SizeHint::default(),
        }
    }
}
