//! How many connections are open at once, overall and from one peer. One beyond that is closed before a byte of it is read.

use std::collections::HashMap;
use std::io::{Error, IoSlice, Result};
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum_server::accept::Accept;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Connections at once. A person's programs keep a few dozen; each takes a file and some kilobytes.
pub(crate) const MOST: usize = 512;

/// Connections of one peer at once: on loopback, everybody is one peer.
pub(crate) const MOST_OF_A_PEER: usize = 256;

/// Who is connected.
#[derive(Default)]
struct Seats {
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    by_peer: HashMap<IpAddr, usize>,
}

/// A connection's place; given back when it is dropped.
pub(crate) struct Seat {
    seats: Arc<Seats>,
    peer: IpAddr,
}

impl Seats {
    fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Seat> {
        let peer = network(peer);
        let mut taken = self.taken();
        let of_peer = taken.by_peer.get(&peer).copied().unwrap_or(0);
        if taken.all >= MOST || of_peer >= MOST_OF_A_PEER {
            return None;
        }
        taken.all += 1;
        taken.by_peer.insert(peer, of_peer + 1);
        Some(Seat { seats: Arc::clone(self), peer })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken();
        taken.all -= 1;
        if let Some(of_peer) = taken.by_peer.get_mut(&self.peer) {
            *of_peer -= 1;
            if *of_peer == 0 {
                taken.by_peer.remove(&self.peer);
            }
        }
    }
}

/// A peer as it is counted: whoever has one IPv6 address has a whole network of them.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(ip) if !ip.is_loopback() => Ipv6Addr::from(u128::from(ip) >> 64 << 64).into(),
        ip => ip,
    }
}

/// Accepts connections as `inner` does, as long as there is a seat.
#[derive(Clone)]
pub(crate) struct Capped<A> {
    inner: A,
    seats: Arc<Seats>,
}

impl<A> Capped<A> {
    pub(crate) fn new(inner: A) -> Self {
        Self { inner, seats: Arc::default() }
    }
}

type Accepted<S, V> = Pin<Box<dyn Future<Output = Result<(Seated<S>, V)>> + Send>>;

impl<A, V> Accept<TcpStream, V> for Capped<A>
where
    A: Accept<TcpStream, V>,
    A::Future: Send + 'static,
{
    type Stream = Seated<A::Stream>;
    type Service = A::Service;
    type Future = Accepted<A::Stream, A::Service>;

    fn accept(&self, stream: TcpStream, service: V) -> Self::Future {
        let seat = stream.peer_addr().map(|peer| self.seats.take(peer.ip()));
        match seat {
            Ok(Some(seat)) => {
                let accepted = self.inner.accept(stream, service);
                Box::pin(async move {
                    let (stream, service) = accepted.await?;
                    Ok((Seated { stream, _seat: seat }, service))
                })
            }
            Ok(None) => {
                tracing::debug!("a connection was closed: too many are open");
                Box::pin(async { Err(Error::other("too many connections")) })
            }
            Err(error) => Box::pin(async { Err(error) }),
        }
    }
}

/// A connection with its seat.
pub(crate) struct Seated<S> {
    stream: S,
    _seat: Seat,
}

impl<S: AsyncRead + Unpin> AsyncRead for Seated<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Seated<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_counted_by_peer_and_overall_and_come_back() {
        let seats = Arc::<Seats>::default();
        let peer = |n: u8| IpAddr::from([10, 0, 0, n]);
        let fill = |n| std::iter::from_fn(|| seats.take(peer(n))).collect::<Vec<_>>();
        let (first, second) = (fill(1), fill(2));
        assert_eq!((first.len(), second.len()), (MOST_OF_A_PEER, MOST_OF_A_PEER));
        assert!(seats.take(peer(3)).is_none(), "all seats are taken");
        drop(first);
        assert!(seats.take(peer(2)).is_none() && seats.take(peer(3)).is_some());
        drop(second);
        let taken = seats.taken();
        assert_eq!((taken.all, taken.by_peer.len()), (0, 0));
    }

    #[test]
    fn the_addresses_of_one_network_are_one_peer() {
        let same = |one: &str, other: &str| network(one.parse().unwrap()) == network(other.parse().unwrap());
        assert!(same("2001:db8::1", "2001:db8::ffff:1") && !same("2001:db8:0:1::1", "2001:db8:0:2::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1") && !same("10.0.0.1", "10.0.0.2") && !same("::1", "::2"));
    }
}
