//! Waiting for several things at once.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Something that is waited for.
pub(super) type Waiting<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

/// Awaits all of them concurrently; the outputs are in their order.
pub(super) async fn all<T>(mut futures: Vec<Waiting<'_, T>>) -> Vec<T> {
    let mut given: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, given) in futures.iter_mut().zip(&mut given) {
            if given.is_none()
                && let Poll::Ready(value) = future.as_mut().poll(context)
            {
                *given = Some(value);
            }
        }
        if given.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    given.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn one_may_wait_for_the_other() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let given = runtime.block_on(async {
            let (tell, told) = oneshot::channel();
            let first: Waiting<'_, u8> = Box::pin(async move { told.await.expect("the second sends") });
            let second: Waiting<'_, u8> = Box::pin(async move {
                tell.send(1).expect("the first listens");
                2
            });
            all(vec![first, second]).await
        });
        assert_eq!(given, [1, 2]);
    }
}
