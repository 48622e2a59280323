//! Carrying bytes from one side to the other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::sleep;

/// Size of one read.
const CHUNK: usize = 64 << 10;

/// Reason for the end of a pump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pumped {
    /// The one who speaks has closed its side.
    SourceEnded,
    /// The one who is spoken to takes nothing any more.
    SinkClosed,
}

/// Progress of a pump, to detect when it is idle.
#[derive(Debug, Default)]
pub(super) struct Flow {
    passed: AtomicU64,
    writing: AtomicBool,
}

impl Flow {
    /// Ends when nothing came for a while. A slow receiver is waited for.
    pub(super) async fn quiet_for(&self, time: Duration) {
        loop {
            let before = self.passed.load(Ordering::Relaxed);
            sleep(time).await;
            if before == self.passed.load(Ordering::Relaxed) && !self.writing.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}

/// Observer of forwarded bytes.
pub(super) trait Observer {
    /// Observes the next bytes.
    fn observe(&mut self, bytes: &[u8]) -> impl Future<Output = ()> + Send;
}

/// Carries bytes as they come until a side ends. `listener` sees them before they are forwarded, so requests are
/// observed before their replies.
pub(super) async fn pump<R, W>(mut from: R, mut to: W, flow: &Flow, listener: &mut impl Observer) -> Pumped
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut chunk = vec![0; CHUNK];
    loop {
        let Ok(count @ 1..) = from.read(&mut chunk).await else { return Pumped::SourceEnded };
        let bytes = &chunk[..count];
        listener.observe(bytes).await;
        if !pass_on(&mut to, bytes, flow).await {
            return Pumped::SinkClosed;
        }
    }
}

/// Writes bytes; true if they were written.
pub(super) async fn pass_on<W: AsyncWrite + Unpin>(to: &mut W, bytes: &[u8], flow: &Flow) -> bool {
    flow.writing.store(true, Ordering::Relaxed);
    let written = async { to.write_all(bytes).await.is_ok() && to.flush().await.is_ok() }.await;
    flow.writing.store(false, Ordering::Relaxed);
    flow.passed.fetch_add(1, Ordering::Relaxed);
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Observer for Vec<u8> {
        async fn observe(&mut self, bytes: &[u8]) {
            self.extend_from_slice(bytes);
        }
    }

    /// Writes its name into a list on each observation or write.
    struct Witness<'l>(&'static str, &'l std::sync::Mutex<Vec<&'static str>>);

    impl Observer for Witness<'_> {
        async fn observe(&mut self, _: &[u8]) {
            self.1.lock().expect("a list").push(self.0);
        }
    }

    impl AsyncWrite for Witness<'_> {
        fn poll_write(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            bytes: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            self.1.lock().expect("a list").push(self.0);
            std::task::Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }

        fn poll_shutdown(
            self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.poll_flush(context)
        }
    }

    #[tokio::test]
    async fn what_is_passed_on_was_heard_before_it_can_be_answered() {
        let order = std::sync::Mutex::new(Vec::new());
        let pumped =
            pump(&b"{}\n"[..], Witness("taken", &order), &Flow::default(), &mut Witness("heard", &order)).await;
        assert_eq!(pumped, Pumped::SourceEnded);
        assert_eq!(order.into_inner().expect("a list"), ["heard", "taken"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_byte_arrives_and_is_heard_whatever_it_is_and_however_it_comes(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20),
            narrow in 1usize..50,
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let (arrived, heard) = runtime.block_on(async {
                let (mut speaker, from) = tokio::io::duplex(narrow);
                let (to, mut listener) = tokio::io::duplex(narrow);
                let said = chunks.clone();
                let speak = async move {
                    for chunk in said {
                        speaker.write_all(&chunk).await.expect("the pump reads");
                    }
                };
                let mut heard = Vec::new();
                let flow = Flow::default();
                let carry = async {
                    let pumped = pump(from, to, &flow, &mut heard).await;
                    assert_eq!(pumped, Pumped::SourceEnded);
                };
                let mut arrived = Vec::new();
                let ((), (), read) = tokio::join!(speak, carry, listener.read_to_end(&mut arrived));
                read.expect("the pump writes");
                (arrived, heard)
            });
            prop_assert_eq!(&arrived, &chunks.concat());
            prop_assert_eq!(&heard, &arrived);
        }
    }
}
