//! Accepts connections. Opens and closes the shop.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::backend::Backend;
use crate::connection;
use crate::shop::{SharedShop, Shop};
use crate::{DemoError, ShopOptions};

/// Maximum number of connections that wait for `accept`: a load test opens hundreds at once.
const BACKLOG: i32 = 4096;

/// Maximum time that the shop waits for responses that are being written when it closes.
const CLOSING_TIME: Duration = Duration::from_secs(2);

/// The interval between the bookings of the running bot.
const BOT_PERIOD: Duration = Duration::from_secs(1);

/// The pause after a failed `accept`, which would otherwise fail again immediately. The usual cause is that there is no free
/// file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Binds a listening socket, so that the port is known before the shop starts.
///
/// # Errors
/// The address is in use, or does not belong to this machine.
pub fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Serves a shop on `listener` until `shutdown` completes. Must run inside a tokio runtime with time and I/O enabled;
/// the shop is designed for a `current_thread` runtime. `options.address` is ignored.
///
/// # Errors
/// The database or the backend cannot be opened. An error on a connection ends only that connection.
pub async fn serve(
    listener: TcpListener,
    options: ShopOptions,
    shutdown: impl Future<Output = ()>,
) -> Result<(), DemoError> {
    let local = listener.local_addr().map_err(|source| DemoError::Listener { address: None, source })?;
    let backend = options.backend.map(Backend::open).transpose().map_err(DemoError::Backend)?;
    let shop = Arc::new(SharedShop::new(Shop::open(&options, local)?, backend, options.idle_timeout));
    let (closing, closed) = watch::channel(false);
    let mut tasks = JoinSet::new();
    tasks.spawn(run_bot(shop.clone(), closed.clone()));

    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    tasks.spawn(connection::run(stream, shop.clone(), closed.clone()));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = tasks.join_next() => {}
        }
    }
    drop(listener);
    closing.send_replace(true);
    let _ = tokio::time::timeout(CLOSING_TIME, async { while tasks.join_next().await.is_some() {} }).await;
    tasks.shutdown().await;
    Ok(())
}

/// Like [`serve`], but with a new runtime on the calling thread.
///
/// # Errors
/// The runtime cannot be created, the socket cannot be registered, or the database cannot be opened.
pub fn run_blocking(
    listener: std::net::TcpListener,
    options: ShopOptions,
    shutdown: impl Future<Output = ()>,
) -> Result<(), DemoError> {
    let address = listener.local_addr().ok();
    let failed = |source| DemoError::Listener { address, source };
    listener.set_nonblocking(true).map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener).map_err(failed)?;
        serve(listener, options, shutdown).await
    })
}

async fn run_bot(shop: Arc<SharedShop>, mut closed: watch::Receiver<bool>) {
    let mut tick = tokio::time::interval(BOT_PERIOD);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = closed.changed() => return,
            _ = tick.tick() => shop.with(Shop::bot_step),
        }
    }
}
